package engine_test

import (
	"math"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/internal/engine"
)

// blocking returns an engine whose tasks last until release is closed.
func blocking(limit, queue int) (e *engine.Engine, release chan struct{}) {
	release = make(chan struct{})
	return engine.New(engine.Config{
		Limit: limit, Queue: queue, MaxWaiting: 1, IdleTimeout: time.Minute,
		Runner: engine.Run(func(*engine.Worker, engine.Task) { <-release }),
	}), release
}

// A submitter hands a long task over to a worker, whether one is idle or not, while at least two processors have none.
func TestLongTasksAreHandedOverUntilProcessorsAreInUse(t *testing.T) {
	check.Bubble(t, "on a clock on which none begins late", longTasksAreHandedOver)
}

func longTasksAreHandedOver(t *testing.T) {
	const procs = 3
	release := make(chan struct{})
	e := engine.New(engine.Config{
		Limit: 9, Queue: 9, MaxWaiting: 1, IdleTimeout: time.Minute, Measure: 1, AtOnce: procs,
		Runner: engine.Run(func(_ *engine.Worker, task engine.Task) {
			if task.N > 0 {
				<-release
			}
		}),
	})
	e.TasksTake(time.Millisecond)
	e.Submit(engine.Task{}, nil)
	e.Wait(nil)
	for i := range procs - 1 {
		e.Submit(engine.Task{N: i + 1}, nil)
		check.Equal(t, "queued tasks", e.Stats().Queued, 0)
	}
	close(release)
	e.Close()
}

// Where other goroutines have the processors, a task that is handed over waits for one, however many workers are free.
func TestNoTaskIsHandedOverForAWhileAfterOneThatBeganLate(t *testing.T) {
	check.Bubble(t, "one that waits", func(t *testing.T) {
		e := engine.New(engine.Config{
			Limit: 9, Queue: 9, MaxWaiting: 1, IdleTimeout: time.Minute, Measure: 1, AtOnce: 3,
			Runner: engine.Run(func(*engine.Worker, engine.Task) {}),
		})
		defer e.Close()
		e.TasksTake(0)
		e.Pause()
		e.Submit(engine.Task{}, nil)
		check.Equal(t, "handed over, and how long it takes is not known", e.Spreads(), false)
		e.TasksTake(time.Microsecond)
		check.Equal(t, "a short one is handed over", e.Spreads(), false)
		e.TasksTake(time.Millisecond)
		time.Sleep(time.Millisecond)
		e.BeginsLate(time.Millisecond)
		check.Equal(t, "a long one is handed over", e.Spreads(), true)
		time.Sleep(time.Second)
		e.BeginsLate(2 * time.Millisecond)
		check.Equal(t, "one is handed over after one that began late", e.Spreads(), false)
		time.Sleep(200 * time.Millisecond)
		check.Equal(t, "one is handed over later", e.Spreads(), true)
	})
}

func TestARefusalCostsTheSameHoweverManyWork(t *testing.T) {
	check.Flat(t, 500, func(n int) (f, end func()) {
		e, release := blocking(n, 0)
		for i := range n {
			e.Submit(engine.Task{N: i}, nil)
		}
		e.TrySubmit(engine.Task{N: n}, nil) // looks at each of them, once
		return func() {
				for range 100 {
					if verdict := e.TrySubmit(engine.Task{N: n}, nil); verdict != engine.Full {
						t.Fatalf("verdict %d", verdict)
					}
				}
			}, func() {
				close(release)
				e.Close()
			}
	})
}

// A worker takes a task, a Wait asks it to report, and is given up, and the worker reports.
func TestWaitCostsTheSameHoweverManyWaitAndWork(t *testing.T) {
	enough := make(chan struct{})
	close(enough)
	check.Flat(t, 1000, func(n int) (f, end func()) {
		release, runs, goOn := make(chan struct{}), make(chan struct{}), make(chan struct{})
		e := engine.New(engine.Config{
			Limit: n + 1, Queue: math.MaxInt, MaxWaiting: 1, IdleTimeout: time.Minute,
			Runner: engine.Run(func(_ *engine.Worker, task engine.Task) {
				if task.N < n {
					<-release
					return
				}
				runs <- struct{}{}
				<-goOn
			}),
		})
		waits := inWait(e, n)
		return func() {
				for range 20 {
					e.Submit(engine.Task{N: n}, nil)
					<-runs
					if e.Wait(enough) {
						t.Fatal("Wait returns before the tasks are over")
					}
					goOn <- struct{}{}
				}
			}, func() {
				close(release)
				waits.Wait()
				e.Close()
			}
	})
}

// inWait has n tasks submitted, and begins a Wait after each.
func inWait(e *engine.Engine, n int) *sync.WaitGroup {
	var waits sync.WaitGroup
	for i := range n {
		e.Submit(engine.Task{N: i}, nil)
		waits.Go(func() { e.Wait(nil) })
		runtime.Gosched()
	}
	for e.Waits() < n {
		runtime.Gosched()
	}
	return &waits
}
