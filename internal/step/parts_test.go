package step_test

import (
	"slices"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/step"
)

// outcomes are what note was given, in all executions of a scene.
func outcomes[T comparable](t *testing.T, s step.Scene, how step.Search, body func(r *step.Run, note func(T))) []T {
	t.Helper()
	var all []T
	s.Name = t.Name()
	s.Body = func(r *step.Run) {
		body(r, func(outcome T) {
			if !slices.Contains(all, outcome) {
				all = append(all, outcome)
			}
		})
	}
	if f := s.Explore(how).Failure; f != nil {
		t.Errorf("unexpected failure: %s", f.Message)
	}
	return all
}

func same[T comparable](t *testing.T, what string, got []T, want ...T) {
	t.Helper()
	missing := func(v T) bool { return !slices.Contains(got, v) }
	if len(got) != len(want) || slices.ContainsFunc(want, missing) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestTimePassesAsTheClockSays(t *testing.T) {
	race := func(r *step.Run, note func(string)) {
		var fired step.Bool
		timer := step.AfterFunc(time.Second, func() { fired.Store(true) })
		r.Point()
		r.Point()
		before := fired.Load()
		r.Settle()
		switch stopped := timer.Stop(); {
		case before:
			note("early")
		case stopped:
			note("stopped")
		default:
			note("fired")
		}
	}
	same(t, "frozen", outcomes(t, step.Scene{}, step.Search{Bound: 2}, race), "stopped")
	same(t, "when quiet", outcomes(t, step.Scene{Clock: step.WhenQuiet}, step.Search{Bound: 2}, race), "stopped")
	same(t, "at any time", outcomes(t, step.Scene{Clock: step.AtAnyTime}, step.Search{Bound: 2}, race), "stopped", "early", "fired")
}

func TestTimersFireInOrderWhenNoGoroutineCanGoOn(t *testing.T) {
	same(t, "order", outcomes(t, step.Scene{Clock: step.WhenQuiet}, step.Search{Bound: 1}, func(r *step.Run, note func(string)) {
		order := ""
		begin := step.Now()
		step.AfterFunc(2*time.Second, func() { order += "b" })
		late := step.AfterFunc(time.Hour, func() { order += "c" })
		step.AfterFunc(time.Second, func() { order += "a" })
		late.Reset(3 * time.Second)
		step.Sleep(time.Minute)
		note(order + step.Since(begin).String())
	}), "abc1m0s")
}

func TestSelectTakesEachCaseThatCanGoOn(t *testing.T) {
	same(t, "cases", outcomes(t, step.Scene{}, step.Search{Bound: 1}, func(r *step.Run, note func(int)) {
		closed, full, empty := make(chan struct{}), make(chan int, 1), make(chan int, 1)
		var none chan int
		step.Close(closed)
		step.Send(full, 1)
		note(step.Select(step.From(closed), step.To(full), step.From(full), step.From(empty), step.To(empty), step.From(none), step.To(none)))
	}), 0, 2, 4)
	same(t, "default", outcomes(t, step.Scene{}, step.Search{}, func(r *step.Run, note func(int)) {
		note(step.SelectDefault(step.From(make(chan int, 1))))
	}), -1)
	same(t, "close in between", outcomes(t, step.Scene{}, step.Search{Bound: 1}, func(r *step.Run, note func(int)) {
		over := make(chan struct{})
		r.Go("closes", func() { step.Close(over) })
		r.Point()
		note(step.SelectDefault(step.From(over)))
		r.Join()
		if _, open := step.ReceiveOK(over); open {
			note(-2)
		}
	}), -1, 0)
}

func TestChooseReturnsEachNumber(t *testing.T) {
	same(t, "numbers", outcomes(t, step.Scene{}, step.Search{}, func(r *step.Run, note func(int)) {
		note(10*r.Choose(2) + r.Choose(3))
	}), 0, 1, 2, 10, 11, 12)
}

func TestSettleWaitsUntilNoOtherGoroutineCanGoOn(t *testing.T) {
	same(t, "done before", outcomes(t, step.Scene{}, step.Search{Bound: 2}, func(r *step.Run, note func(int64)) {
		var n step.Int64
		release := make(chan struct{})
		for range 2 {
			r.Go("worker", func() {
				n.Add(1)
				step.Receive(release)
				n.Add(1)
			})
		}
		r.Settle()
		note(n.Load())
		step.Close(release)
		r.Join()
	}), 2)
}

func TestQuietlyHasOneExecution(t *testing.T) {
	quiet := func(r *step.Run) {
		r.Quietly(func() {
			for range 3 {
				r.Go("worker", func() {
					r.Point()
					step.Gosched()
				})
			}
			r.Choose(2)
			r.Join()
		})
	}
	if n := explore(t.Name(), step.Search{}, quiet).Executions; n != 1 {
		t.Errorf("%d executions", n)
	}
	three := explore(t.Name(), step.Search{}, func(r *step.Run) {
		quiet(r)
		r.Choose(3)
	})
	if three.Executions != 3 {
		t.Errorf("%d executions when a choice follows, want 3", three.Executions)
	}
}

func TestFreeBoundsTurnsThatAreNoPreemptions(t *testing.T) {
	count := func(free int) int {
		s := step.Scene{Name: t.Name(), Free: free, Body: func(r *step.Run) {
			for range 4 {
				r.Go("", func() {})
			}
			r.Join()
		}}
		return s.Explore(step.Search{}).Executions
	}
	if all, one := count(0), count(1); all != 24 || one != 1+3+2+1 {
		t.Errorf("%d orders of four goroutines, %d with one turn; want 24 and 7", all, one)
	}
}

func TestMostEndsASearch(t *testing.T) {
	body := func(r *step.Run) {
		for range 2 {
			r.Go("", func() {
				r.Point()
				r.Point()
			})
		}
		r.Join()
	}
	all := explore(t.Name(), step.Search{Bound: 2}, body)
	some := explore(t.Name(), step.Search{Bound: 2, Most: all.Executions - 1}, body)
	if all.Complete != 2 || some.Complete != 1 || some.Executions != all.Executions-1 {
		t.Errorf("%+v of %+v", some, all)
	}
}

func TestAScheduleThatDoesNotFitIsAnError(t *testing.T) {
	s := step.Scene{Name: t.Name(), Body: func(r *step.Run) { r.Point() }}
	for _, text := range []string{"", "1", "1@", "@1", "1@2.", "1@2,3@4"} {
		if _, _, err := s.Replay(text); err == nil {
			t.Errorf("%q is no error", text)
		}
	}
	if _, f, err := s.Replay("7@1"); err != nil || f == nil {
		t.Errorf("a goroutine that is not there: %v, %v", f, err)
	}
	if steps, f, err := s.Replay("0"); err != nil || f != nil || len(steps) != 2 {
		t.Errorf("the default: %q, %v, %v", steps, f, err)
	}
}
