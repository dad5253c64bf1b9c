package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirprom"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", name))
	check.OK(t, err)
	return string(text)
}

func TestTheFilesAreWhatTheGeneratorWrites(t *testing.T) {
	for name, text := range files() {
		if read(t, name) != string(text) {
			t.Errorf("%s is out of date: run go generate in the folder of the example", name)
		}
	}
}

func TestEveryMetricOfTheExpressionsIsExported(t *testing.T) {
	var known []string
	for _, m := range weirprom.Metrics() {
		known = append(known, m.Name)
		if m.Type == "histogram" {
			known = append(known, m.Name+"_bucket")
		}
	}
	for name, least := range map[string]int{"dashboard.json": len(panels) + 1, "alerts.yml": len(rules)} {
		named := regexp.MustCompile(`\bweir_\w+`).FindAllString(read(t, name), -1)
		if len(named) < least {
			t.Errorf("%s names only %d metrics", name, len(named))
		}
		for _, metric := range named {
			if !slices.Contains(known, metric) {
				t.Errorf("%s names the metric %s, which weirprom does not export", name, metric)
			}
		}
	}
}

func TestAMetricThatIsNotExportedEndsTheGenerator(t *testing.T) {
	check.Panics(t, "dashboard: metric must be one of weirprom.Metrics, got weir_pool_color", func() { named("%s > 0", "weir_pool_color") })
}

func TestEveryPanelHasAnExpressionAndAPlaceOfItsOwn(t *testing.T) {
	var d struct {
		Panels []struct {
			Title, Description string
			GridPos            struct{ X, Y, W, H int }
			Targets            []struct{ Expr, LegendFormat string }
		}
	}
	check.OK(t, json.Unmarshal([]byte(read(t, "dashboard.json")), &d))
	check.Equal(t, "panels", len(d.Panels), len(panels))
	for i, p := range d.Panels {
		check.Equal(t, p.Title+": width of the dashboard is kept", p.GridPos.X+p.GridPos.W <= 24, true)
		for _, q := range d.Panels[:i] {
			apart := p.GridPos.X >= q.GridPos.X+q.GridPos.W || p.GridPos.X+p.GridPos.W <= q.GridPos.X || p.GridPos.Y >= q.GridPos.Y+q.GridPos.H
			check.Equal(t, p.Title+" and "+q.Title+" are apart", apart, true)
			check.Equal(t, p.Title+" and "+q.Title+" differ", p.Title != q.Title, true)
		}
		check.Equal(t, p.Title+" has expressions", len(p.Targets) > 0, true)
		for _, target := range p.Targets {
			pool := strings.Contains(target.Expr, "weir_pool_")
			check.Equal(t, target.Expr+" is of the chosen pools", strings.Contains(target.Expr, `{pool=~"$pool"}`), pool)
		}
		if p.Description == "" {
			t.Errorf("%s has no description", p.Title)
		}
	}
}
