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

// least is the time that f takes at least: a machine with other things to do only adds to it.
func least(rounds int, f func()) time.Duration {
	least := time.Duration(math.MaxInt64)
	for range rounds {
		begin := time.Now()
		f()
		least = min(least, time.Since(begin))
	}
	return least
}

// staysFlat fails the test if what f does costs much more in a world of 32n than in one of n. A cost that
// grows with that number would be 32 times as much, so there is a factor of four to either side.
func staysFlat(t *testing.T, n int, world func(n int) (f, end func())) {
	t.Helper()
	if check.Race {
		t.Skip("the race detector is slow, and knows at most 8128 goroutines")
	}
	var took [2]time.Duration
	for i, n := range []int{n, 32 * n} {
		f, end := world(n)
		took[i] = least(30, f)
		end()
	}
	t.Logf("%d: %v, %d: %v", n, took[0], 32*n, took[1])
	if took[1] > 8*took[0] {
		t.Errorf("costs %.1f times as much beside %d as beside %d", float64(took[1])/float64(took[0]), 32*n, n)
	}
}

// blocking returns an engine whose tasks last until release is closed.
func blocking(limit, queue int) (e *engine.Engine[int], release chan struct{}) {
	release = make(chan struct{})
	return engine.New(engine.Config[int]{
		Limit: limit, Queue: queue, MaxWaiting: 1, IdleTimeout: time.Minute,
		Begin:  func() {},
		Run:    func(*engine.Worker, int) { <-release },
		Broken: func(*engine.Worker, int, any) {},
	}), release
}

func TestARefusalCostsTheSameHoweverManyWork(t *testing.T) {
	staysFlat(t, 500, func(n int) (f, end func()) {
		e, release := blocking(n, 0)
		for i := range n {
			e.Submit(i, nil)
		}
		e.TrySubmit(n) // looks at each of them, once
		return func() {
				for range 100 {
					if verdict := e.TrySubmit(n); verdict != engine.Full {
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
	staysFlat(t, 1000, func(n int) (f, end func()) {
		release, runs, goOn := make(chan struct{}), make(chan struct{}), make(chan struct{})
		e := engine.New(engine.Config[int]{
			Limit: n + 1, Queue: math.MaxInt, MaxWaiting: 1, IdleTimeout: time.Minute,
			Begin: func() {},
			Run: func(_ *engine.Worker, task int) {
				if task < n {
					<-release
					return
				}
				runs <- struct{}{}
				<-goOn
			},
			Broken: func(*engine.Worker, int, any) {},
		})
		waits := inWait(e, n)
		return func() {
				for range 20 {
					e.Submit(n, nil)
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
func inWait(e *engine.Engine[int], n int) *sync.WaitGroup {
	var waits sync.WaitGroup
	for i := range n {
		e.Submit(i, nil)
		waits.Go(func() { e.Wait(nil) })
		runtime.Gosched()
	}
	for e.Waits() < n {
		runtime.Gosched()
	}
	return &waits
}
