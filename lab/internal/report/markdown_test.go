package report_test

import (
	"errors"
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
	for _, c := range []struct {
		readme, name, text string
		want               error
	}{
		{readme, "behaviour", "", report.ErrNoMarker},
		{"<!-- lab:x -->", "x", "", report.ErrNoMarker},
		{"<!-- /lab:x -->", "x", "", report.ErrNoMarker},
		{"<!-- /lab:x --> <!-- lab:x -->", "x", "", report.ErrNoMarker},
		{readme + readme, "performance", "", report.ErrDoubleMarker},
		{readme + "<!-- /lab:performance -->", "performance", "", report.ErrDoubleMarker},
		{readme, "performance", "<!-- lab:performance -->", report.ErrDoubleMarker},
	} {
		if got, err := report.Insert([]byte(c.readme), c.name, c.text); !errors.Is(err, c.want) {
			t.Errorf("%q: got %q, %v", c.readme, got, err)
		}
	}
}
