package weirprom_test

import (
	"context"
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/exporter"
	"github.com/64ed045f/weir/reuse"
	"github.com/64ed045f/weir/weirhttp"
	"github.com/64ed045f/weir/weirprom"
)

var update = flag.Bool("update", false, "write testdata/exposition.txt anew")

// everything calls f when there is a known pool, limiter, transport and keeper, with a registry that exports them.
func everything(t *testing.T, f func(t *testing.T, r *prometheus.Registry)) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2, weir.Name("known"), weir.Measure(1), weir.Queue(3), weir.OnPanic(func(*weir.Panic) {}))
		defer p.Close()
		doze := func() { time.Sleep(time.Second) }
		for _, task := range []func(){nothing, func() { panic("on purpose") }, doze, doze, doze, doze, doze} {
			noError(t, p.Submit(task))
			synctest.Wait()
		}
		equal(t, "error", p.TrySubmit(nothing), weir.ErrFull)

		l := weirhttp.Limit(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { doze() }), 1, weirhttp.Queue(1), weirhttp.MaxWait(time.Minute))
		for range 3 {
			go l.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", http.NoBody))
			synctest.Wait()
		}

		tr := &weirhttp.Transport{PerHost: 1, Base: roundTripper(func(*http.Request) (*http.Response, error) {
			time.Sleep(time.Minute)
			return nil, errors.New("no answer")
		})}
		for range 2 {
			go func() {
				response, err := tr.RoundTrip(httptest.NewRequest(http.MethodGet, "http://known.test/", http.NoBody))
				if err == nil {
					noError(t, response.Body.Close())
				}
			}()
			synctest.Wait()
		}

		k := reuse.NewKeeper(reuse.KeeperConfig[int]{Capacity: 2, Open: func(context.Context) (int, error) { return 0, nil }})
		defer k.Close()
		leased, err := k.Get(t.Context())
		noError(t, err)
		defer leased.Put()
		noError(t, k.Use(t.Context(), func(int) error { return nil }))

		defer exporter.AddQueue("mail", "nats://queues", func(context.Context) (exporter.QueueCounts, error) {
			return exporter.QueueCounts{Waiting: 5, Leased: 4, Redelivered: 3, Dead: 2, Later: 6, Accepted: 99, Oldest: 1500 * time.Millisecond}, nil
		})()

		r := prometheus.NewPedanticRegistry()
		r.MustRegister(weirprom.New(named("known"), weirprom.Limiter("api", l), weirprom.Transport("backend", tr), weirprom.Keeper("database", k)))
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		f(t, r)
		time.Sleep(2 * time.Minute) // until all is over
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestTheExpositionIsThatOfTheFile(t *testing.T) {
	everything(t, func(t *testing.T, r *prometheus.Registry) {
		const name = "testdata/exposition.txt"
		if *update {
			var names []string
			for _, m := range weirprom.Metrics() {
				names = append(names, m.Name)
			}
			text, err := testutil.GatherAndFormat(r, expfmt.TypeTextPlain, names...)
			noError(t, err)
			noError(t, os.WriteFile(name, text, 0o644))
		}
		file, err := os.Open(name)
		noError(t, err)
		defer file.Close()
		noError(t, testutil.GatherAndCompare(r, file))
	})
}

