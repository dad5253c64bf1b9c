package programs_test

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"testing"
)

//go:embed testdata/known.json
var knownPrograms []byte

var knownTimes = flag.Int("programs.known", 200, "how often each of the known programs runs")

// TestKnownProgramsEndAsOnPlainGoroutines runs the programs of testdata/known.json, which were drawn once and have found what
// few of the drawn ones find: each has lost a task, with a mistake in it that was planted, or was not.
func TestKnownProgramsEndAsOnPlainGoroutines(t *testing.T) {
	var known []*program
	if err := json.Unmarshal(knownPrograms, &known); err != nil {
		t.Fatal(err)
	}
	for i, p := range known {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			if v := judge(p, *knownTimes); v.wrong != nil {
				t.Error(v.tell(p))
			}
		})
	}
}
