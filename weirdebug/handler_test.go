package weirdebug_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirdebug"
)

func TestMain(m *testing.M) { check.Main(m, nil, nil) }

// get asks h for the query.
func get(h http.Handler, query string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/debug/weir/"+query, nil))
	return w
}

// snapshot asks h for the query as JSON.
func snapshot(t *testing.T, h http.Handler, query url.Values) weirdebug.Snapshot {
	t.Helper()
	query.Set("format", "json")
	w := get(h, "?"+query.Encode())
	check.Equal(t, "status", w.Code, http.StatusOK)
	check.Equal(t, "type", w.Header().Get("Content-Type"), "application/json")
	var s weirdebug.Snapshot
	check.OK(t, json.Unmarshal(w.Body.Bytes(), &s))
	return s
}

// says checks that the page of the query has the texts.
func says(t *testing.T, h http.Handler, query string, texts ...string) {
	t.Helper()
	body := get(h, query).Body.String()
	for _, text := range texts {
		if !strings.Contains(body, text) {
			t.Errorf("the page %s does not say %q", query, text)
		}
	}
}

// heldInTask makes a task wait for n groups that are made in it, until release is called: goroutines goroutines do at once, the task's own
// included.
func heldInTask(t *testing.T, p *weir.Pool, n, goroutines int) (release func()) {
	v := check.NewValve()
	g := p.Group(t.Context())
	g.Go(func(ctx context.Context) error {
		made := make([]*weir.Group, n)
		for i := range made {
			made[i] = weir.NewGroup(ctx, 2)
			made[i].Go(v.Member)
		}
		var others sync.WaitGroup
		for _, inner := range made[1:goroutines] {
			others.Go(func() { check.OK(t, inner.Wait()) })
		}
		for _, inner := range append(made[:1:1], made[goroutines:]...) {
			check.OK(t, inner.Wait())
		}
		others.Wait()
		return nil
	})
	synctest.Wait()
	return func() {
		v.Open()
		check.OK(t, g.Wait())
		p.Close()
	}
}

// named returns the pool of that name.
func named(t *testing.T, h http.Handler, name string) weirdebug.Pool {
	t.Helper()
	s := snapshot(t, h, url.Values{"find": {name}})
	if len(s.Pools) != 1 {
		t.Fatalf("%d pools are found by %q", len(s.Pools), name)
	}
	return s.Pools[0]
}

// held makes a pool whose n workers wait until release is called.
func held(t *testing.T, name string, n, tasks int) (p *weir.Pool, release func()) {
	p = weir.New(n, weir.Name(name))
	v := check.NewValve()
	for range tasks {
		check.OK(t, p.Submit(v.Hold))
	}
	synctest.Wait()
	return p, func() {
		v.Open()
		p.Close()
	}
}

func stuckHere(v *check.Valve) error {
	v.Hold()
	return nil
}

func TestTheFirstPageShowsThePoolsAndTheTasksThatHaveRunForLongest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := weirdebug.Handler()
		_, release := held(t, "first & <b>page</b>", 2, 3)
		defer release()
		get(h, "")
		time.Sleep(time.Minute)
		w := get(h, "?find=first")
		check.Equal(t, "status", w.Code, http.StatusOK)
		body := w.Body.String()
		for _, want := range []string{
			"first &amp; &lt;b&gt;page&lt;/b&gt;</bdi>", "1 pool</caption>", "slow: 2 tasks have run for longer than 10s, while 1 wait to start",
			"Tasks that run now", `http-equiv="refresh" content="5"`,
		} {
			if !strings.Contains(body, want) {
				t.Errorf("the page does not show %q", want)
			}
		}
		if strings.Contains(body, "<b>page") || strings.Contains(body, "<script") {
			t.Error("a name is not escaped")
		}
		check.Equal(t, "tasks", len(snapshot(t, h, url.Values{"find": {"first"}}).Longest), 2)
		g := weir.NewGroup(weir.Label(t.Context(), "a label to find"), 1)
		v := check.NewValve()
		g.Go(func(context.Context) error { return stuckHere(v) })
		time.Sleep(time.Minute)
		s := snapshot(t, h, url.Values{"find": {"LABEL to"}})
		check.Equal(t, "tasks found by label", len(s.Longest), 1)
		if at := s.Longest[0].At; !check.Race && !strings.Contains(at, "weirdebug_test.stuckHere (handler_test.go:") {
			t.Errorf("the task is at %q", at)
		}
		if body := get(h, "?find=label+to").Body.String(); !check.Race && !strings.Contains(body, `<b class="lint"><bdi>`) {
			t.Error("a slow task that waits for nothing of the library is not marked")
		}
		v.Open()
		check.OK(t, g.Wait())
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
		} {
			check.Equal(t, name, w.Header().Get(name), want)
		}
	})
}

