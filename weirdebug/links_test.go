package weirdebug_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirdebug"
)

var linked = regexp.MustCompile(`(?:href|action)="(\?[^"]*)"`)

func TestLinksAndFormsKeepTheSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := weirdebug.Handler(weirdebug.Control())
		p := weir.New(2, weir.Name("kept"))
		v := check.NewValve()
		g := p.Group(weir.Label(t.Context(), "kept"))
		g.Go(v.Member)
		synctest.Wait()
		time.Sleep(time.Minute)
		pool := named(t, h, "kept")
		s := snapshot(t, h, url.Values{"pool": {fmt.Sprint(pool.ID)}})
		group := s.Groups[0].ID
		settings := url.Values{"longer": {"3s"}, "refresh": {"2"}, "slow": {"1s"}}
		for query, want := range map[string]int{
			"find=kept": 9, fmt.Sprintf("pool=%d", pool.ID): 10, "groups&find=kept": 7, fmt.Sprintf("groups&group=%d", group): 8,
			fmt.Sprintf("pool=%d&worker=1", pool.ID): 8,
		} {
			body := get(h, "?"+query+"&"+settings.Encode()).Body.String()
			links := linked.FindAllStringSubmatch(body, -1)
			if len(links) < want {
				t.Errorf("%s has the links %q", query, links)
			}
			for _, link := range links {
				got, err := url.ParseQuery(strings.ReplaceAll(link[1][1:], "&amp;", "&"))
				check.OK(t, err)
				lost := len(settings)
				for name, values := range settings {
					if got.Get(name) == values[0] {
						lost--
					}
				}
				if got.Get("refresh") == "0" || !got.Has("longer") { // this is what the link is for
					lost--
				}
				if lost > 0 {
					t.Errorf("%s: the link %s has lost settings", query, link[1])
				}
				if status := get(h, "?"+got.Encode()).Code; status != http.StatusOK {
					t.Errorf("%s: the link %s leads to %d", query, link[1], status)
				}
			}
			if strings.Contains(body, `role="search"`) {
				for name, values := range settings {
					if field := fmt.Sprintf(`<input type="hidden" name="%s" value="%s">`, name, values[0]); !strings.Contains(body, field) {
						t.Errorf("%s: the form has no %s", query, field)
					}
				}
			}
		}
		query := fmt.Sprintf("?longer=3s&pool=%d&refresh=2&slow=1s", pool.ID)
		check.Equal(t, "location", post(h, query, "do=resize&limit=3", "").Header().Get("Location"), query)
		v.Open()
		check.OK(t, g.Wait())
		p.Close()
	})
}

func TestPagesSayWhatWasAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := weirdebug.Handler()
		p := weir.New(2, weir.Name("words"))
		v := check.NewValve()
		g := p.Group(weir.Label(t.Context(), "words"))
		g.Go(v.Member)
		synctest.Wait()
		time.Sleep(time.Minute)
		id := named(t, h, "words").ID
		for query, want := range map[string][]string{
			"?longer=1h":                               {"None has run for 1h0m0s.", ": 0 that have been there for 1h0m0s or more", "only what has been there for 1h0m0s or more"},
			"?find=nothing+at+all":                     {"None has run for 1s, of those that match", ": 0 that have been there for 10ms", "Groups that match"},
			"?find=words":                              {": 1 that has been there for 10ms or more"},
			"?find=words&longer=0s":                    {": 1.</p>"},
			fmt.Sprintf("?pool=%d&longer=1h", id):      {"None has run for 1h0m0s or more."},
			fmt.Sprintf("?pool=%d&find=none+such", id): {"None is known to run, of those that match."},
		} {
			says(t, h, query, want...)
		}
		v.Open()
		check.OK(t, g.Wait())
		p.Close()
	})
}

func TestOfSeveralMistakesAlwaysTheSameIsNamed(t *testing.T) {
	h := weirdebug.Handler()
	for range 50 {
		body := get(h, "?zero=1&slow=x&pool=x&longer=x&group=x&first=1").Body.String()
		check.Equal(t, "answer", body, "the query has no parameter \"first\"\n")
	}
}

