package weir_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestRunningFindsAStuckTaskAmongShortOnes(t *testing.T) {
	const d = 10 * time.Second
	for name, test := range map[string]struct {
		measure       float64
		least, latest time.Duration // since when the task has run, after it was submitted
	}{
		"all are measured":  {1, 0, 0},
		"some are measured": {0.01, 0, 7 * time.Second},
		"none is measured":  {0, 7 * time.Second, 7 * time.Second},
	} {
		check.Bubble(t, name, func(t *testing.T) {
			p := weir.New(4, weir.Measure(test.measure))
			short := func() {
				for range 1000 {
					check.OK(t, p.Submit(nothing))
				}
				synctest.Wait()
			}
			short()
			check.Equal(t, "tasks found before the one that is stuck", len(p.Running(d)), 0)
			time.Sleep(3 * time.Second)
			begin := time.Now()
			release := make(chan struct{})
			check.OK(t, p.Submit(func() { <-release }))
			short()
			time.Sleep(7 * time.Second)
			check.Equal(t, "tasks found too early", len(p.Running(d)), 0)
			short()
			time.Sleep(d)
			found := p.Running(d)
			check.Equal(t, "tasks found", len(found), 1)
			if since := found[0].Since.Sub(begin); since < test.least || since > test.latest {
				t.Errorf("it has run since %v after its begin", since)
			}
			check.Equal(t, "waits", found[0].Waits, "")
			close(release)
			synctest.Wait()
			check.Equal(t, "tasks found afterwards", len(p.Running(0)), 0)
			p.Close()
			check.Equal(t, "tasks found in a closed pool", len(p.Running(0)), 0)
		})
	}
}

func TestRunningFindsAStuckTaskHoweverOftenOneLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(4, weir.Measure(0))
		v := block(t, p, 1)
		begin := time.Now()
		for range 1000 {
			for _, r := range p.Running(time.Hour) {
				if since := r.Since.Sub(begin); since > time.Minute {
					t.Errorf("it has run since %v, as it seems", since)
				}
			}
			time.Sleep(time.Minute)
		}
		check.Equal(t, "tasks found", len(p.Running(time.Hour)), 1)
		v.Open()
		p.Close()
	})
}

func TestRunningFindsAStuckTaskWhileOthersLookMoreOften(t *testing.T) {
	const d = time.Minute
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(4, weir.Measure(0))
		check.OK(t, p.Submit(nothing))
		synctest.Wait()
		p.Running(0)
		time.Sleep(time.Second)
		v := block(t, p, 1)
		for i := range 3600 {
			time.Sleep(time.Second)
			p.Running(0)
			if i%60 == 59 && i > 120 {
				check.Equal(t, "tasks found", len(p.Running(d)), 1)
			}
		}
		v.Open()
		p.Close()
	})
}

func TestAFutureThatStartsOutOfTurnIsMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Measure(1))
		outer := weir.Async(t.Context(), p, func(ctx context.Context) (int, error) {
			return weir.Async(ctx, p, func(context.Context) (int, error) {
				time.Sleep(time.Minute)
				return 1, nil
			}).Get(ctx)
		})
		time.Sleep(time.Second)
		check.Equal(t, "tasks that run", len(p.Running(time.Second/2)), 2)
		_, err := outer.Get(t.Context())
		check.OK(t, err)
		p.Wait() // a future resolves before its task is measured
		check.Equal(t, "tasks measured", p.Times().Run.Count(), 2)
		p.Close()
	})
}

func TestRunningTellsWhichTasksWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Name("mail"), weir.Measure(1))
		release := make(chan struct{})
		time.Sleep(time.Second)
		go func() {
			check.OK(t, p.Do(weir.Label(t.Context(), "outer"), func(ctx context.Context) error {
				g := p.Group(weir.Label(ctx, "inner"))
				g.Go(func(context.Context) error {
					<-release
					return nil
				})
				return g.Wait()
			}))
		}()
		synctest.Wait()
		time.Sleep(time.Second)
		got := ""
		for _, r := range p.Running(time.Second) {
			got += fmt.Sprintf("%s %s %q\n", r.Pool, r.Label, r.Waits)
		}
		check.Equal(t, "tasks", got, "mail outer \"group\"\nmail inner \"\"\n")
		close(release)
		p.Close()
	})
}

func TestRunningTellsWhatATaskWaitsForItself(t *testing.T) {
	weir.Watch()
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Measure(1))
		v := check.NewValve()
		check.OK(t, p.Go(weir.Label(t.Context(), "outer"), func(ctx context.Context) error {
			g := weir.NewGroup(ctx, 1) // not of the pool, though its task waits for one of the pool
			g.Go(func(ctx context.Context) error {
				_, err := weir.Async(weir.Label(ctx, "inner"), p, func(context.Context) (int, error) { return 0, v.Try() }).Get(ctx)
				return err
			})
			return g.Wait()
		}))
		synctest.Wait()
		waits := map[string]string{}
		for _, r := range p.Running(0) {
			waits[r.Label] = r.Waits
		}
		check.Equal(t, "what they wait for", fmt.Sprint(waits), "map[inner: outer:other]")
		v.Open()
		p.Close()
	})
}

