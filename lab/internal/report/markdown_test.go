package report_test

import (
	"testing"

	"github.com/64ed045f/weir/lab/internal/report"
)

const readme = "# Weir\n\n<!-- lab:performance -->\nold\n<!-- /lab:performance -->\n\nrest\n"

func TestInsertReplacesAndIsIdempotent(t *testing.T) {
	const want = "# Weir\n\n<!-- lab:performance -->\n| a |\n<!-- /lab:performance -->\n\nrest\n"
	text := []byte(readme)
	for range 2 {
		var err error
		if text, err = report.Insert(text, "performance", "| a |\n"); err != nil || string(text) != want {
			t.Errorf("got %q, %v", text, err)
		}
	}
}

func TestInsertRefusesMissingOrDoubledMarkers(t *testing.T) {
	for _, c := range []struct{ readme, name, text string }{
		{readme, "behaviour", ""},
		{"<!-- lab:x -->", "x", ""},
		{"<!-- /lab:x -->", "x", ""},
		{"<!-- /lab:x --> <!-- lab:x -->", "x", ""},
		{readme + readme, "performance", ""},
		{readme + "<!-- /lab:performance -->", "performance", ""},
		{readme, "performance", "<!-- lab:performance -->"},
	} {
		if got, err := report.Insert([]byte(c.readme), c.name, c.text); err == nil {
			t.Errorf("%q: got %q", c.readme, got)
		}
	}
}
