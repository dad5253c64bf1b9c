//go:build browser

package browsertest_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/64ed045f/weir/internal/check"
)

// focus is what checks.js says of the element that has it.
type focus struct {
	Index    int    `json:"index"`
	What     string `json:"what"`
	Outlined bool   `json:"outlined"`
	InView   bool   `json:"inView"`
}

// tabKey presses Tab, and returns what then has the focus.
func (b *tab) tabKey() focus {
	b.t.Helper()
	b.do(chromedp.KeyEvent(kb.Tab))
	return js[focus](b, checks+".focused()")
}

// tabTo presses Tab until the element has the focus.
func (b *tab) tabTo(selector string) {
	b.t.Helper()
	for range js[int](b, checks+".targets().length") {
		b.tabKey()
		if js[bool](b, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			return
		}
	}
	b.t.Fatalf("Tab does not reach %s", selector)
}

func TestTheTabKeyReachesEachLinkAndFieldInOrderAndShowsWhereItIs(t *testing.T) {
	b := newTab(t)
	for _, l := range []look{looks[0], looks[3]} {
		b.see(l)
		for name, address := range shopPages(t) {
			t.Run(name+"/"+l.name, func(t *testing.T) {
				b.load(address)
				for i := range js[int](b, checks+".targets().length") {
					f := b.tabKey()
					if f.Index != i || !f.Outlined || !f.InView {
						t.Errorf("Tab %d leads to number %d, %s; outlined: %v, in view: %v", i, f.Index, f.What, f.Outlined, f.InView)
						return
					}
				}
			})
		}
	}
}

func TestAPoolIsControlledByKeyboardWithoutScripts(t *testing.T) {
	b := newTab(t)
	b.withoutScripts()
	b.load(controlled + fmt.Sprintf("?pool=%d", pool(t, "orders").ID))
	const field = "input[name=limit]"
	b.tabTo(field)
	b.do(chromedp.KeyEvent("17")) // in place of what Tab has selected
	check.Equal(t, "status after Enter", b.loads(chromedp.KeyEvent(kb.Enter)), 200)
	check.Equal(t, "limit", orders(t).Limit, 17)
	check.Equal(t, "limit on the page", js[string](b, `document.querySelector("`+field+`").value`), "17")

	b.tabTo("button[value=pause]")
	check.Equal(t, "status after Pause", b.loads(chromedp.KeyEvent(kb.Enter)), 200)
	check.Equal(t, "paused", orders(t).Paused, true)
	b.tabTo("button[value=resume]")
	check.Equal(t, "status after Resume", b.loads(chromedp.KeyEvent(" ")), 200)
	check.Equal(t, "paused", orders(t).Paused, false)

	b.tabTo(field)
	b.do(chromedp.KeyEvent("0"), chromedp.KeyEvent(kb.Enter))
	check.Equal(t, "a limit of 0 is valid", js[bool](b, `document.querySelector("`+field+`").validity.valid`), false)
	check.Equal(t, "limit", orders(t).Limit, 17)
	for _, wrong := range b.complained() {
		t.Error(wrong)
	}
}
