// Command dashboard writes dashboard.json, for Grafana, and alerts.yml, for Prometheus, into the current
// folder. It makes both from the table of metrics of package weirprom. It fails at the name of a metric that
// is not in the table.
package main

import (
	"fmt"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/64ed045f/weir/weirprom"
)

func main() {
	for name, text := range files() {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// files returns the files that the program writes.
func files() map[string][]byte {
	return map[string][]byte{"dashboard.json": dashboard(), "alerts.yml": alerts()}
}

// metric returns the metric with that name.
func metric(name string) weirprom.Metric {
	all := weirprom.Metrics()
	i := slices.IndexFunc(all, func(m weirprom.Metric) bool { return m.Name == name })
	if i < 0 {
		panic("dashboard: metric must be one of weirprom.Metrics, got " + name)
	}
	return all[i]
}

// quantile returns the expression for a quantile of a histogram over the window. The expression uses the
// native form if Prometheus scrapes it, and the classic form otherwise. by are the labels that distinguish
// series; without any, all labels do.
func quantile(q float64, name, selector, window string, by ...string) string {
	name = metric(name).Name
	of := func(name string, by ...string) string {
		rate := fmt.Sprintf("rate(%s%s[%s])", name, selector, window)
		if len(by) > 0 {
			rate = fmt.Sprintf("sum by (%s) (%s)", strings.Join(by, ", "), rate)
		}
		return fmt.Sprintf("histogram_quantile(%v, %s)", q, rate)
	}
	classic := by
	if len(by) > 0 {
		classic = append(slices.Clone(by), "le")
	}
	return of(name, by...) + " or " + of(name+"_bucket", classic...)
}