func TestTheLinterFindsNothing(t *testing.T) {
	everything(t, func(t *testing.T, r *prometheus.Registry) {
		problems, err := testutil.GatherAndLint(r)
		noError(t, err)
		for _, p := range problems {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	})
}

func TestMetricsAreWhatTheCollectorExports(t *testing.T) {
	everything(t, func(t *testing.T, r *prometheus.Registry) {
		families, err := r.Gather()
		noError(t, err)
		all := weirprom.Metrics()
		equal(t, "metrics", len(families), len(all))
		for _, f := range families {
			i := slices.IndexFunc(all, func(m weirprom.Metric) bool { return m.Name == f.GetName() })
			if i < 0 {
				t.Errorf("%s is not among them", f.GetName())
				continue
			}
			m := all[i]
			equal(t, m.Name, strings.ToLower(f.GetType().String()), m.Type)
			equal(t, m.Name, f.GetHelp(), m.Help)
			equal(t, m.Name, f.GetUnit(), m.Unit)
			for _, series := range f.GetMetric() {
				equal(t, "labels of "+m.Name, len(series.GetLabel()), len(m.Labels))
				for _, l := range series.GetLabel() {
					equal(t, m.Name+" has "+l.GetName(), slices.Contains(m.Labels, l.GetName()), true)
				}
			}
		}
		all[0].Labels[0] = "changed"
		equal(t, "label", weirprom.Metrics()[0].Labels[0], "pool")
	})
}

func TestARegistryRefusesASecondCollectorOfPools(t *testing.T) {
	limiter := weirhttp.Limit(http.NotFoundHandler(), 1)
	r := prometheus.NewRegistry()
	noError(t, r.Register(weirprom.New()))
	var already prometheus.AlreadyRegisteredError
	equal(t, "refused as registered", errors.As(r.Register(weirprom.New(weirprom.MaxNames(3))), &already), true)
	if r.Register(weirprom.New(weirprom.Limiter("a", limiter))) == nil {
		t.Error("a collector of pools and a limiter was accepted")
	}
	noError(t, r.Register(weirprom.New(weirprom.NoPools(), weirprom.Limiter("a", limiter))))
	noError(t, r.Register(weirprom.New(weirprom.NoPools(), weirprom.Limiter("b", limiter))))
	if r.Register(weirprom.New(weirprom.NoPools(), weirprom.Limiter("b", limiter), weirprom.Limiter("c", limiter))) == nil {
		t.Error("a second limiter of the same name was accepted")
	}
	_, err := r.Gather()
	noError(t, err)

	parts := prometheus.NewPedanticRegistry()
	for _, part := range []string{"a", "b"} {
		noError(t, prometheus.WrapRegistererWith(prometheus.Labels{"part": part}, parts).Register(weirprom.New()))
	}
	_, err = parts.Gather()
	noError(t, err)
}

func TestACollectorIsUnregistered(t *testing.T) {
	r, c := prometheus.NewRegistry(), weirprom.New()
	noError(t, r.Register(c))
	equal(t, "unregistered", r.Unregister(c), true)
	noError(t, r.Register(c))
}

func TestWrongOptionsPanic(t *testing.T) {
	limiter, transport := weirhttp.Limit(http.NotFoundHandler(), 1), &weirhttp.Transport{PerHost: 1}
	k := reuse.NewKeeper(reuse.KeeperConfig[int]{Capacity: 1, Open: func(context.Context) (int, error) { return 0, nil }})
	defer k.Close()
	var none *reuse.Keeper[int]
	for want, f := range map[string]func(){
		`weirprom: number of names must be at least 0, got -1`:                        func() { weirprom.MaxNames(-1) },
		`weirprom: option must not be nil, got nil`:                                   func() { weirprom.New(nil) },
		`weirprom: choice of pools must not be nil, got nil`:                          func() { weirprom.Only(nil) },
		`weirprom: limiter must not be nil, got nil`:                                  func() { weirprom.Limiter("a", nil) },
		`weirprom: transport must not be nil, got nil`:                                func() { weirprom.Transport("a", nil) },
		`weirprom: keeper must not be nil, got nil`:                                   func() { weirprom.Keeper("a", nil) },
		`weirprom: name of a limiter must be valid UTF-8 and not empty, got ""`:       func() { weirprom.Limiter("", limiter) },
		`weirprom: name of a transport must be valid UTF-8 and not empty, got "\xff"`: func() { weirprom.Transport("\xff", transport) },
		`weirprom: name of a keeper must be valid UTF-8 and not empty, got ""`:        func() { weirprom.Keeper("", k) },
		`weirprom: name of a limiter must not be that of another, got "a"`:            func() { weirprom.New(weirprom.Limiter("a", limiter), weirprom.Limiter("a", limiter)) },
	} {
		equal(t, "panic", caught(f), any(want))
	}
	if caught(func() { weirprom.Keeper("a", none) }) == nil {
		t.Error("a keeper that is not made was accepted")
	}
	weirprom.New(weirprom.Limiter("a", limiter), weirprom.Transport("a", transport), weirprom.Keeper("a", k))
}
