package weirotel_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirotel"
)

// The tests fail if they leave a goroutine behind.
func TestMain(m *testing.M) {
	code := m.Run()
	for tries := 0; runtime.NumGoroutine() > 1 && tries < 1<<20; tries++ {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); code == 0 && n > 1 {
		fmt.Fprintf(os.Stderr, "%d goroutines are left\n", n-1)
		_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1) // it says what it can
		code = 1
	}
	os.Exit(code)
}

func noError(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Errorf("unexpected error: %v", err)
	}
}

func isError(t testing.TB, err, target error) {
	if !errors.Is(err, target) {
		t.Helper()
		t.Errorf("got error %v, want %v", err, target)
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

// only leaves out the pools of other tests, which have names with another beginning.
func only(prefix string) weirotel.Option {
	return weirotel.Only(func(p weir.PoolInfo) bool { return strings.HasPrefix(p.Name, prefix) })
}

// collected are metrics by name.
type collected map[string]metricdata.Metrics

func collect(t testing.TB, p *weirotel.Producer) collected {
	t.Helper()
	scopes, err := p.Produce(t.Context())
	noError(t, err)
	return byName(t, scopes)
}

func byName(t testing.TB, scopes []metricdata.ScopeMetrics) collected {
	t.Helper()
	c := make(collected)
	for _, s := range scopes {
		for _, m := range s.Metrics {
			if _, twice := c[m.Name]; twice {
				t.Errorf("%s is there twice", m.Name)
			}
			c[m.Name] = m
		}
	}
	return c
}

// values returns the numbers of a metric by the values of their attributes, joined with a space.
func (c collected) values(t testing.TB, metric string) map[string]float64 {
	t.Helper()
	list := make(map[string]float64)
	switch data := c[metric].Data.(type) {
	case metricdata.Sum[int64]:
		addPoints(t, list, data.DataPoints)
	case metricdata.Sum[float64]:
		addPoints(t, list, data.DataPoints)
	case metricdata.Gauge[float64]:
		addPoints(t, list, data.DataPoints)
	case metricdata.ExponentialHistogram[float64]:
		for _, p := range data.DataPoints {
			list[valuesOf(p.Attributes)] = float64(p.Count)
		}
	case nil:
	default:
		t.Fatalf("%s is a %T", metric, data)
	}
	return list
}

func addPoints[N int64 | float64](t testing.TB, list map[string]float64, points []metricdata.DataPoint[N]) {
	t.Helper()
	for _, p := range points {
		key := valuesOf(p.Attributes)
		if _, twice := list[key]; twice {
			t.Errorf("two data points have the attributes %s", key)
		}
		list[key] = float64(p.Value)
	}
}

func valuesOf(set attribute.Set) string {
	var list []string
	for _, a := range set.ToSlice() {
		list = append(list, a.Value.AsString())
	}
	return strings.Join(list, " ")
}

// want checks one number of a metric.
func (c collected) want(t testing.TB, metric, attributes string, want float64) {
	t.Helper()
	got, there := c.values(t, metric)[attributes]
	if !there {
		t.Errorf("%s has no data point of %q, but %v", metric, attributes, c.values(t, metric))
		return
	}
	equal(t, metric+" of "+attributes, got, want)
}
