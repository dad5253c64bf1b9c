package report_test

import (
	"testing"

	"github.com/64ed045f/weir/lab/internal/report"
)

const readme = "# Weir\n\n<!-- lab:performance -->\nold\n<!-- /lab:performance -->\n\nrest\n"

func TestInsertReplacesWhatIsBetweenTwoMarkers(t *testing.T) {
	const inserted = "# Weir\n\n<!-- lab:performance -->\n| a |\n<!-- /lab:performance -->\n\nrest\n"
	for _, c := range []struct{ page, name, text, want string }{ // want is "" for an error
		{readme, "performance", "| a |\n", inserted},
		{inserted, "performance", "| a |\n", inserted},
		{readme, "behaviour", "", ""},
		{"<!-- lab:x -->", "x", "", ""},
		{"<!-- /lab:x -->", "x", "", ""},
		{"<!-- /lab:x --> <!-- lab:x -->", "x", "", ""},
		{readme + readme, "performance", "", ""},
		{readme + "<!-- /lab:performance -->", "performance", "", ""},
		{readme, "performance", "<!-- lab:performance -->", ""},
	} {
		if got, err := report.Insert([]byte(c.page), c.name, c.text); string(got) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q: got %q, %v", c.page, got, err)
		}
	}
}