func stuckInOne(release <-chan struct{}) { <-release }

func stuckInOther(release <-chan struct{}) { <-release }

// Also where the workers have no labels of the pool's.
func TestTheFirstTaskOfAWorkerIsFound(t *testing.T) {
	weir.Watch()
	release := make(chan struct{})
	one := weir.New(2)
	call := weir.NewFunc(2, stuckInOne)
	value := weir.NewStateful(2, func() (int, error) { return 0, nil }, func(_ int, release <-chan struct{}) { stuckInOne(release) }, nil)
	check.OK(t, one.Submit(func() { stuckInOne(release) }))
	check.OK(t, call.Invoke(release))
	check.OK(t, value.Invoke(release))
	for name, running := range map[string]func(time.Duration) []weir.Running{"Pool": one.Running, "FuncPool": call.Running, "Stateful": value.Running} {
		var stack string
		eventually(t, name+" has a task with one stack", func() bool {
			for _, r := range running(0) {
				stack = r.Stack()
			}
			return (check.Race || strings.Contains(stack, "weir_test.stuckInOne")) && stack != "" && !strings.Contains(stack, "\n\n")
		})
	}
	close(release)
	one.Close()
	call.Close()
	value.Close()
}

func TestAStuckTaskShowsItsStack(t *testing.T) {
	for _, opts := range [][]weir.Option{nil, {weir.Name("stuck")}} {
		p := weir.New(4, opts...)
		release := make(chan struct{})
		submit := func(label string, task func(<-chan struct{})) {
			weir.Async(weir.Label(t.Context(), label), p, func(context.Context) (struct{}, error) {
				task(release)
				return struct{}{}, nil
			})
		}
		check.Equal(t, "tasks before the first", len(p.Running(0)), 0)
		submit("one", stuckInOne)
		submit("other", stuckInOther)
		check.OK(t, p.Submit(func() { stuckInOne(release) }))
		stacks := func() map[string]string {
			list := map[string]string{}
			for _, r := range p.Running(0) {
				list[r.Label] = r.Stack()
			}
			return list
		}
		eventually(t, "all are where they stay", func() bool {
			stuck := 0
			for _, stack := range stacks() {
				if check.Race || strings.Contains(stack, "weir_test.stuckIn") {
					stuck++
				}
			}
			return stuck == 3
		})
		for label, stack := range stacks() {
			own, others := "weir_test.stuckInOne\n", "weir_test.stuckInOther\n"
			if label == "other" {
				own, others = others, own
			}
			if check.Race { // the task runs on another goroutine than its worker's
				check.Equal(t, "there is a stack", stack != "", true)
				continue
			}
			if !strings.Contains(stack, own) || strings.Contains(stack, others) || strings.Contains(stack, "internal/engine") {
				t.Errorf("the stack of %q is\n%s", label, stack)
			}
		}
		found := p.Running(0)
		for i, line := range weir.Lines(found) {
			want := map[string]string{"one": "weir_test.stuckInOne (running_test.go:", "other": "weir_test.stuckInOther (running_test.go:"}[found[i].Label]
			if !check.Race && !strings.Contains(line, want) {
				t.Errorf("the task %q is at %s", found[i].Label, line)
			}
		}
		close(release)
		p.Close()
		check.Equal(t, "stack of a task that has ended", found[0].Stack(), "")
		check.Equal(t, "where it is", weir.Lines(found)[0], "")
	}
	check.Equal(t, "stack of none", weir.Running{}.Stack(), "")
	check.Equal(t, "where none is", weir.Lines([]weir.Running{{}})[0], "")
}

func TestOneMayLookAtAnyTime(t *testing.T) {
	for range check.Scale(200, 20) {
		p := weir.New(8)
		var users sync.WaitGroup
		users.Go(func() {
			for range 200 {
				_ = p.TrySubmit(nothing)
			}
		})
		users.Go(func() {
			for n := range 20 {
				p.Resize(1 + n%8)
			}
		})
		users.Go(func() {
			for range 20 {
				for _, r := range p.Running(0) {
					_ = r.Stack()
				}
			}
		})
		users.Wait()
		p.Close()
	}
}

func TestANegativeTimeIsRefused(t *testing.T) {
	check.Panics(t, "weir: time of running tasks must be at least 0, got -1s", func() { weir.New(1).Running(-time.Second) })
}

// The clock of a bubble, and that of some systems, tells two tasks the same time.
func TestStackIsNotThatOfATaskThatBeganAtTheSameReadingOfTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Measure(1))
		time.Sleep(time.Second)
		var found []weir.Running
		check.OK(t, p.Submit(func() { found = p.Running(0) }))
		v := check.NewValve()
		check.OK(t, p.Submit(v.Hold))
		synctest.Wait()
		check.Equal(t, "tasks found", len(found), 1)
		check.Equal(t, "stack of a task that is over", found[0].Stack(), "")
		v.Open()
		p.Close()
	})
}
