package step_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/internal/step"
)

// program has three goroutines which do random things to the same words, sometimes under a
// lock, and returns what they have seen.
func program(seed uint64) func(r *step.Run) string {
	return func(r *step.Run) string {
		random := rand.New(rand.NewPCG(seed, 0))
		var (
			words [2]step.Uint64
			lock  step.Mutex
			saw   [3][]uint64
			noted []int
			bell  = make(chan uint64, 8)
		)
		for g := range saw {
			see := func(v uint64) { saw[g] = append(saw[g], v) }
			var does []func()
			for range 2 + random.IntN(3) {
				word, v := &words[random.IntN(2)], uint64(1+random.IntN(2))
				does = append(does, []func(){
					func() { see(word.Load()) },
					func() { word.Store(v) },
					func() { see(word.Add(v)) },
					func() { see(word.Or(v)) },
					func() {
						if word.CompareAndSwap(v, v+1) {
							see(v)
						}
					},
					func() {
						lock.Lock()
						see(word.Load())
						word.Store(v)
						lock.Unlock()
					},
					func() {
						r.Note()
						noted = append(noted, g)
					},
					func() {
						step.Send(bell, v)
						see(word.Load())
					},
					func() {
						if step.SelectDefault(step.From(bell)) == 0 {
							see(<-bell)
						}
					},
					step.Gosched,
				}[random.IntN(10)])
			}
			r.Go("", func() {
				for _, do := range does {
					do()
				}
			})
		}
		r.Join()
		return fmt.Sprint(saw, noted, words[0].Load(), words[1].Load(), len(bell))
	}
}

// What is given up comes to the same as what is visited: no outcome is lost, with any number
// of preemptions.
func TestNoOutcomeIsGivenUp(t *testing.T) {
	visited, givenUp := 0, 0
	for seed := range uint64(check.Scale(60, 5)) {
		body := program(seed)
		for bound := range 3 {
			collect := func(whole bool) []string {
				seen := map[string]bool{}
				result := explore(t.Name(), step.Search{Bound: bound, Whole: whole}, func(r *step.Run) { seen[body(r)] = true })
				visited += result.Executions
				givenUp += result.GivenUp
				return slices.Sorted(maps.Keys(seen))
			}
			all, some := collect(true), collect(false)
			if !slices.Equal(all, some) {
				t.Fatalf("program %d, %d preemptions: %d outcomes of %d", seed, bound, len(some), len(all))
			}
		}
	}
	if givenUp < visited/20 {
		t.Errorf("only %d of %d executions were given up", givenUp, visited)
	}
	t.Logf("%d executions, %d given up", visited, givenUp)
}

// In each of these, only a goroutine that is preempted before it reads a word of its own lets the others
// see what it has done, and not what it does after that, which is no step.
func TestWhatIsNoStepCanTell(t *testing.T) {
	type shared struct {
		r    *step.Run
		lock step.Mutex
		bell chan struct{}
		note bool
	}
	for name, scene := range map[string]struct {
		before, after func(s *shared)
		seen          func(s *shared) bool // what after does
	}{
		"note": {
			after: func(s *shared) { s.r.Note(); s.note = true },
			seen:  func(s *shared) bool { s.r.Note(); return s.note },
		},
		"unlock": {
			before: func(s *shared) { s.lock.Lock() },
			after:  func(s *shared) { s.lock.Unlock() },
			seen: func(s *shared) bool {
				free := s.lock.TryLock()
				if free {
					s.lock.Unlock()
				}
				return free
			},
		},
		"send": {
			after: func(s *shared) { step.Send(s.bell, struct{}{}) },
			seen:  func(s *shared) bool { return step.SelectDefault(step.From(s.bell)) == 0 },
		},
		"receive": {
			before: func(s *shared) { step.Send(s.bell, struct{}{}) },
			after:  func(s *shared) { step.Receive(s.bell) },
			seen:   func(s *shared) bool { return step.SelectDefault(step.To(s.bell)) == 0 },
		},
	} {
		seen := outcomes(t, step.Scene{}, step.Search{Bound: 1}, func(r *step.Run, note func(string)) {
			s := &shared{r: r, bell: make(chan struct{}, 1)}
			var begun, own step.Bool
			r.Go("does", func() {
				if scene.before != nil {
					scene.before(s)
				}
				begun.Store(true)
				own.Load()
				scene.after(s)
				own.Load()
			})
			saw := ""
			r.Go("sees", func() { saw = fmt.Sprint(begun.Load(), scene.seen(s)) })
			r.Join()
			note(saw) // of an execution that is not given up
		})
		if !slices.Contains(seen, "true false") {
			t.Errorf("%s: no goroutine has come in between, there is only %v", name, seen)
		}
	}
}