func TestAPoolsPageShowsItsTasksAndTheirStacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := weirdebug.Handler()
		p := weir.New(2, weir.Name("stacks"), weir.Measure(1))
		v := check.NewValve()
		g := p.Group(weir.Label(t.Context(), "stuck"))
		g.Go(func(context.Context) error { return stuckHere(v) })
		synctest.Wait()
		time.Sleep(time.Hour)
		pool := named(t, h, "stacks")
		query := fmt.Sprintf("?pool=%d", pool.ID)
		if body := get(h, query).Body.String(); !strings.Contains(body, "stuck") || !strings.Contains(body, "1h0m0s") {
			t.Errorf("the page does not show the task: %s", body)
		}
		s := snapshot(t, h, url.Values{"pool": {fmt.Sprint(pool.ID)}})
		check.Equal(t, "tasks", len(s.Pools[0].Running), 1)
		check.Equal(t, "groups", len(s.Groups), 1)
		r := s.Pools[0].Running[0]
		check.Equal(t, "group", r.Group, s.Groups[0].ID)
		check.Equal(t, "label", r.Label, "stuck")
		check.Equal(t, "waits measured", s.Pools[0].Wait.Count, 1)
		check.Equal(t, "in buckets", s.Pools[0].Wait.Buckets[0].Count, 1)
		query += fmt.Sprintf("&worker=%d", r.Worker)
		if body := get(h, query).Body.String(); !check.Race && !strings.Contains(body, "weirdebug_test.stuckHere") {
			t.Errorf("the page does not show the stack: %s", body)
		}
		v.Open()
		check.OK(t, g.Wait())
		check.Equal(t, "status after the end", get(h, query).Code, http.StatusNotFound)
		p.Close()
		check.Equal(t, "status after Close", get(h, query).Code, http.StatusNotFound)
	})
}

func TestGroupsAreATreeWithTheStacksOfTheirTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := weirdebug.Handler()
		v := check.NewValve()
		outer := weir.NewGroup(weir.Label(t.Context(), "outer of tree"), 2)
		outer.Go(func(ctx context.Context) error {
			inner := weir.NewGroup(weir.Label(ctx, "inner of tree"), 2)
			inner.Go(func(context.Context) error { return stuckHere(v) })
			return inner.Wait()
		})
		synctest.Wait()
		time.Sleep(time.Minute)
		s := snapshot(t, h, url.Values{"groups": {""}, "find": {"inner of tree"}})
		check.Equal(t, "groups, with the parent", len(s.Groups), 2)
		check.Equal(t, "parent", s.Groups[1].Parent, s.Groups[0].ID)
		body := get(h, "?groups&find=inner").Body.String()
		first, then, ok := strings.Cut(body, "outer of tree")
		if !ok || !strings.Contains(then, "inner of tree") || strings.Contains(first, "inner of tree") {
			t.Errorf("the tree is not outer, inner: %s", body)
		}
		inner := s.Groups[1]
		query := fmt.Sprintf("?group=%d&worker=%d", inner.ID, inner.Running[0].Worker)
		if body := get(h, query).Body.String(); !check.Race && !strings.Contains(body, "weirdebug_test.stuckHere") {
			t.Errorf("the page does not show the stack: %s", body)
		}
		other := weir.NewGroup(weir.Label(t.Context(), "other than tree"), 2)
		other.Go(v.Member)
		alone := fmt.Sprintf("?groups&group=%d", inner.ID)
		body = get(h, alone).Body.String()
		for text, want := range map[string]bool{"outer of tree": true, "inner of tree": true, "other than tree": false} {
			check.Equal(t, "the page of the inner group shows "+text, strings.Contains(body, text), want)
		}
		v.Open()
		check.OK(t, outer.Wait())
		check.OK(t, other.Wait())
		check.Equal(t, "status after the end", get(h, query).Code, http.StatusNotFound)
		check.Equal(t, "status after the end", get(h, alone).Code, http.StatusNotFound)
	})
}

