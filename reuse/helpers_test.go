package reuse_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

func TestMain(m *testing.M) { check.Main(m, children, nil) }

// request is an object as pools are for.
type request struct {
	id   int
	body []byte
}

func newRequest() *request { return &request{body: make([]byte, 0, 64)} }

func (r *request) reset() {
	r.id = 0
	r.body = r.body[:0]
}

// hit puts x and gets it again, and reports whether that worked: under the race detector a
// sync.Pool drops objects by chance, and the collector may take them any time.
func hit[T comparable](p *reuse.Pool[T], x T) bool {
	for range 1000 {
		p.Put(x)
		if p.Get() == x {
			return true
		}
	}
	return false
}

// recorder is a test that fails without consequence.
type recorder struct {
	mu       sync.Mutex
	faults   []string
	cleanups []func()
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

// end ends the test.
func (r *recorder) end() {
	for _, f := range r.cleanups {
		f()
	}
	r.cleanups = nil
}

// found returns what was reported until now, and forgets it.
func (r *recorder) found() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	faults := r.faults
	r.faults = nil
	return faults
}

// faults returns what Check reports while f runs and when that has ended.
func faults(f func()) []string {
	r := &recorder{}
	reuse.Check(r)
	func() {
		defer r.end()
		f()
	}()
	return r.found()
}

// line returns the place of the caller's line plus more, as reports have it.
func line(more int) string {
	_, file, n, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", file, n+more)
}

// wantFault fails the test unless there is one fault, with the title, that names the places.
func wantFault(t *testing.T, got []string, title string, places ...string) {
	t.Helper()
	if len(got) != 1 {
		t.Fatalf("%d faults, want 1 (%s):\n%s", len(got), title, strings.Join(got, "\n"))
	}
	first, rest, _ := strings.Cut(got[0], "\n")
	if !strings.HasPrefix(first, "reuse: "+title) {
		t.Errorf("the report is %q, want %q", first, title)
	}
	for i, place := range places {
		if i == 0 && !strings.HasSuffix(first, " at "+place) {
			t.Errorf("the first line is %q, want it to name %s", first, filepath.Base(place))
		}
		if !strings.Contains(rest, "\t\t"+place+"\n") && !strings.HasSuffix(rest, "\t\t"+place) {
			t.Errorf("the report does not name %s:\n%s", filepath.Base(place), got[0])
		}
	}
}

// wantNone fails the test if there are faults.
func wantNone(t *testing.T, got []string) {
	t.Helper()
	if len(got) > 0 {
		t.Errorf("unexpected faults:\n%s", strings.Join(got, "\n"))
	}
}
