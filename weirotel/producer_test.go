package weirotel_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/exporter"
	"github.com/64ed045f/weir/reuse"
	"github.com/64ed045f/weir/weirhttp"
	"github.com/64ed045f/weir/weirotel"
)

func TestLimitersTransportsAndKeepersHaveMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := make(chan struct{})
		limiter := weirhttp.Limit(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-open }), 2, weirhttp.Queue(1), weirhttp.MaxWait(time.Minute))
		idle := weirhttp.Limit(http.NotFoundHandler(), 7)
		transport := &weirhttp.Transport{PerHost: 1, Base: roundTripper(func(r *http.Request) (*http.Response, error) {
			time.Sleep(time.Second)
			return &http.Response{Body: io.NopCloser(strings.NewReader("")), Request: r}, nil
		})}
		keeper := reuse.NewKeeper(reuse.KeeperConfig[int]{Capacity: 3, Open: func(context.Context) (int, error) { return 1, nil }})
		start := time.Now()
		p := weirotel.NewProducer(weirotel.NoPools(), weirotel.Limiter("api", limiter), weirotel.Limiter("idle", idle),
			weirotel.Transport("backend", transport), weirotel.Keeper("database", keeper))

		pool := weir.New(1)
		noError(t, pool.Submit(nothing))
		for range 4 { // two run, one waits, one is refused
			go limiter.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
			synctest.Wait()
		}
		for range 2 {
			go func() {
				response, err := transport.RoundTrip(httptest.NewRequest(http.MethodGet, "http://backend/", nil))
				noError(t, err)
				_, _ = io.ReadAll(response.Body)
				noError(t, response.Body.Close())
			}()
		}
		lease, err := keeper.Get(t.Context())
		noError(t, err)
		time.Sleep(1500 * time.Millisecond)

		c := collect(t, p)
		c.want(t, "weir.http.limiter.limit", "api", 2)
		c.want(t, "weir.http.limiter.limit", "idle", 7)
		c.want(t, "weir.http.limiter.running", "api", 2)
		c.want(t, "weir.http.limiter.waiting", "api", 1)
		c.want(t, "weir.http.limiter.refused", "api queue_full", 1)
		c.want(t, "weir.http.limiter.refused", "idle queue_full", 0)
		c.want(t, "weir.http.limiter.oldest_wait", "api", 1.5)
		c.want(t, "weir.http.limiter.wait.duration", "api", 2)
		c.want(t, "weir.http.transport.run.duration", "backend", 1)
		c.want(t, "weir.http.transport.wait.duration", "backend", 2)
		c.want(t, "weir.keeper.capacity", "database", 3)
		c.want(t, "weir.keeper.object.count", "database leased", 1)
		c.want(t, "weir.keeper.gets", "database", 1)
		c.want(t, "weir.keeper.opened", "database", 1)
		equal(t, "start", c["weir.keeper.gets"].Data.(metricdata.Sum[int64]).DataPoints[0].StartTime, start)
		equal(t, "metrics of pools", len(c.values(t, "weir.pool.count")), 0)

		pool.Close()
		close(open)
		lease.Put()
		time.Sleep(time.Second)
		c = collect(t, p)
		c.want(t, "weir.http.limiter.served", "api", 3)
		c.want(t, "weir.http.limiter.run.duration", "api", 3)
		c.want(t, "weir.http.transport.run.duration", "backend", 2)
		c.want(t, "weir.keeper.object.count", "database idle", 1)
		keeper.Close()
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestMetricsDescribesWhatAProducerExports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keeper := reuse.NewKeeper(reuse.KeeperConfig[int]{Capacity: 1, Open: func(context.Context) (int, error) { return 1, nil }})
		p := weirotel.NewProducer(only("described"), weirotel.Limiter("l", weirhttp.Limit(http.NotFoundHandler(), 1)),
			weirotel.Transport("t", &weirhttp.Transport{PerHost: 1}), weirotel.Keeper("k", keeper))
		defer exporter.AddQueue("described", "here", func(context.Context) (exporter.QueueCounts, error) { return exporter.QueueCounts{}, nil })()
		pool := weir.New(1, weir.Name("described"))
		noError(t, pool.Submit(nothing))
		synctest.Wait()
		c := collect(t, p)
		for _, m := range weirotel.Metrics() {
			got := c[m.Name]
			equal(t, m.Name+": unit", got.Unit, m.Unit)
			equal(t, m.Name+": description", got.Description, m.Description)
			kind, keys := "", []string(nil)
			switch data := got.Data.(type) {
			case metricdata.Sum[int64]:
				kind, keys = kindOf(data.IsMonotonic), keysOf(data.DataPoints[0].Attributes)
			case metricdata.Sum[float64]:
				kind, keys = kindOf(data.IsMonotonic), keysOf(data.DataPoints[0].Attributes)
			case metricdata.Gauge[float64]:
				kind, keys = "Gauge", keysOf(data.DataPoints[0].Attributes)
			case metricdata.ExponentialHistogram[float64]:
				kind, keys = "Histogram", keysOf(data.DataPoints[0].Attributes)
			}
			equal(t, m.Name+": type", kind, m.Type)
			equal(t, m.Name+": attributes", strings.Join(keys, " "), strings.Join(slices.Sorted(slices.Values(m.Attributes)), " "))
			delete(c, m.Name)
		}
		equal(t, "metrics without a description", len(c), 0)
		pool.Close()
		keeper.Close()
	})
}

