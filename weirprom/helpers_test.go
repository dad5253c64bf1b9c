package weirprom_test

import (
	"math"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.uber.org/goleak"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirprom"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func noError(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Errorf("unexpected error: %v", err)
	}
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	if got != want {
		t.Helper()
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// caught returns what f panics with.
func caught(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

func nothing() {}

// named chooses the pools of one test: those whose names begin with prefix.
func named(prefix string) weirprom.Option {
	return weirprom.Only(func(p weir.PoolInfo) bool { return strings.HasPrefix(p.Name, prefix) })
}

// scraper is a registry with one collector.
type scraper struct{ *prometheus.Registry }

func newScraper(opts ...weirprom.Option) scraper {
	return register(prometheus.NewPedanticRegistry(), opts...)
}

func register(r *prometheus.Registry, opts ...weirprom.Option) scraper {
	r.MustRegister(weirprom.New(opts...))
	return scraper{r}
}

// scrape returns all series, each under its name and the values of its labels: "weir_pool_workers a idle".
func (s scraper) scrape(t testing.TB) map[string]*dto.Metric {
	t.Helper()
	families, err := s.Gather()
	noError(t, err)
	all := make(map[string]*dto.Metric)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			key := f.GetName()
			for _, l := range m.GetLabel() {
				key += " " + l.GetValue()
			}
			all[key] = m
		}
	}
	return all
}

// value is that of a counter, a gauge, or the count of a histogram; NaN if there is no such series.
func value(m *dto.Metric) float64 {
	switch {
	case m.GetCounter() != nil:
		return m.GetCounter().GetValue()
	case m.GetGauge() != nil:
		return m.GetGauge().GetValue()
	case m.GetHistogram() != nil:
		return float64(m.GetHistogram().GetSampleCount())
	default:
		return math.NaN()
	}
}

// run gives the pool n tasks, and waits for them.
func run(t testing.TB, p *weir.Pool, n int) {
	t.Helper()
	for range n {
		noError(t, p.Submit(nothing))
	}
	p.Wait()
}
