//go:build prometheus

package weirprom_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/64ed045f/weir"
)

// program returns where an executable of Prometheus is.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("the build tag prometheus needs the program %s in PATH, of Debian's package prometheus for example: %v", name, err)
	}
	return path
}

func TestPromtoolFindsNothing(t *testing.T) {
	promtool := program(t, "promtool")
	everything(t, func(t *testing.T, r *prometheus.Registry) {
		answer := httptest.NewRecorder()
		promhttp.HandlerFor(r, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
		tool := exec.Command(promtool, "check", "metrics")
		tool.Stdin = answer.Body
		out, err := tool.CombinedOutput()
		noError(t, err)
		equal(t, "what promtool says", string(out), "")
	})
}

// server is a running Prometheus.
type server struct{ url string }

// startPrometheus starts one that scrapes the target each second: under the job "native" in the newest format, and under "classic" in text, which has
// no native histograms.
func startPrometheus(t *testing.T, target string) server {
	t.Helper()
	binary, dir := program(t, "prometheus"), t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	noError(t, os.WriteFile(config, fmt.Appendf(nil, `
global: {scrape_interval: 1s}
scrape_configs:
- {job_name: native, static_configs: [{targets: [%[1]q]}]}
- {job_name: classic, metrics_path: /text, static_configs: [{targets: [%[1]q]}]}
`, target), 0o600))
	free, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	address := free.Addr().String()
	noError(t, free.Close())

	ctx, stop := context.WithCancel(context.Background())
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, binary, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+address, "--enable-feature=native-histograms")
	cmd.Stdout, cmd.Stderr = &out, &out
	noError(t, cmd.Start())
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("prometheus says:\n%s", out.String())
		}
	})
	return server{"http://" + address}
}

// query returns the value of an expression, which must have one or no series: NaN for none, or if the server does not answer yet.
func (s server) query(t *testing.T, client *http.Client, expression string) float64 {
	t.Helper()
	response, err := client.Get(s.url + "/api/v1/query?" + url.Values{"query": {expression}}.Encode())
	if err != nil {
		return math.NaN()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	noError(t, err)
	var answer struct {
		Status string
		Error  string
		Data   struct{ Result []struct{ Value [2]any } }
	}
	if json.Unmarshal(body, &answer) != nil {
		return math.NaN() // it starts
	}
	if answer.Status != "success" || len(answer.Data.Result) > 1 {
		t.Fatalf("%s: %s", expression, body)
	}
	if len(answer.Data.Result) == 0 {
		return math.NaN()
	}
	text, _ := answer.Data.Result[0].Value[1].(string)
	v, err := strconv.ParseFloat(text, 64)
	noError(t, err)
	return v
}

func TestPrometheusReadsWhatPoolsDid(t *testing.T) {
	registry := newScraper(named("scraped"))
	handler := promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry})
	mux := http.NewServeMux()
	mux.Handle("/metrics", handler)
	mux.HandleFunc("/text", func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Accept")
		handler.ServeHTTP(w, r)
	})
	target := httptest.NewServer(mux)
	defer target.Close()

	// A pool whose tasks took known times, and that has ended.
	var run weir.Histogram
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(10, weir.Name("scraped before"), weir.Measure(1), weir.Queue(weir.Unbounded))
		for i := range 1000 {
			noError(t, p.Submit(func() { time.Sleep(time.Duration(i+1) * time.Millisecond) }))
		}
		synctest.Wait() // a pool is listed when its first task starts
		registry.scrape(t)
		p.Close()
		run = p.Times().Run
	})
	// One that goes on.
	live := weir.New(2, weir.Name("scraped live \xff"), weir.OnPanic(func(*weir.Panic) {}))
	defer live.Close()
	noError(t, live.Submit(func() { panic("on purpose") }))
	live.Pause()
	noError(t, live.Submit(nothing))

	client := &http.Client{Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	s := startPrometheus(t, target.Listener.Addr().String())
	deadline := time.Now().Add(40 * time.Second)
	within := func(expression string, low, high float64) {
		t.Helper()
		got := math.NaN()
		for time.Now().Before(deadline) {
			if got = s.query(t, client, expression); got >= low && got <= high {
				t.Logf("%s is %v", expression, got)
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Errorf("%s is %v, want from %v to %v", expression, got, low, high)
	}
	is := func(expression string, want float64) {
		t.Helper()
		within(expression, want, want)
	}
	const before, liveOne = `{job="native", pool="scraped before"}`, `{job="native", pool="scraped live _"}`
	is("weir_pool_finished_total"+before, 1000)
	is("weir_pools"+before, 0)
	is("weir_pool_accepted_total"+liveOne, 2)
	is("weir_pool_queued"+liveOne, 1)
	is("weir_pool_panicked_total"+liveOne, 1)
	is("weir_pool_limit"+liveOne, 2)

	is("histogram_count(weir_pool_run_seconds"+before+")", 1000)
	within("histogram_sum(weir_pool_run_seconds"+before+")", run.Sum()*(1-1e-9), run.Sum()*(1+1e-9))
	is(`weir_pool_run_seconds_count{job="classic", pool="scraped before"}`, 1000)
	is(`weir_pool_run_seconds_bucket{job="classic", pool="scraped before", le="0.25"}`, 250)
	for _, q := range []float64{0.5, 0.99} {
		want := run.Quantile(q).Seconds()
		// Within a bucket servers of different ages interpolate in different ways.
		within(fmt.Sprintf("histogram_quantile(%v, weir_pool_run_seconds%s)", q, before), want/math.Exp2(0.25), want*math.Exp2(0.25))
		within(fmt.Sprintf(`histogram_quantile(%v, weir_pool_run_seconds_bucket{job="classic", pool="scraped before"})`, q), 0.25, 1)
	}
	is(`sum by (job) (weir_pool_workers{job="native", pool!="scraped before"})`, float64(live.Stats().Workers))

	// Counters of a name go on when another pool takes over from one that has ended.
	next := weir.New(1, weir.Name("scraped before"))
	for range 5 {
		noError(t, next.Submit(nothing))
	}
	next.Wait()
	is("weir_pool_finished_total"+before, 1005)
	is("resets(weir_pool_finished_total"+before+"[1m])", 0)
	next.Close()
}
