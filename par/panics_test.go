package par_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

// firstPanic fails the test unless f panics with "first", alone or as the value of a *weir.Panic, and "second"
// was logged.
func firstPanic(t *testing.T, f func()) {
	t.Helper()
	log := check.Log(t)
	value := check.Caught(f)
	if p, ok := value.(*weir.Panic); ok {
		value = p.Value
	}
	if value != any("first") {
		t.Errorf("panicked with %v, want first", value)
	}
	if !strings.Contains(log.String(), "second") {
		t.Errorf("the other panic was not logged, only: %q", log.String())
	}
}

func TestTheFirstOfSeveralPanicsComesOut(t *testing.T) {
	check.Bubble(t, "Range, the caller first", func(t *testing.T) {
		caller, first := goroutine(), make(chan struct{})
		firstPanic(t, func() {
			par.Range(1000, func(lo, hi int) {
				time.Sleep(time.Duration(hi-lo) * time.Second)
				switch {
				case lo <= 10:
				case goroutine() == caller:
					close(first)
					panic("first")
				default:
					<-first
					synctest.Wait() // the first one waits for this one
					panic("second")
				}
			}, par.Limit(2))
		})
	})
	source := func(yield func(int) bool) {
		_ = yield(0)
		synctest.Wait() // the call waits for its context
		panic("first")
	}
	check.Bubble(t, "a sequence before a call of its loop", func(t *testing.T) {
		firstPanic(t, func() {
			_ = par.Each(t.Context(), source, func(ctx context.Context, _ int) error {
				<-ctx.Done()
				panic("second")
			}, par.Limit(2))
		})
	})
	check.Bubble(t, "a call before the sequence of its loop", func(t *testing.T) {
		firstPanic(t, func() {
			_ = par.Each(t.Context(), func(yield func(int) bool) {
				_ = yield(0)
				synctest.Wait()
				panic("second")
			}, func(context.Context, int) error { panic("first") })
		})
	})
	check.Bubble(t, "a source before a call of its stream", func(t *testing.T) {
		firstPanic(t, func() {
			for _, err := range par.Stream(t.Context(), source, func(ctx context.Context, _ int) (int, error) {
				<-ctx.Done()
				panic("second")
			}, par.Limit(2)) {
				t.Errorf("there is an item, with error %v", err)
			}
		})
	})
}

func TestAPoolGetsTheOtherPanicsOfALoop(t *testing.T) {
	for _, callerFirst := range []bool{false, true} {
		check.Bubble(t, fmt.Sprint("the caller first: ", callerFirst), func(t *testing.T) {
			var reported []any
			p := weir.New(2, weir.OnPanic(func(p *weir.Panic) { reported = append(reported, p.Value) }))
			defer p.Close()
			caller, first := goroutine(), make(chan struct{})
			value := check.Caught(func() {
				par.Range(1000, func(lo, hi int) {
					time.Sleep(time.Duration(hi-lo) * time.Second)
					switch {
					case lo == 0: // before there are helpers
					case (goroutine() == caller) == callerFirst:
						close(first)
						panic("first")
					default:
						<-first
						synctest.Wait() // the first one has panicked
						panic("second")
					}
				}, par.Limit(2), par.On(p))
			})
			if panicked, ok := value.(*weir.Panic); !ok || panicked.Value != any("first") {
				t.Errorf("panicked with %v, want first", value)
			}
			if !slices.Equal(reported, []any{"second"}) {
				t.Errorf("%v were reported, want second", reported)
			}
		})
	}
}
