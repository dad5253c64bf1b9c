package reuse_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

// children are what the test binary does when it is run by child.
var children = map[string]func(){
	"use after Put": func() {
		t := &recorder{}
		reuse.Check(t)
		p := reuse.Pool[*request]{New: newRequest} // without Reset: only the poison is written
		r := p.Get()
		done := make(chan struct{})
		go func() {
			defer close(done)
			readsAfterPut(r)
		}()
		p.Put(r)
		<-done
	},
}

//go:noinline
func readsAfterPut(r *request) {
	if r.id == 1 {
		fmt.Fprintln(os.Stderr, "the number was 1")
	}
}

func TestTheRaceDetectorSeesUseAfterPut(t *testing.T) {
	if !check.Race {
		t.Skip("there is no race detector")
	}
	out, err := check.Child(t, "use after Put")
	if err == nil || !strings.Contains(out, "DATA RACE") || !strings.Contains(out, "reuse_test.readsAfterPut") {
		t.Errorf("%v, and no report of what uses the object:\n%s", err, out)
	}
}