func kindOf(monotonic bool) string {
	if monotonic {
		return "Counter"
	}
	return "UpDownCounter"
}

func keysOf(set attribute.Set) (keys []string) {
	for _, a := range set.ToSlice() {
		keys = append(keys, string(a.Key))
	}
	return keys
}

// The rules of the semantic conventions for names: lower case, parts with dots between them, words with underscores between them; no name is the
// namespace of another; the unit, in the notation of UCUM, stands in its field and not in the name; and no "total" does.
func TestNamesFollowTheSemanticConventions(t *testing.T) {
	name := regexp.MustCompile(`^weir(\.[a-z]+(_[a-z]+)*)+$`)
	units := regexp.MustCompile(`[._](s|ms|ns|seconds?|milliseconds?|nanoseconds?|total|ratio|bytes?)($|[._])`)
	names := make(map[string]bool)
	for _, m := range weirotel.Metrics() {
		if names[m.Name] {
			t.Errorf("%s is there twice", m.Name)
		}
		names[m.Name] = true
		for _, n := range append([]string{m.Name}, m.Attributes...) {
			if !name.MatchString(n) || units.MatchString(n) {
				t.Errorf("%s: bad name %s", m.Name, n)
			}
		}
		if m.Unit != "s" && !regexp.MustCompile(`^\{[a-z]+\}$`).MatchString(m.Unit) {
			t.Errorf("%s: bad unit %q", m.Name, m.Unit)
		}
		if (m.Type == "Histogram") != strings.HasSuffix(m.Name, ".duration") {
			t.Errorf("%s is a %s", m.Name, m.Type)
		}
		if !strings.HasSuffix(m.Description, ".") {
			t.Errorf("%s: description %q is no sentence", m.Name, m.Description)
		}
	}
	for n := range names {
		for namespace := range names {
			if strings.HasPrefix(n, namespace+".") {
				t.Errorf("%s is in the namespace of the metric %s", n, namespace)
			}
		}
	}
}

func TestBadOptionsPanic(t *testing.T) {
	limiter := weirhttp.Limit(http.NotFoundHandler(), 1)
	transport := &weirhttp.Transport{PerHost: 1}
	for want, f := range map[string]func(){
		"weirotel: limiter must not be nil, got nil":                              func() { weirotel.Limiter("l", nil) },
		"weirotel: transport must not be nil, got nil":                            func() { weirotel.Transport("t", nil) },
		"weirotel: keeper must not be nil, got nil":                               func() { weirotel.Keeper("k", nil) },
		"weirotel: option must not be nil, got nil":                               func() { weirotel.NewProducer(nil) },
		"weirotel: choice of pools must not be nil, got nil":                      func() { weirotel.Only(nil) },
		"weirotel: number of names must be at least 0, got -1":                    func() { weirotel.MaxNames(-1) },
		`weirotel: name of a limiter must be valid UTF-8 and not empty, got ""`:   func() { weirotel.Limiter("", limiter) },
		`weirotel: name of a transport must be valid UTF-8 and not empty, got ""`: func() { weirotel.Transport("", transport) },
		`weirotel: name of a limiter must be valid UTF-8 and not empty, got "\xff"`: func() {
			weirotel.Limiter("\xff", limiter)
		},
		`weirotel: name of a limiter must not be that of another, got "l"`: func() {
			weirotel.NewProducer(weirotel.Limiter("l", limiter), weirotel.Transport("l", transport), weirotel.Limiter("l", limiter))
		},
		"weirotel: task must not be nil, got nil":                func() { weirotel.Span("", nil) },
		"weirotel: context must not be nil, got nil":             func() { weirotel.SpanFunc(nil, "", func(context.Context) {}) }, //nolint:staticcheck // that is what is tested
		"weirotel: provider of tracers must not be nil, got nil": func() { weirotel.TracerProvider(nil) },
		"weirotel: function must not be nil, got nil":            func() { weirotel.SpanEach[int]("", nil) },
	} {
		equal(t, "panic", caught(f), any(want))
	}
	none := func() { weirotel.Span("", func(context.Context) error { return nil }, nil) }
	equal(t, "panic for no option of a span", caught(none), any("weirotel: option must not be nil, got nil"))
	if caught(func() { weirotel.Keeper("k", new(reuse.Keeper[int])) }) == nil {
		t.Error("a keeper that is not made is taken")
	}
}
