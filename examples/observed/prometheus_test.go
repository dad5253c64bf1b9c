//go:build prometheus

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
)

// executable returns where a program of Prometheus is.
func executable(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("the build tag prometheus needs the program %s in PATH, of Debian's package prometheus for example: %v", name, err)
	}
	return path
}

func TestPromtoolAcceptsTheAlerts(t *testing.T) {
	promtool := executable(t, "promtool")
	for _, arguments := range [][]string{{"check", "rules", "alerts.yml"}, {"test", "rules", "alerts_test.yml"}} {
		if out, err := exec.Command(promtool, arguments...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(arguments, " "), err, out)
		}
	}
}

// startPrometheus starts a server that scrapes the target each second, and evaluates the alerts. It returns its URL.
func startPrometheus(t *testing.T, target string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	alerts, err := filepath.Abs("alerts.yml")
	check.OK(t, err)
	config := filepath.Join(dir, "prometheus.yml")
	check.OK(t, os.WriteFile(config, fmt.Appendf(nil, `
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [%q]
scrape_configs: [{job_name: shop, static_configs: [{targets: [%q]}]}]
`, alerts, target), 0o600))
	free, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	address := free.Addr().String()
	check.OK(t, free.Close())

	var out bytes.Buffer
	cmd := exec.Command(executable(t, "prometheus"), append(flags, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+address)...)
	cmd.Stdout, cmd.Stderr = &out, &out
	check.OK(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("prometheus says:\n%s", out.String())
		}
	})
	return "http://" + address
}

// get reads the data of an answer, and reports whether the server gave one.
func (p *program) get(t *testing.T, url string, data any) bool {
	t.Helper()
	response, err := p.client.Get(url)
	if err != nil {
		return false // it starts
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	check.OK(t, err)
	var answer struct {
		Status string
		Data   json.RawMessage
	}
	if response.StatusCode == http.StatusServiceUnavailable {
		return false // it starts
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.Status != "success" {
		t.Fatalf("%s: %s", url, body)
	}
	check.OK(t, json.Unmarshal(answer.Data, data))
	return true
}

// series counts the numbers that Prometheus at the URL answers to an expression.
func (p *program) series(t *testing.T, prometheus, expression string) (n int) {
	t.Helper()
	var data struct{ Result []struct{ Value [2]any } }
	p.get(t, prometheus+"/api/v1/query?"+url.Values{"query": {expression}}.Encode(), &data)
	for _, r := range data.Result {
		text, _ := r.Value[1].(string)
		if _, err := strconv.ParseFloat(text, 64); err == nil && text != "NaN" {
			n++
		}
	}
	return n
}

func TestPrometheusAnswersTheExpressionsOfTheDashboardAndTheAlerts(t *testing.T) {
	text, err := os.ReadFile("dashboard.json")
	check.OK(t, err)
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	check.OK(t, json.Unmarshal(text, &dashboard))

	p := start(t, 0, time.Minute)
	for form, flags := range map[string][]string{"native": {"--enable-feature=native-histograms"}, "classic": nil} {
		t.Run(form, func(t *testing.T) {
			prometheus := startPrometheus(t, p.address, flags...)
			deadline := time.Now().Add(25 * time.Second)
			for _, panel := range dashboard.Panels {
				for _, target := range panel.Targets {
					expression := strings.NewReplacer("$pool", ".*", "$__rate_interval", "10s").Replace(target.Expr)
					for p.series(t, prometheus, expression) == 0 {
						if time.Now().After(deadline) {
							t.Fatalf("%s: no data for %s", panel.Title, expression)
						}
						time.Sleep(100 * time.Millisecond)
					}
				}
			}
			check.Equal(t, "there is the classic form", p.series(t, prometheus, "weir_pool_run_seconds_bucket") > 0, form == "classic")

			var alerts struct {
				Groups []struct {
					Rules []struct{ Name, Query, Health, LastError string }
				}
			}
			p.get(t, prometheus+"/api/v1/rules", &alerts)
			for _, rule := range alerts.Groups[0].Rules {
				check.Equal(t, rule.Name+" is evaluated: "+rule.LastError, rule.Health, "ok")
				if rule.Name == "WeirPoolStuck" || rule.Name == "WeirTasksWaitLong" {
					check.Equal(t, rule.Name+" for a shop at work", p.series(t, prometheus, rule.Query), 0)
				}
			}
			check.Equal(t, "rules", len(alerts.Groups[0].Rules), 5)
		})
	}
	p.stop()
	check.OK(t, <-p.ended)
}