func TestBadQueriesAreAnswered400AndWhatIsNotThere404(t *testing.T) {
	h := weirdebug.Handler()
	for query, want := range map[string]int{
		"?pool=18446744073709551615":           http.StatusNotFound,
		"?pool=0":                              http.StatusBadRequest,
		"?pool=-1":                             http.StatusBadRequest,
		"?pool=x":                              http.StatusBadRequest,
		"?pool=1e9":                            http.StatusBadRequest,
		"?worker=1":                            http.StatusBadRequest,
		"?group=1":                             http.StatusBadRequest,
		"?group=1&worker=1&pool=1":             http.StatusBadRequest,
		"?group=18446744073709551615&worker=1": http.StatusNotFound,
		"?format=xml":                          http.StatusBadRequest,
		"?longer=-1s":                          http.StatusBadRequest,
		"?longer=1":                            http.StatusBadRequest,
		"?slow=0s":                             http.StatusBadRequest,
		"?refresh=-1":                          http.StatusBadRequest,
		"?refresh=1000000":                     http.StatusBadRequest,
		"?pools=1":                             http.StatusBadRequest,
		"?find=%zz":                            http.StatusBadRequest,
		"?find=%3Cscript%3E&longer=1h&slow=1s": http.StatusOK,
		"?find=a%ff":                           http.StatusOK,
		"?find=" + strings.Repeat("A", 500):    http.StatusOK,
		"?find=" + strings.Repeat("A", 501):    http.StatusBadRequest,
	} {
		w := get(h, query)
		check.Equal(t, query, w.Code, want)
		check.Equal(t, query+" is answered in UTF-8", utf8.Valid(w.Body.Bytes()), true)
		if want != http.StatusOK && !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
			t.Errorf("%s is answered with %s", query, w.Header().Get("Content-Type"))
		}
	}
}

func TestTheHandlerServesItsOwnPathAlone(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/debug/weir/", weirdebug.Handler())
	mux.Handle("/inner/", http.StripPrefix("/inner", weirdebug.Handler()))
	mux.Handle("/bare/", http.StripPrefix("/bare/", weirdebug.Handler()))
	for path, want := range map[string]int{
		"/debug/weir/": http.StatusOK, "/debug/weir/x": http.StatusNotFound, "/inner/": http.StatusOK, "/bare/": http.StatusOK, "/bare/x": http.StatusNotFound,
	} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		check.Equal(t, path, w.Code, want)
	}
}

// post sends a form as a program does, or a browser for a page of the origin.
func post(h http.Handler, query, form, origin string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "http://weir.test/debug/weir/"+query, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestControlChangesAPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := weirdebug.Handler(weirdebug.Control())
		p, release := held(t, "controlled", 2, 1)
		defer release()
		pool := named(t, h, "controlled")
		query := fmt.Sprintf("?pool=%d", pool.ID)
		for _, name := range []string{"Resize", "Pause"} {
			if !strings.Contains(get(h, query).Body.String(), ">"+name+"</button>") {
				t.Errorf("the page has no button %s", name)
			}
		}
		w := post(h, query, "do=resize&limit=7", "http://weir.test")
		check.Equal(t, "status", w.Code, http.StatusSeeOther)
		check.Equal(t, "location", w.Header().Get("Location"), query)
		check.Equal(t, "limit", p.Stats().Limit, 7)
		check.Equal(t, "status", post(h, query, "do=pause", "").Code, http.StatusSeeOther)
		check.Equal(t, "paused", p.Stats().Paused, true)
		w = post(h, query+"&format=json", "do=resume", "")
		check.Equal(t, "status", w.Code, http.StatusOK)
		check.Equal(t, "paused", p.Stats().Paused, false)
		var s weirdebug.Snapshot
		check.OK(t, json.Unmarshal(w.Body.Bytes(), &s))
		check.Equal(t, "pool", s.Pools[0].ID, pool.ID)
	})
}

func TestNothingChangesByABadOrForeignRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, release := held(t, "unchanged", 2, 1)
		defer release()
		open, closed := weirdebug.Handler(weirdebug.Control()), weirdebug.Handler()
		query := fmt.Sprintf("?pool=%d", named(t, open, "unchanged").ID)
		for _, test := range []struct {
			h                   http.Handler
			query, form, origin string
			want                int
		}{
			{closed, query, "do=pause", "", http.StatusMethodNotAllowed},
			{open, "", "do=pause", "", http.StatusMethodNotAllowed},
			{open, query + "&worker=1", "do=pause", "", http.StatusMethodNotAllowed},
			{open, query, "do=pause", "http://evil.test", http.StatusForbidden},
			{open, query, "do=pause", "null", http.StatusForbidden},
			{open, query, "do=resize&limit=0", "", http.StatusBadRequest},
			{open, query, "do=resize&limit=-3", "", http.StatusBadRequest},
			{open, query, "do=resize&limit=99999999999999999999", "", http.StatusBadRequest},
			{open, query, "do=resize&limit=x", "", http.StatusBadRequest},
			{open, query, "do=resize", "", http.StatusBadRequest},
			{open, query, "do=close", "", http.StatusBadRequest},
			{open, query, "", "", http.StatusBadRequest},
			{open, query, "do=pause&fill=" + strings.Repeat("x", 1<<13), "", http.StatusRequestEntityTooLarge},
			{open, "?pool=18446744073709551615", "do=pause", "", http.StatusNotFound},
			{open, query + "&do=pause", "", "", http.StatusBadRequest},
		} {
			w := post(test.h, test.query, test.form, test.origin)
			check.Equal(t, test.query+" "+clipped(test.form), w.Code, test.want)
		}
		s := p.Stats()
		check.Equal(t, "limit", s.Limit, 2)
		check.Equal(t, "paused", s.Paused, false)
		w := httptest.NewRecorder()
		open.ServeHTTP(w, httptest.NewRequest(http.MethodDelete, "/"+query, nil))
		check.Equal(t, "status of DELETE", w.Code, http.StatusMethodNotAllowed)
		check.Equal(t, "allowed", w.Header().Get("Allow"), "GET, HEAD, POST")
	})
}

func clipped(text string) string { return text[:min(len(text), 30)] }

func TestThroughputIsThatOfTheLastMinuteWhilePagesAreAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := weirdebug.Handler()
		p := weir.New(1, weir.Name("throughput"))
		stop := make(chan struct{})
		var producer sync.WaitGroup
		producer.Go(func() {
			for {
				select {
				case <-time.After(100 * time.Millisecond):
					check.OK(t, p.Submit(func() {}))
				case <-stop:
					return
				}
			}
		})
		time.Sleep(time.Second)
		check.Equal(t, "parts at first", len(named(t, h, "throughput").Throughput), 0)
		time.Sleep(59 * time.Second)
		check.Equal(t, "parts", len(named(t, h, "throughput").Throughput), 29)
		time.Sleep(50 * time.Second)
		pool := named(t, h, "throughput")
		check.Equal(t, "parts", len(pool.Throughput), 30)
		for _, perSec := range pool.Throughput {
			if perSec < 9.5 || perSec > 10.5 {
				t.Errorf("throughput is %v", pool.Throughput)
				break
			}
		}
		time.Sleep(time.Hour)
		check.Equal(t, "parts after a rest", len(named(t, h, "throughput").Throughput), 0)
		close(stop)
		producer.Wait()
		p.Close()
	})
}

func TestAnAnswerIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := weirdebug.Handler()
		const count = 600
		var pools []*weir.Pool
		v := check.NewValve()
		for i := range count {
			p := weir.New(1, weir.Name(fmt.Sprintf("many %04d %s", i, strings.Repeat("\xff", 1<<10))))
			check.OK(t, p.Submit(v.Hold))
			pools = append(pools, p)
		}
		groups := make([]*weir.Group, 1200)
		for i := range groups {
			groups[i] = weir.NewGroup(weir.Label(t.Context(), fmt.Sprintf("many %04d", i)), 3)
			groups[i].Go(v.Member)
			groups[i].Go(v.Member)
		}
		synctest.Wait()
		time.Sleep(time.Minute)
		s := snapshot(t, h, url.Values{"find": {"many"}})
		check.Equal(t, "pools", len(s.Pools), 500)
		check.Equal(t, "left out", s.PoolsLeftOut, 100)
		check.Equal(t, "groups", len(s.Groups), 1000)
		check.Equal(t, "left out", s.GroupsLeftOut, 200)
		check.Equal(t, "longest", len(s.Longest), 20)
		check.Equal(t, "longest left out", s.LongestLeftOut, count+2*len(groups)-20)
		tasks, leftOut := 0, 0
		for _, g := range s.Groups {
			tasks += len(g.Running)
			leftOut += g.LeftOut
		}
		check.Equal(t, "tasks", tasks, 1000)
		check.Equal(t, "tasks left out", leftOut, 1000)
		check.Equal(t, "pools found", len(snapshot(t, h, url.Values{"find": {"many 0599"}}).Pools), 1)
		for _, query := range []string{"", "?groups"} {
			if size := get(h, query).Body.Len(); size > 2<<20 {
				t.Errorf("%q has %d bytes", query, size)
			}
		}
		v.Open()
		for _, g := range groups {
			check.OK(t, g.Wait())
		}
		for _, p := range pools {
			p.Close()
		}
	})
}

func TestPagesMayBeReadInAStormOfPools(t *testing.T) {
	h := weirdebug.Handler(weirdebug.Control())
	stop := make(chan struct{})
	var storm sync.WaitGroup
	for range 2 {
		storm.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				p := weir.New(2, weir.Name("storm"))
				g := p.Group(weir.Label(t.Context(), "storm"))
				for range 3 {
					g.Go(func(ctx context.Context) error {
						inner := weir.NewGroup(ctx, 2)
						inner.Go(func(context.Context) error { return nil })
						return inner.Wait()
					})
				}
				p.Resize(1)
				p.Pause()
				p.Resume()
				check.OK(t, g.Wait())
				p.Close()
			}
		})
	}
	for i := range check.Scale(1000, 200) {
		query := []string{"?longer=0s", "?groups&longer=0s", "?longer=0s&slow=1ns", "?format=json&longer=0s", "?pool=1", "?pool=1&worker=1"}[i%6]
		if w := get(h, query); w.Code != http.StatusOK && w.Code != http.StatusNotFound {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
	close(stop)
	storm.Wait()
}

func TestVarIsAVariableOfExpvar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, release := held(t, "variable", 2, 3)
		defer release()
		var pools []weirdebug.Pool
		check.OK(t, json.Unmarshal([]byte(weirdebug.Var{}.String()), &pools))
		found := false
		for _, p := range pools {
			if p.Name == "variable" {
				found = true
				check.Equal(t, "queued", p.Stats.Queued, 1)
			}
		}
		check.Equal(t, "found", found, true)
	})
}

// A handler that was asked in a test bubble counts afterwards outside, where another clock is.
func TestAHandlerOfATestBubbleCountsInTheNextOne(t *testing.T) {
	h := weirdebug.Handler()
	for _, years := range []time.Duration{1, 0, 0} {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(years * 365 * 24 * time.Hour)
			p := weir.New(1, weir.Name("in a bubble"))
			defer p.Close()
			check.OK(t, p.Submit(func() {}))
			synctest.Wait()
			named(t, h, "in a bubble")
			time.Sleep(11 * time.Second)
			if n := len(named(t, h, "in a bubble").Throughput); n < 4 { // the first count may come with the first pause
				t.Errorf("%d parts", n)
			}
		})
		synctest.Test(t, func(t *testing.T) { // it ends with the timer on, at the time at which the next one begins
			p := weir.New(1, weir.Name("in a short bubble"))
			defer p.Close()
			check.OK(t, p.Submit(func() {}))
			synctest.Wait()
			named(t, h, "in a short bubble")
		})
	}
}

func TestANilOptionPanics(t *testing.T) {
	check.Panics(t, "weirdebug: option must not be nil, got nil", func() { weirdebug.Handler(nil) })
}
