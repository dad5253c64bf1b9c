package engine_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/engine"
)

// A submitter waits behind a goroutine that computes once, not each time.
func TestASlowYieldIsTheLastForAWhile(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	release := make(chan struct{})
	e := engine.New(engine.Config{
		Limit: 1, Queue: 2, MaxWaiting: 1, IdleTimeout: time.Minute,
		Runner: engine.Run(func(*engine.Worker, engine.Task) { <-release }),
	})
	for i := range 3 {
		if verdict := e.Submit(engine.Task{N: i}, nil); verdict != engine.Accepted {
			t.Fatalf("verdict %d", verdict)
		}
	}
	e.Unhurry() // the last of them may have waited long until the first was taken
	computed := make(chan struct{})
	go func() {
		for begin := time.Now(); time.Since(begin) < 2*time.Millisecond; {
			runtime.KeepAlive(begin)
		}
		close(computed)
	}()
	yields, over := 0, false
	for !over && e.Yield() {
		yields++
		select {
		case <-computed:
			over = true
		default:
		}
	}
	if yields == 0 {
		t.Error("a submitter does not yield at all")
	}
	if e.HurriedUntil() == 0 {
		t.Error("a slow yield is not noted")
	}
	for range 8 {
		if e.Yield() && e.Clock() < e.HurriedUntil() {
			t.Error("a submitter yields again after a slow yield")
		}
	}
	close(release)
	e.Close()
}

// A gate that stays closed is no mistake that a user sees: only all tasks take the slow way from then on.
func TestTheGatesOpenWhenNothingKeepsThemClosed(t *testing.T) {
	turn := make(chan struct{})
	e := engine.New(engine.Config{
		Limit: 1, Queue: 1, MaxWaiting: 2, IdleTimeout: time.Minute, // two wait while the worker has yet to take the first task
		Runner: engine.Run(func(*engine.Worker, engine.Task) { <-turn }),
	})
	for name, closing := range map[string]func(){
		"a submitter waits": func() {
			for i := range 3 { // one runs, one is queued, one waits for the first to end
				go func() { e.Submit(engine.Task{N: i}, nil) }()
			}
			for range 3 {
				turn <- struct{}{}
			}
		},
		"a pause": func() {
			e.Pause()
			e.Submit(engine.Task{}, nil)
			e.Resume()
			turn <- struct{}{}
		},
		"a wait": func() {
			e.Submit(engine.Task{}, nil)
			go func() { turn <- struct{}{} }()
			e.Wait(nil)
		},
	} {
		closing()
		e.Wait(nil)
		if !e.Offer(engine.Task{}) {
			t.Errorf("after %s an empty queue takes a task by the slow way alone", name)
		}
		turn <- struct{}{}
		e.Wait(nil)
	}
	close(turn)
	e.Close()
}

// A ring behind another one takes tasks by the slow way while the two might hold more than the queue may, and not for longer.
func TestANewRingTakesTasksByTheFastWayWhenTheOldOneIsNearlyEmpty(t *testing.T) {
	turn := make(chan struct{})
	e := engine.New(engine.Config{
		Limit: 1, Queue: 8000, MaxWaiting: 1, IdleTimeout: time.Minute,
		Runner: engine.Run(func(*engine.Worker, engine.Task) { <-turn }),
	})
	for i := range 6900 {
		e.Submit(engine.Task{N: i}, nil)
	}
	for range 6000 {
		turn <- struct{}{}
	}
	slow := 0
	for i := range 800 {
		if !e.Offer(engine.Task{N: i}) {
			slow++
			e.Submit(engine.Task{N: i}, nil)
		}
	}
	if slow > 1 {
		t.Errorf("%d of 800 tasks take the slow way", slow)
	}
	close(turn)
	e.Close()
}
