//go:build browser

package browsertest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/64ed045f/weir/internal/check"
)

// follow clicks on the first element that the XPath finds.
func (b *tab) follow(path string) {
	b.t.Helper()
	check.Equal(b.t, "status of "+path, b.loads(chromedp.Click(chromedp.Search(path))), http.StatusOK)
}

// The reader sees the label of the task that is stuck, and reads on from there.
func TestTheStackOfAStuckTaskAndItsGroupsAreAFewClicksFromTheFirstPage(t *testing.T) {
	for name, way := range map[string][]string{
		"by the list of long tasks": {"//tr[td='update stock']//a[starts-with(.,'of worker')]"},
		"by the pool":               {"//th//a[.='stock']", "//tr[td='update stock']//a[starts-with(.,'of worker')]"},
		"by the groups":             {"//nav//a[.='Groups']", "//li[b='update stock']//a[starts-with(.,'task on worker')]"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newTab(t)
			b.see(looks[2])
			began := time.Now()
			b.load(pages)
			for _, path := range way {
				b.follow(path)
			}
			stack := js[string](b, "document.querySelector('pre').innerText")
			for _, want := range []string{"main.(*shop).updateStock", "sync.(*Mutex).Lock", "/src/shop/main.go"} {
				if !strings.Contains(stack, want) {
					t.Errorf("the stack does not show %s: %s", want, stack)
				}
			}
			toStack := time.Since(began)
			group := b.followGroup()
			t.Logf("%d clicks to the stack in %v, one more to the groups in %v", len(way), toStack, time.Since(began))
			check.Equal(t, "the group and those around it", group, "update stock < reserve items < checkout")
		})
	}
}

// followGroup follows the link to the group of a task, and returns the labels of the group and of those that it was made in.
func (b *tab) followGroup() string {
	b.t.Helper()
	link := "//a[starts-with(.,'group ')] | //td/a[number(.)=number(.)]" // of a stack; in a table
	id := strings.TrimPrefix(js[string](b, "document.evaluate("+strconv.Quote(link)+", document).iterateNext().innerText"), "group ")
	b.follow(link)
	return js[string](b, `(() => {
		const at = [...document.querySelectorAll('li > :first-child')].find(e => e.innerText === 'group `+id+`')
		const box = at?.getBoundingClientRect()
		if (!box || box.top < 0 || box.bottom > innerHeight) return 'not in view'
		const labels = []
		for (let li = at.closest('li'); li; li = li.parentElement.closest('li')) labels.push(...[...li.querySelectorAll(':scope > b')].map(b => b.innerText))
		return labels.join(' < ')
	})()`)
}

func TestAPageOfAnotherOriginChangesNothing(t *testing.T) {
	address := controlled + fmt.Sprintf("?pool=%d", pool(t, "orders").ID)
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<!doctype html><title>evil</title>
<form method=post action=%q><input name=limit value=99><button name=do value=resize>Win</button></form>
<form method=post action=%q><button name=do value=pause>Prize</button></form>
<iframe src=%q></iframe>`, address, address, address)
	}))
	t.Cleanup(evil.Close)
	before := orders(t)
	for _, other := range []string{evil.URL, strings.Replace(evil.URL, "127.0.0.1", "localhost", 1)} {
		for _, button := range []string{"resize", "pause"} {
			b := newTab(t)
			b.load(other)
			check.Equal(t, "shown in a frame", js[bool](b, "frames[0].length >= 0 && document.querySelector('iframe').contentDocument !== null"), false)
			if !strings.Contains(strings.Join(b.complained(), "\n"), "frame-ancestors") {
				t.Error("the page may be framed")
			}
			check.Equal(t, "status of "+button, b.loads(chromedp.Click(chromedp.CSS("button[value="+button+"]"))), http.StatusForbidden)
		}
	}
	after := orders(t)
	check.Equal(t, "limit", after.Limit, before.Limit)
	check.Equal(t, "paused", after.Paused, before.Paused)
}
