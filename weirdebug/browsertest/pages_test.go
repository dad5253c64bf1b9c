//go:build browser

package browsertest_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirdebug"
)

//go:embed checks.js
var checks string

// snapshot asks a handler for JSON.
func snapshot(address string) (s weirdebug.Snapshot, err error) {
	response, err := http.Get(address + "&format=json") //nolint:gosec // our own server
	if err != nil {
		return s, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return s, fmt.Errorf("%s is answered with %s", address, response.Status)
	}
	return s, json.NewDecoder(response.Body).Decode(&s)
}

func mustSnapshot(t *testing.T, address string) weirdebug.Snapshot {
	t.Helper()
	s, err := snapshot(address)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pool returns the shop's pool of that name; "" for the one without.
func pool(t *testing.T, name string) weirdebug.Pool {
	t.Helper()
	all := mustSnapshot(t, pages+"?").Pools
	i := slices.IndexFunc(all, func(p weirdebug.Pool) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("the shop has no pool %q", name)
	}
	return all[i]
}

// orders returns the state of the pool that tests try to change.
func orders(t *testing.T) weirdebug.Stats {
	t.Helper()
	return pool(t, "orders").Stats
}

// shopPages returns the address of each kind of page. Their time stands still; what counts as slow is little, so that there are lints.
func shopPages(t *testing.T) map[string]string {
	t.Helper()
	address := func(query string, args ...any) string {
		return pages + fmt.Sprintf(query, args...) + "&refresh=0&slow=100ms"
	}
	stock := pool(t, "stock").ID
	stuck := mustSnapshot(t, pages+fmt.Sprintf("?pool=%d", stock)).Pools[0].Running[0]
	return map[string]string{
		"pools":   address("?find="),
		"pool":    address("?pool=%d", pool(t, "").ID),
		"lints":   address("?pool=%d", pool(t, "mail").ID),
		"control": strings.Replace(address("?pool=%d", stock), pages, controlled, 1),
		"groups":  address("?groups"),
		"stack":   address("?pool=%d&worker=%d", stock, stuck.Worker),
	}
}

// inspect loads a page, and reports all that is wrong with it.
func (b *tab) inspect(t *testing.T, address string) {
	t.Helper()
	b.load(address)
	for _, name := range []string{"structure", "injected", "contrast", "overflow", "reversed"} {
		for _, wrong := range js[[]string](b, checks+"."+name+"()") {
			t.Errorf("%s: %s", name, wrong)
		}
	}
	for _, wrong := range b.complained() {
		t.Error(wrong)
	}
}

func TestEachPageIsInOrderWideAndNarrowLightAndDark(t *testing.T) {
	b := newTab(t)
	for _, l := range looks {
		b.see(l)
		for name, address := range shopPages(t) {
			t.Run(name+"/"+l.name, func(t *testing.T) {
				b.inspect(t, address)
				b.picture(name + "-" + l.name)
			})
		}
	}
}

func TestTheBrowserShowsJSONWithoutComplaint(t *testing.T) {
	b := newTab(t)
	b.load(pages + "?format=json")
	for _, wrong := range b.complained() {
		t.Error(wrong)
	}
}

var hostile = []string{
	"<script>alert(1)</script>", `"><img src=x onerror=alert(2)>`, "'--><svg/onload=alert(3)>", "javascript:alert(4)", "{{.}}</title><h1>",
	"\u202eright to left\u202e", "\u2066\u2067isolated", "\xff\xfe\x80", strings.Repeat("long", 2500), strings.Repeat("many words ", 1000), "\x00\x1b[31m\n\r",
}

func TestTextOfTheProgramStaysText(t *testing.T) {
	v := check.NewValve()
	var pools []*weir.Pool
	var groups []*weir.Group
	for _, text := range hostile {
		text = "hostile " + text
		p := weir.New(1, weir.Name(text))
		outer := p.Group(weir.Label(context.Background(), text))
		outer.Go(func(ctx context.Context) error {
			inner := weir.NewGroup(weir.Label(ctx, text), 2, weir.Name(text))
			inner.Go(v.Member)
			return inner.Wait()
		})
		pools, groups = append(pools, p), append(groups, outer)
	}
	t.Cleanup(func() {
		v.Open()
		for i := range groups {
			check.OK(t, groups[i].Wait())
			pools[i].Close()
		}
	})
	check.Until(t, "the tasks run", func() bool { return v.Running() == len(hostile) })
	b := newTab(t)
	for _, l := range []look{looks[0], looks[3]} {
		b.see(l)
		for name, query := range map[string]string{"pools": "?find=hostile", "groups": "?groups&find=hostile"} {
			t.Run(name+"/"+l.name, func(t *testing.T) {
				b.inspect(t, local+query+"&refresh=0&longer=0s")
				text := js[string](b, "document.body.innerText")
				for _, want := range append(hostile[:5:5], "\ufffd", "…") {
					if !strings.Contains(text, want) {
						t.Errorf("the page does not show %q", want)
					}
				}
				b.picture("hostile-" + name + "-" + l.name)
			})
		}
	}
	for i, pool := range mustSnapshot(t, local+"?find=hostile").Pools {
		t.Run(fmt.Sprintf("pool %d", i), func(t *testing.T) {
			b.inspect(t, local+fmt.Sprintf("?pool=%d&refresh=0", pool.ID))
			b.inspect(t, local+fmt.Sprintf("?pool=%d&worker=1&refresh=0", pool.ID))
		})
	}
	b.inspect(t, local+"?refresh=0&find=%22%3E%3Cscript%3Ealert(5)%3C/script%3E")
}

func TestPagesNeedNoScript(t *testing.T) {
	b := newTab(t)
	b.withoutScripts()
	for name, address := range shopPages(t) {
		b.load(address)
		if js[string](b, "document.querySelector('h1').innerText") == "" {
			t.Errorf("page %s shows nothing", name)
		}
	}
}

func TestAPageIsLoadedAgainByItselfAlsoTheOneThatTheLinkOfAGroupLeadsTo(t *testing.T) {
	b := newTab(t)
	b.withoutScripts()
	b.load(shopPages(t)["stack"])
	ofGroup := js[string](b, `(() => {
		const url = new URL(document.evaluate("//main//a[starts-with(.,'group ')]", document).iterateNext())
		url.searchParams.set('refresh', '1')
		return url.href
	})()`)
	for _, address := range []string{pages + "?refresh=1", ofGroup} {
		b.load(address)
		const when = "document.querySelector('nav span').innerText"
		before := js[string](b, when)
		for range 2 {
			b.awaitLoad()
			now := js[string](b, when)
			if now == before {
				t.Errorf("the page is loaded again, and still shows %s", now)
			}
			before = now
		}
	}
}

// awaitLoad waits until the page is loaded again by itself.
func (b *tab) awaitLoad() {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.WaitEvent(page.LoadEventFired, nil, chromedp.Steps())); err != nil {
		b.t.Fatalf("the page is not loaded again: %v", err)
	}
}
