package engine_test

import (
	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/step"
)

// wakeupScenes are about tasks that wait for what another goroutine ends. When a task can learn of the end, it must count as one that goes on. While the end has not
// come it must count as one that waits: its place may be what is needed for the end.
var wakeupScenes = []step.Scene{
	looping("the last task ends while a task that loops begins to wait", 1, func(l *loop) {
		l.goes("worker", func() { l.end(1) })
	}),
	looping("a task begins while the last one ends and another task loops", 1, func(l *loop) {
		l.goes("worker", func() { l.end(1) })
		l.goes("submitter", func() { l.begin() })
	}),
	looping("a task begins and is withdrawn while another task loops", 1, func(l *loop) {
		l.goes("submitter", func() {
			if number, ok := l.begin(); ok {
				l.withdraw(number)
			}
		})
		l.goes("worker", func() { l.end(1) })
	}),
	{Name: "two tasks begin to wait while the end comes", Quick: 2, Deep: 3, Free: 1, Body: func(r *step.Run) {
		w, over := newWorld(r, 1, 1), make(chan struct{})
		var tasks engine.Wakeups
		waits := func() {
			wakeup := w.Wakeup()
			tasks.Add(wakeup)
			<-over
			r.Check(wakeup.Notified(), "a task goes on, and counts as one that waits")
			tasks.Remove(wakeup)
		}
		r.Go("one", waits)
		r.Go("other", waits)
		tasks.Notify()
		close(over)
	}},
}

// loop is a task that loops.
type loop struct {
	*count
	looper engine.Looper
	wakeup *engine.Wakeup
	others int // goroutines that end
	ended  chan struct{}
}

// looping makes a scene in which a task loops, and a goroutine waits for the end of a tally, of which some tasks have begun, or until nothing happens any more.
func looping(name string, begun int, body func(l *loop)) step.Scene {
	return step.Scene{Name: name, Quick: 2, Deep: 3, Free: 1, Body: func(r *step.Run) {
		l := &loop{count: newCount(r), wakeup: newWorld(r, 1, 1).Wakeup(), ended: make(chan struct{}, 4)}
		l.tells = l.looper.Notify
		for range begun {
			l.begin()
		}
		l.goes("loop", func() { l.looper.Wait(l.wakeup, &l.tally) })
		body(l)
		quiet := make(chan struct{})
		r.Go("waits", func() {
			for !l.tally.Seal() {
				if l.looper.Look(&l.tally) {
					continue
				}
				if woken, rung := l.bell.WaitUntil(quiet), l.rung.Swap(false); !woken && !rung {
					return
				}
			}
			l.looper.Notify()
		})
		for range l.others {
			<-l.ended
		}
		close(quiet)
		r.Join()
		over := l.open.Load() == 0
		l.Check(over == l.wakeup.Notified(), "the set is over: %t, and the task that loops counts as going on: %t", over, !over)
	}}
}

func (l *loop) goes(name string, do func()) {
	l.others++
	l.Go(name, func() {
		do()
		l.ended <- struct{}{}
	})
}