func TestTheCountOfTimesIsTheSumOfTheirBuckets(t *testing.T) {
	h := weirdebug.Handler()
	p := weir.New(2, weir.Name("buckets"), weir.Measure(1))
	check.OK(t, p.Submit(func() {}))
	p.Wait()
	pool := named(t, h, "buckets")
	stop, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		for {
			select {
			case <-stop:
				return
			default:
				check.OK(t, p.Submit(func() {}))
			}
		}
	}()
	for range check.Scale(1000, 200) {
		of := snapshot(t, h, url.Values{"pool": {fmt.Sprint(pool.ID)}}).Pools[0]
		for what, times := range map[string]weirdebug.Durations{"wait": of.Wait, "run": of.Run} {
			sum := uint64(0)
			for _, b := range times.Buckets {
				sum += b.Count
			}
			check.Equal(t, what, times.Count, sum)
		}
	}
	close(stop)
	<-over
	p.Close()
}

// The stack of one task leaves the others of its group as they are.
func TestThePageOfAStackShowsAllTasksOfTheGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := weirdebug.Handler()
		v := check.NewValve()
		g := weir.NewGroup(t.Context(), 3)
		for range 3 {
			g.Go(func(context.Context) error { return stuckHere(v) })
		}
		synctest.Wait()
		group := weir.Groups(0)[0].ID
		body := get(h, fmt.Sprintf("?group=%d&worker=2", group)).Body.String()
		for worker := range 4 {
			tasks := strings.Count(body, fmt.Sprintf(">task on worker %d<", worker))
			check.Equal(t, fmt.Sprintf("tasks on worker %d", worker), tasks, min(worker, 1))
		}
		for _, link := range linked.FindAllStringSubmatch(body, -1) {
			check.Equal(t, link[1], get(h, strings.ReplaceAll(link[1], "&amp;", "&")).Code, http.StatusOK)
		}
		v.Open()
		check.OK(t, g.Wait())
	})
}

// All keys are shown as one pool, also by what a task of a key has made.
func TestTasksOfAKeyedHavePagesAsOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := weirdebug.Handler()
		p := weir.New(4, weir.Name("has keys"))
		defer p.Close()
		k := weir.NewKeyed[int](p, 1)
		v := check.NewValve()
		for key := range 2 {
			check.OK(t, k.Submit(key, func() { _ = stuckHere(v) }))
			check.OK(t, k.Submit(key, v.Hold))
		}
		g := k.Group(t.Context(), 2)
		g.Go(func(ctx context.Context) error {
			inner := k.Group(ctx, 3)
			inner.Go(func(context.Context) error { return stuckHere(v) })
			return inner.Wait()
		})
		defer func() {
			v.Open()
			check.OK(t, g.Wait())
		}()
		synctest.Wait()
		get(h, "") // tasks that are not measured are known to run from then on
		time.Sleep(time.Minute)
		s := snapshot(t, h, url.Values{"find": {"Keyed[int]"}})
		check.Equal(t, "pools", len(s.Pools), 1)
		stats := s.Pools[0].Stats
		check.Equal(t, "limit, running, suspended, queued", fmt.Sprint(stats.Limit, stats.Running, stats.Suspended, stats.Queued), "4 3 1 2")
		check.Equal(t, "those that have run for longest", len(s.Longest), 4)
		workers := make(map[int]bool)
		for _, task := range s.Longest {
			workers[task.Worker] = true
		}
		check.Equal(t, "numbers of workers", len(workers), 4)
		for _, query := range []string{"?find=keys", "?groups", fmt.Sprintf("?pool=%d", s.Pools[0].ID)} {
			links := linked.FindAllStringSubmatch(get(h, query).Body.String(), -1)
			for _, link := range links {
				if status := get(h, strings.ReplaceAll(link[1], "&amp;", "&")).Code; status != http.StatusOK {
					t.Errorf("%s: the link %s leads to %d", query, link[1], status)
				}
			}
		}
		if body := get(h, fmt.Sprintf("?pool=%d", s.Pools[0].ID)).Body.String(); !check.Race && !strings.Contains(body, "weirdebug_test.stuckHere") {
			t.Errorf("the page of the pool does not show the stacks: %s", body)
		}
	})
}
