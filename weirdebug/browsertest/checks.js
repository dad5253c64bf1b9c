// What the tests find out in the page. Each function returns the list of what is wrong.
({
  // describe names an element to the reader of a test's output.
  describe(e) {
    const text = (e.textContent || '').trim().slice(0, 40)
    return `<${e.tagName.toLowerCase()}${e.className && e.className.baseVal === undefined ? '.' + e.className : ''}> ${JSON.stringify(text)}`
  },

  structure() {
    const wrong = []
    const all = selector => [...document.querySelectorAll(selector)]
    const must = (holds, what) => { if (!holds) wrong.push(what) }
    must(document.documentElement.lang, 'the page has no language')
    must(document.title, 'the page has no title')
    must(document.compatMode === 'CSS1Compat', 'the page is in quirks mode')
    for (const one of ['h1', 'main', 'meta[name=viewport]']) must(all(one).length === 1, `there are ${all(one).length} of ${one}`)
    let level = 1
    for (const h of all('h1, h2, h3, h4')) {
      must(+h.tagName[1] <= level + 1, `${this.describe(h)} leaves out a level`)
      level = +h.tagName[1]
    }
    for (const nav of all('nav')) must(nav.getAttribute('aria-label'), 'a nav has no name')
    for (const table of all('table')) must(table.querySelector('thead th'), 'a table has no th')
    for (const th of all('th')) must(['col', 'row'].includes(th.scope), `${this.describe(th)} has no scope`)
    for (const input of all('input:not([type=hidden])')) {
      must([...input.labels].some(l => l.textContent.trim()), `input ${input.name} has no label`)
    }
    for (const svg of all('svg')) must(svg.getAttribute('role') === 'img' && svg.getAttribute('aria-label'), 'an svg has no role or name')
    for (const e of all('a, button')) must(e.textContent.trim(), `${this.describe(e)} has no text`)
    for (const a of all('a')) must(a.href, `${this.describe(a)} leads nowhere`)
    for (const ul of all('ul')) must([...ul.children].every(c => c.tagName === 'LI'), 'a ul has other children than li')
    const ids = all('[id]').map(e => e.id)
    must(new Set(ids).size === ids.length, 'an id is not unique')
    return wrong
  },

  // injected lists what no page of ours has: it would be made of a text of the program.
  injected() {
    const wrong = [...document.querySelectorAll('script, img, iframe, object, embed, base')].map(e => this.describe(e))
    for (const e of document.querySelectorAll('*')) {
      for (const a of e.attributes) if (a.name.startsWith('on') || /^\s*javascript:/i.test(a.value)) wrong.push(`${a.name} of ${this.describe(e)}`)
    }
    return wrong
  },

  // texts lists the visible texts, each with its element.
  texts() {
    const list = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      const e = walker.currentNode.parentElement
      if (walker.currentNode.data.trim() && e.checkVisibility() && !e.closest('svg')) list.push([walker.currentNode, e])
    }
    for (const e of document.querySelectorAll('input:not([type=hidden])')) list.push([null, e])
    return list
  },

  // rgba takes a colour apart.
  rgba(text) {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true})
    canvas.fillStyle = text
    canvas.fillRect(0, 0, 1, 1)
    return [...canvas.getImageData(0, 0, 1, 1).data]
  },

  // ratio is the contrast of a colour on what is behind e, as WCAG defines it.
  ratio(color, e) {
    let behind = null
    for (; e && !behind; e = e.parentElement) {
      const c = this.rgba(getComputedStyle(e).backgroundColor)
      if (c[3] > 0) behind = c
    }
    behind ||= [255, 255, 255, 255]
    const luminance = c => {
      const [r, g, b] = c.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
      return 0.2126 * r + 0.7152 * g + 0.0722 * b
    }
    const [low, high] = [luminance(this.rgba(color)), luminance(behind)].sort((a, b) => a - b)
    return (high + 0.05) / (low + 0.05)
  },

  // contrast lists texts that are hard to read, and lines and bars that are hard to see.
  contrast() {
    const least = new Map()
    const see = (color, e, min, what) => {
      const ratio = this.ratio(color, e)
      if (ratio < min) least.set(`${what} has a contrast of ${ratio.toFixed(2)}, which must be ${min}`, true)
    }
    for (const [, e] of this.texts()) see(getComputedStyle(e).color, e, 4.5, this.describe(e))
    for (const e of document.querySelectorAll('rect')) see(getComputedStyle(e).fill, e, 3, 'a bar')
    for (const e of document.querySelectorAll('polyline')) see(getComputedStyle(e).stroke, e, 3, 'a line')
    return [...least.keys()]
  },

  // overflow lists what makes the page scroll sideways. Where there is room, no table must do so in its box either.
  overflow() {
    const root = document.scrollingElement
    if (root.scrollWidth <= root.clientWidth) {
      const boxes = innerWidth < 1400 ? [] : [...document.querySelectorAll('.wide')].filter(box => box.scrollWidth > box.clientWidth)
      return boxes.map(box => `a table is ${box.scrollWidth} wide, and ${box.clientWidth} are there`)
    }
    const wrong = [`the page is ${root.scrollWidth} wide, and ${root.clientWidth} are there`]
    for (const e of document.querySelectorAll('body *')) {
      const scrolls = p => p && (['auto', 'scroll'].includes(getComputedStyle(p).overflowX) || scrolls(p.parentElement))
      if (e.getBoundingClientRect().right > root.clientWidth && !scrolls(e.parentElement)) wrong.push(this.describe(e))
    }
    return wrong.slice(0, 5)
  },

  // reversed lists texts of ours that run from right to left.
  reversed() {
    const wrong = []
    for (const [text, e] of this.texts()) {
      if (!text || e.closest('bdi')) continue
      const at = i => {
        const range = document.createRange()
        range.setStart(text, i)
        range.setEnd(text, i + 1)
        return range.getBoundingClientRect()
      }
      const first = text.data.search(/\S/)
      const a = at(first), b = at(text.data.trimEnd().length - 1)
      if (a.top === b.top && a.left > b.left) wrong.push(this.describe(e))
    }
    return wrong
  },

  // targets lists what the Tab key must reach, in the order of the document.
  targets() {
    return [...document.querySelectorAll('a[href], button, input:not([type=hidden]), [tabindex]')]
  },

  // focused returns the number among the targets of what has the focus, and whether that is seen: the outline is drawn around it.
  focused() {
    const e = document.activeElement
    const style = getComputedStyle(e)
    const box = e.getBoundingClientRect()
    return {
      index: this.targets().indexOf(e),
      what: this.describe(e),
      outlined: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0 && this.ratio(style.outlineColor, e.parentElement) >= 3,
      inView: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
    }
  },
})
