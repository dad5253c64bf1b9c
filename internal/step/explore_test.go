package step_test

import (
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/64ed045f/weir/internal/step"
)

func explore(name string, how step.Search, body func(r *step.Run)) step.Result {
	s := step.Scene{Name: name, Body: body}
	return s.Explore(how)
}

// fails explores a scene that must fail, replays its schedule, and returns the failure.
func fails(t *testing.T, how step.Search, message string, body func(r *step.Run)) *step.Failure {
	t.Helper()
	s := step.Scene{Name: t.Name(), Body: body}
	f := s.Explore(how).Failure
	if f == nil || !strings.Contains(f.Message, message) {
		t.Fatalf("the failure is %+v, want one that says %q", f, message)
	}
	_, again, err := s.Replay(f.Schedule)
	if err != nil || again == nil || again.Message != f.Message || !slices.Equal(again.Trace, f.Trace) {
		t.Fatalf("schedule %s fails with %+v, %v, want %+v", f.Schedule, again, err, f)
	}
	return f
}

func passes(t *testing.T, how step.Search, body func(r *step.Run)) {
	t.Helper()
	if f := explore(t.Name(), how, body).Failure; f != nil {
		t.Errorf("unexpected failure: %s\n%s", f.Message, strings.Join(f.Trace, "\n"))
	}
}

// Two goroutines of two steps each have six interleavings, by as many preemptions.
func TestEveryInterleavingIsVisited(t *testing.T) {
	want := []string{"aabb", "bbaa", "abba", "baab", "abab", "baba"}
	for bound, n := range []int{2, 4, 6, 6} {
		seen := map[string]bool{}
		explore(t.Name(), step.Search{Bound: bound}, func(r *step.Run) {
			order := ""
			for _, letter := range []string{"a", "b"} {
				r.Go(letter, func() {
					for range 2 {
						r.Point()
						order += letter
					}
				})
			}
			r.Join()
			seen[order] = true
		})
		got, first := slices.Sorted(maps.Keys(seen)), slices.Sorted(slices.Values(want[:n]))
		if !slices.Equal(got, first) {
			t.Errorf("with at most %d preemptions: %v, want %v", bound, got, first)
		}
	}
}

func TestALostUpdateIsFoundWithOnePreemption(t *testing.T) {
	racy := func(r *step.Run) {
		var n step.Int64
		for range 2 {
			r.Go("adder", func() { n.Store(n.Load() + 1) })
		}
		r.Join()
		r.Check(n.Load() == 2, "the counter is %d", n.Load())
	}
	f := fails(t, step.Search{Bound: 3}, "the counter is 1", racy)
	if f.Preemptions != 1 {
		t.Errorf("found with %d preemptions", f.Preemptions)
	}
	passes(t, step.Search{Bound: 0}, racy)
	passes(t, step.Search{Bound: 3}, func(r *step.Run) {
		var n step.Int64
		for range 2 {
			r.Go("adder", func() { n.Add(1) })
		}
		r.Join()
		r.Check(n.Load() == 2, "the counter is %d", n.Load())
	})
}

func TestLocksInOppositeOrderDeadlock(t *testing.T) {
	f := fails(t, step.Search{Bound: 1}, "deadlock", func(r *step.Run) {
		var a, b step.Mutex
		both := func(first, second *step.Mutex) func() {
			return func() {
				first.Lock()
				defer first.Unlock()
				second.Lock()
				defer second.Unlock()
			}
		}
		r.Go("ab", both(&a, &b))
		r.Go("ba", both(&b, &a))
		r.Join()
	})
	for _, who := range []string{"0 scene: Join", "1 ab: Lock", "2 ba: Lock", "explore_test.go:"} {
		if !strings.Contains(f.Message, who) {
			t.Errorf("the report does not tell of %q:\n%s", who, f.Message)
		}
	}
}

func TestALostWakeUpIsFound(t *testing.T) {
	// The waiter says too late that it waits.
	wake := func(r *step.Run, early bool) {
		var asleep, work step.Bool
		bell := make(chan struct{}, 1)
		r.Go("worker", func() {
			if early {
				asleep.Store(true)
			}
			if !work.Load() {
				asleep.Store(true)
				step.Receive(bell)
			}
		})
		r.Go("producer", func() {
			work.Store(true)
			if asleep.Load() {
				step.Send(bell, struct{}{})
			}
		})
		r.Join()
	}
	fails(t, step.Search{Bound: 2}, "deadlock", func(r *step.Run) { wake(r, false) })
	passes(t, step.Search{Bound: 3}, func(r *step.Run) { wake(r, true) })
}

func TestALoopWithoutEndIsFound(t *testing.T) {
	fails(t, step.Search{}, "endless", func(*step.Run) {
		for never := new(step.Bool); !never.Load(); {
			step.Gosched()
		}
	})
}

// Each of them waits for the other two: to let two take turns forever would be unfair.
func TestLoopsThatYieldWaitForEachOther(t *testing.T) {
	passes(t, step.Search{Bound: 1}, func(r *step.Run) {
		var n step.Int64
		for range 3 {
			r.Go("waiter", func() {
				for n.Add(1); n.Load() < 3; {
					step.Gosched()
				}
			})
		}
		r.Join()
	})
}

func TestPanicsAndGoroutinesLeftBehindAreFound(t *testing.T) {
	fails(t, step.Search{}, "panic: as it wants", func(r *step.Run) {
		r.Go("panics", func() { panic("as it wants") })
	})
	fails(t, step.Search{}, "1 left: receive", func(r *step.Run) {
		r.Go("left", func() { step.Receive(make(chan struct{})) })
	})
	passes(t, step.Search{}, func(r *step.Run) {
		r.Go("exits", runtime.Goexit)
		r.Join()
	})
}

// A check at the end comes after all goroutines, even of a scene that does not wait for them.
func TestChecksAtTheEndSeeEverything(t *testing.T) {
	fails(t, step.Search{}, "two ended", func(r *step.Run) {
		var ended step.Int64
		for range 2 {
			r.Go("", func() { ended.Add(1) })
		}
		r.AtEnd(func() { r.Check(ended.Load() != 2, "two ended") })
	})
}

func TestRandomExecutionsFindWhatNeedsTwoEventsInOrder(t *testing.T) {
	f := fails(t, step.Search{Bound: -1, Random: 2000, Seed: 1, Depth: 2}, "used before it is made", func(r *step.Run) {
		var made step.Bool
		var idle step.Int64
		r.Go("maker", func() {
			for range 20 {
				idle.Add(1)
			}
			made.Store(true)
		})
		r.Go("user", func() {
			for range 10 {
				idle.Add(1)
			}
			// Only if the maker is at its last steps.
			if idle.Load() == 30 {
				r.Check(made.Load(), "used before it is made")
			}
		})
		r.Join()
	})
	if f.Seed == 0 || f.Executions < 2 {
		t.Errorf("seed %d, execution %d", f.Seed, f.Executions)
	}
}

func TestASceneThatDependsOnMoreThanItsScheduleIsReported(t *testing.T) {
	executions := 0
	f := explore(t.Name(), step.Search{}, func(r *step.Run) {
		executions++
		r.Check(executions != 1, "only the first fails")
	}).Failure
	if f == nil || !strings.Contains(f.Message, "not so in the replay") {
		t.Errorf("the failure is %+v", f)
	}
}
