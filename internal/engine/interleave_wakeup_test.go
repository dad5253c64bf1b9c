package engine_test

import (
	"sync/atomic"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/step"
)

// wakeupScenes are about tasks that wait for what another goroutine ends. When a task can learn of the end, it must count as one that goes on. While the end has not
// come it must count as one that waits: its place may be what is needed for the end.
var wakeupScenes = []step.Scene{
	looping("the last task ends while a task that loops begins to wait", 1, func(l *loop) {
		l.ends.Store(1)
		l.goes("worker", func() { l.endFor() })
	}),
	looping("the last two tasks end while a task that loops begins to wait", 1, func(l *loop) {
		l.ends.Store(2)
		l.goes("worker", func() { l.endFor() })
		l.goes("submitter", func() {
			if _, ok := l.begin(); ok {
				l.endFor()
			}
		})
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
			r.Check(w.Waking() > 0, "a task goes on, and counts as one that waits")
			w.GoesOn(wakeup)
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
	world  *world
	looper engine.Looper
	wakeup *engine.Wakeup
	others int // goroutines that end
	ended  chan struct{}

	joined     atomic.Bool
	ends, over atomic.Int64 // if ends is not 0: how many tasks there are, and how many have ended
}

// looping makes a scene in which a task loops, and a goroutine waits for the end of a tally, of which some tasks have begun, or until nothing happens any more.
func looping(name string, begun int, body func(l *loop)) step.Scene {
	return step.Scene{Name: name, Quick: 2, Deep: 3, Free: 1, Body: func(r *step.Run) {
		w := newWorld(r, 1, 1)
		l := &loop{count: newCount(r), world: w, wakeup: w.Wakeup(), ended: make(chan struct{}, 4)}
		l.tells = l.looper.Notify
		for range begun {
			l.begin()
		}
		l.goes("loop", func() {
			l.told(l.looper.Join(l.wakeup, &l.tally))
			l.joined.Store(true)
		})
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
		l.Check(over == (l.world.Waking() == 1), "the set is over: %t, and %d tasks count as going on", over, l.world.Waking())
	}}
}

// endFor ends a task. If it was the last one, and a goroutine waits for that, a task that loops counts as going on from then on; or that goroutine says so, when it has
// sealed the set.
func (l *loop) endFor() {
	l.open.Add(-1)
	tell := l.tally.End(1)
	l.told(tell)
	if l.over.Add(1) == l.ends.Load() && tell {
		l.Go("looks", func() {
			if l.joined.Load() {
				l.Check(l.world.Waking() > 0 || l.tally.Sealed(), "all tasks have ended, and the one that loops counts as waiting")
			}
		})
	}
}

func (l *loop) goes(name string, do func()) {
	l.others++
	l.Go(name, func() {
		do()
		l.ended <- struct{}{}
	})
}
