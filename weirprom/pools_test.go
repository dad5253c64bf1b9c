package weirprom_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirprom"
)

func TestEachStateOfWorkersHasASeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2, weir.Name("states"))
		s := newScraper(named("states"))
		is := func(running, suspended, returning, idle float64) {
			t.Helper()
			synctest.Wait()
			series := s.scrape(t)
			for state, want := range map[string]float64{
				"running": running, "suspended": suspended, "returning": returning, "idle": idle, "searching": 0,
			} {
				equal(t, state, value(series["weir_pool_workers states "+state]), want)
			}
		}
		back, end := make(chan struct{}), make(chan struct{})
		g := p.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			weir.Blocking(ctx, func() { <-back })
			return nil
		})
		for range 2 {
			g.Go(func(context.Context) error {
				<-end
				return nil
			})
		}
		is(2, 1, 0, 0)
		close(back)
		is(2, 0, 1, 0)
		close(end)
		noError(t, g.Wait())
		is(0, 0, 0, float64(p.Stats().Workers))
		p.Close()
	})
}

func TestNamesThatAreNoLabelsAreMadeOnes(t *testing.T) {
	none := weir.New(1)
	defer none.Close()
	run(t, none, 1)
	for name, label := range map[string]string{
		"":                               "unnamed",
		"odd \xff\xfe name":              "odd __ name",
		"odd \"quote\"\n\\ {}":           "odd \"quote\"\n\\ {}",
		"odd" + strings.Repeat("é", 500): "odd" + strings.Repeat("é", 62),
		"odd \uFFFD":                     "odd _",
		"odd \x00":                       "odd \x00",
	} {
		p := weir.New(1, weir.Name(name))
		run(t, p, 2)
		opt := named("odd")
		if name == "" {
			opt = weirprom.Only(func(p weir.PoolInfo) bool { return p.Name == "" })
		}
		series := newScraper(opt).scrape(t)
		if got := value(series["weir_pool_finished_total "+label]); !(got >= 2) {
			t.Errorf("%q: %v tasks have finished", label, got)
		}
		p.Close()
	}
}
