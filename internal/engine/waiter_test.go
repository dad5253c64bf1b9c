package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/internal/engine"
)

// over is a single task that has begun.
type over struct{}

func (over) Claim() (task engine.Task, ok bool) { return task, false }

// A goroutine that the task before has left behind gives up, in the name of the one before, the place of a task that is about to go on. What waits for the
// one that goes on then does not find it there any more.
func TestATaskThatIsBackIsForgottenByThoseThatWaitForItThoughAnotherGivesUpItsPlace(t *testing.T) {
	check.Bubble(t, "", func(t *testing.T) {
		var single engine.Single
		var others engine.Subtasks
		others.Init(nil)
		var e *engine.Engine
		var host *engine.Worker
		release := make(chan struct{})
		waiter := func() *engine.Waiter { return &engine.Waiter{Turn: make(chan struct{}, 1)} }
		back, last := waiter(), waiter()
		e = engine.New(engine.Config{
			Limit: 1, Queue: 9, MaxWaiting: 1, IdleTimeout: time.Minute,
			Runner: engine.Run(func(w *engine.Worker, task engine.Task) {
				switch task.N {
				case 1:
					host = w
					e.GiveUp(back, w, &single, nil)
					<-back.Turn
				case 2:
					<-release
				case 3:
					var want engine.SingleWant
					want.Init(over{}, &single, true)
					e.Suspend(last, w, &want.Want)
					<-last.Turn
				}
			}),
		})
		e.Submit(engine.Task{N: 1}, nil)
		synctest.Wait()
		e.Submit(engine.Task{N: 2}, nil)
		synctest.Wait()
		e.Recall(back, nil)
		left := waiter()
		e.GiveUp(left, host, nil, &others)
		synctest.Wait()
		e.Recall(left, nil)
		close(release)
		<-left.Turn
		e.Submit(engine.Task{N: 3}, nil)
		synctest.Wait()
		e.Recall(last, nil)
		e.Close()
	})
}
