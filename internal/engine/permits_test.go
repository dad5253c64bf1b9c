package engine_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/64ed045f/weir/internal/engine"
)

func TestPermitsNeverExceedWhatIsAllowed(t *testing.T) {
	var p engine.Permits
	const allowed = 3
	p.Allow(allowed)
	var inside, searching atomic.Int64
	rounds := 20_000
	if testing.Short() {
		rounds = 500
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for range rounds {
				holdsToken := false
				if g%2 == 0 {
					if !p.TryWake() {
						runtime.Gosched()
						continue
					}
					holdsToken = true
				} else if !p.TryEnter() {
					runtime.Gosched()
					continue
				}
				if n := inside.Add(1); n > allowed {
					t.Errorf("%d workers hold one of %d permits", n, allowed)
				}
				if holdsToken {
					if n := searching.Add(1); n > 1 {
						t.Errorf("%d workers hold the token", n)
					}
					searching.Add(-1)
					if g%3 == 0 {
						p.EndSearch()
						holdsToken = false
					}
				}
				inside.Add(-1)
				p.Leave(holdsToken)
			}
		})
	}
	wg.Wait()
	if p.Active() != 0 || p.Searching() {
		t.Errorf("at rest: %d active, searching %v", p.Active(), p.Searching())
	}
}

func TestPermitsLoweredBelowTheActive(t *testing.T) {
	var p engine.Permits
	p.Allow(3)
	for range 3 {
		if !p.TryEnter() {
			t.Fatal("no permit below what is allowed")
		}
	}
	p.Allow(1)
	if !p.Over() || p.TryEnter() || p.TryWake() {
		t.Error("with 3 active and 1 allowed: not over, or a fourth was let in")
	}
	p.Leave(false)
	p.Leave(false)
	if p.Over() || p.TryEnter() {
		t.Error("with 1 active and 1 allowed: over, or a second was let in")
	}
}
