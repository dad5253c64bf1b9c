package explore_test

import (
	"strings"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/explore"
	"github.com/64ed045f/weir/verify/internal/plant"
)

// In testdata, before.txt has each operation that the rewriter knows, and after.txt what it makes of them.
func TestTheRewriterKnowsEveryOperation(t *testing.T) {
	texts, err := explore.Rewrite(map[string]string{"p.go": plant.Text(t, "verify/explore/testdata/before.txt")})
	check.Must(t, err)
	got, want := strings.Split(texts["p.go"], "\n"), strings.Split(plant.Text(t, "verify/explore/testdata/after.txt"), "\n")
	for i := range min(len(got), len(want)) {
		if strings.TrimSpace(got[i]) != strings.TrimSpace(want[i]) {
			t.Errorf("line %d:\n%s\nwant:\n%s", i+1, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d lines, want %d", len(got), len(want))
	}
}

func TestTheRewriterRefusesWhatItDoesNotKnow(t *testing.T) {
	for name, text := range map[string]string{
		"another type of sync":      `import "sync"; var v sync.RWMutex`,
		"another type of atomic":    `import "sync/atomic"; var v atomic.Value`,
		"a function of atomic":      `import "sync/atomic"; var v = atomic.LoadInt32(nil)`,
		"another timer":             `import "time"; var v = time.After(0)`,
		"the runtime":               `import "runtime"; var v = runtime.NumGoroutine()`,
		"an unknown package":        `import "context"; var v context.Context`,
		"another name":              `import other "sync"; var v other.Mutex`,
		"no name":                   `import . "sync"; var v Mutex`,
		"range over a channel":      `func f(c chan int) { for range c { } }`,
		"a case with a call":        `func f(c func() chan int) { select { case <-c(): } }`,
		"an empty select":           `func f() { select {} }`,
		"a go statement with three": `func f(a, b, c int) { go f(a, b, c) }`,
		"a go statement with dots":  `func f(a ...int) { go f(a...) }`,
		"a declaration":             `func f(c chan int) { var v, ok = <-c; _, _ = v, ok }`,
	} {
		if _, err := explore.Rewrite(map[string]string{"p.go": "package p; " + text}); err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
	// A variable is no package, whatever its name.
	if _, err := explore.Rewrite(map[string]string{"p.go": `package p; func f(sync struct{ RWMutex int }) int { return sync.RWMutex }`}); err != nil {
		t.Error(err)
	}
}

// What a trace says of a line is true in the tree.
func TestLinesKeepTheirNumbers(t *testing.T) {
	planted, err := plant.Sources(nil)
	check.Must(t, err)
	for _, part := range explored(t) {
		sources, err := part.Sources(nil)
		check.Must(t, err)
		if len(sources) < len(planted)+2 {
			t.Fatalf("only %d files of %s", len(sources), part)
		}
		for name, text := range sources {
			if _, ok := planted[name]; ok {
				continue
			}
			if tree := plant.Text(t, name); strings.Count(text, "\n") != strings.Count(tree, "\n") {
				t.Errorf("%s has another number of lines", name)
			}
		}
	}
}
