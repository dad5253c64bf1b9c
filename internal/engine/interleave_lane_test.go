package engine_test

import (
	"slices"
	"time"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/step"
)

// laneScenes are about lanes: engines that take their places from another one.
var laneScenes = []step.Scene{
	in("a task of a lane", 1, 1, func(w *world) {
		l := w.lane(1, 1)
		w.Go("submitter", func() { l.submit(l.task("a")) })
	}),
	in("two tasks of a lane", 2, 1, func(w *world) {
		l := w.lane(2, 2)
		one, other := l.pair("pair")
		w.Go("first", func() { l.submit(one) })
		w.Go("second", func() { l.submit(other) })
	}),
	in("a lane next to the queue of its parent, one place", 1, 2, func(w *world) {
		l := w.lane(1, 2)
		w.Go("lane", func() { l.submit(l.task("a")); l.submit(l.task("b")) })
		w.Go("parent", func() { w.submit(w.task("c")); w.submit(w.task("d")) })
	}, shallow),
	in("a lane rests, and is used again", 1, 1, func(w *world) {
		l := w.lane(1, 2)
		w.Go("first", func() { l.submit(l.task("a")); l.submit(l.task("b")); l.submit(l.task("c")) })
		w.Go("second", func() { l.submit(l.task("d")); l.submit(l.task("e")) })
	}, shallow),
	in("the queue of a lane grows when the lane is used again", 1, 1, func(w *world) {
		l := w.lane(1, 8)
		for range 2 {
			l.pause()
			for range 6 {
				l.accept(l.task("a"))
			}
			l.resume()
			w.Settle()
		}
	}),
	in("two lanes, one place", 1, 1, func(w *world) {
		l, k := w.lane(1, 1), w.lane(1, 1)
		w.Go("first", func() { l.submit(l.task("a")) })
		w.Go("second", func() { k.submit(k.task("b")) })
	}),
	in("two lanes whose place is free late", 1, 1, func(w *world) {
		l, k := w.lane(1, 2), w.lane(1, 2)
		release := w.busy()
		w.Go("first", func() { l.submit(l.task("a")) })
		w.Go("second", func() { k.submit(k.task("b")) })
		w.Go("release", func() { close(release) })
	}),
	in("a lane without a queue", 1, 1, func(w *world) {
		l := w.lane(1, 0)
		w.Go("first", func() { l.submit(l.task("a")) })
		w.Go("second", func() { l.submit(l.task("b")) })
		w.Go("parent", func() { w.submit(w.task("c")) })
	}, shallow),
	in("a full lane refuses", 1, 0, func(w *world) {
		l := w.lane(1, 1)
		w.Go("first", func() { l.try(l.task("a")) })
		w.Go("second", func() { l.try(l.task("b")) })
		w.Go("parent", func() { w.try(w.task("c")) })
	}, shallow),
	in("a lane has had its task, and its parent has room", 1, 0, func(w *world) {
		l := w.lane(1, 1)
		over, release := make(herald, 1), make(chan struct{})
		j := l.blocked("a", release)
		j.ledger = over
		l.accept(j)
		w.Settle()
		w.Check(w.try(w.task("early")) == engine.Full, "there is room next to a task of the lane")
		close(release)
		<-over
		w.Check(w.try(w.task("b")) == engine.Accepted, "the task of the lane is over, and there is no room")
	}),
	in("a task of a lane panics", 1, 1, func(w *world) {
		l := w.lane(1, 2)
		l.submit(l.panics("panics"))
		l.submit(l.task("a"))
		w.submit(w.task("b"))
	}),
	in("a task of a lane exits", 1, 1, func(w *world) {
		l := w.lane(1, 2)
		l.submit(l.exits("exits"))
		l.submit(l.task("a"))
		w.submit(w.task("b"))
	}),
	in("a lane of a lane", 1, 1, func(w *world) {
		l := w.lane(1, 1)
		s := l.lane(1, 1)
		w.Go("first", func() { s.submit(s.task("a")) })
		w.Go("second", func() { l.submit(l.task("b")) })
		w.Go("third", func() { w.submit(w.task("c")) })
	}, shallow),
	in("a task of a lane's lane exits", 1, 1, func(w *world) {
		s := w.lane(1, 1).lane(1, 1)
		s.submit(s.exits("exits"))
		s.submit(s.task("a"))
	}),
	in("a lane is paused", 1, 1, func(w *world) {
		l := w.lane(1, 2)
		w.Go("submitter", func() { l.submit(l.task("a")); l.submit(l.task("b")) })
		w.Go("pause", func() {
			l.pause()
			w.Point()
			l.resume()
		})
	}),
	in("the parent is paused", 1, 1, func(w *world) {
		l := w.lane(1, 2)
		w.Go("submitter", func() { l.submit(l.task("a")); l.submit(l.task("b")) })
		w.Go("pause", func() {
			w.pause()
			w.Point()
			w.resume()
		})
	}),
	in("the limit of the parent falls", 2, 1, func(w *world) {
		l := w.lane(2, 2)
		w.Go("submitter", func() { l.submit(l.task("a")); l.submit(l.task("b")) })
		w.Go("resize", func() { w.resize(1) })
	}),
	in("the limit of a lane rises", 2, 1, func(w *world) {
		l := w.lane(1, 2)
		one, other := l.pair("pair")
		w.Go("submitter", func() { l.submit(one); l.submit(other) })
		w.Go("resize", func() { l.resize(2) })
	}),
	in("a lane is closed", 1, 1, func(w *world) {
		l := w.lane(1, 1)
		release := w.busy()
		w.Go("submitter", func() { l.submit(l.task("a")) })
		w.Go("close", l.closes)
		w.Go("release", func() { close(release) })
	}),
	in("the parent is closed", 1, 1, func(w *world) {
		l := w.lane(1, 1)
		w.Go("submitter", func() { l.submit(l.task("a")) })
		w.Go("close", w.closes)
	}),
	in("a lane is shut down, with a bid", 1, 1, func(w *world) {
		l := w.lane(1, 1)
		release := w.busy()
		l.submit(l.task("a"))
		w.Go("shut", func() {
			l.shuts()
			l.Close()
			close(release)
		})
	}),
	in("Wait of a lane", 1, 1, func(w *world) {
		l := w.lane(1, 2)
		l.submit(l.task("a"))
		w.Go("wait", l.waits)
		w.Go("submitter", func() { l.submit(l.task("b")) })
	}),
	in("Wait of the parent does not wait for a lane", 2, 1, func(w *world) {
		l, waited := w.lane(1, 1), make(chan struct{})
		l.submit(l.blocked("lasts", waited))
		w.submit(w.task("a"))
		w.Go("wait", func() {
			w.waits()
			close(waited)
		})
	}),
	in("one subtask in a lane", 1, 1, func(w *world) {
		l := w.lane(1, 1)
		l.submit(l.parent("parent", l.task("child")))
	}),
	in("subtasks in a lane, next to queued tasks", 1, 2, func(w *world) {
		l := w.lane(1, 2)
		w.Go("first", func() { l.submit(l.parent("parent", l.task("child 1"), l.task("child 2"))) })
		w.Go("second", func() { w.submit(w.task("other")) })
	}),
	in("two subtasks in a lane that need each other", 2, 2, func(w *world) {
		l := w.lane(2, 2)
		one, other := l.pair("children")
		l.submit(l.parent("parent", one, other))
	}),
	in("two families in two lanes", 2, 2, func(w *world) {
		l, k := w.lane(2, 2), w.lane(1, 2)
		w.Go("first", func() { l.submit(l.parent("first", l.task("first child"))) })
		w.Go("second", func() { k.submit(k.parent("second", k.task("second child"))) })
	}, shallow),
	in("a task of a lane waits for one of another lane", 1, 1, func(w *world) {
		l, k := w.lane(1, 1), w.lane(1, 1)
		l.submit(l.awaitsIn(k, "waits", k.task("needed")))
		w.Go("other", func() { k.submit(k.task("other")) })
	}),
	in("a task of a lane waits for one of its parent", 1, 1, func(w *world) {
		l := w.lane(1, 1)
		l.submit(l.awaitsIn(w, "waits", w.task("needed")))
		w.Go("other", func() { w.submit(w.task("other")) })
	}),
	in("a task waits for one of a lane", 1, 1, func(w *world) {
		l := w.lane(1, 1)
		w.submit(w.awaitsIn(l, "waits", l.task("needed")))
		w.Go("other", func() { l.submit(l.task("other")) })
	}),
	in("a task of a lane's lane waits for one of another lane's lane", 1, 1, func(w *world) {
		l, k := w.lane(1, 1).lane(1, 1), w.lane(1, 1).lane(1, 1)
		l.submit(l.awaitsIn(k, "waits", k.task("needed")))
	}),
	in("a task of a lane hands tasks over to its parent, which is full", 1, 0, func(w *world) {
		l := w.lane(2, 1)
		l.submit(l.handsOver(w, w.task("first"), w.task("second"), w.task("third")))
		w.Go("other", func() { w.submit(w.task("other")) })
	}, shallow),
	in("a task hands tasks over to a lane, which is full", 2, 1, func(w *world) {
		l := w.lane(1, 0)
		w.submit(w.handsOver(l, l.task("first"), l.task("second"), l.task("third")))
		w.Go("other", func() { l.submit(l.task("other")) })
	}, shallow),
	in("tasks of two lanes wait for one another's lanes", 2, 1, func(w *world) {
		l, k := w.lane(1, 1), w.lane(1, 1)
		w.extra, l.extra, k.extra = 1, 1, 1 // one may go on while what it has lent its place to runs
		w.Go("first", func() { l.submit(l.awaitsIn(k, "first", k.task("first needs"))) })
		w.Go("second", func() { k.submit(k.awaitsIn(l, "second", l.task("second needs"))) })
	}, shallow),
	in("a lane's task waits for another's, which waits for one of the first lane", 1, 1, func(w *world) {
		l, k := w.lane(1, 1), w.lane(1, 1)
		l.submit(l.awaitsIn(k, "first", k.awaitsIn(l, "second", l.task("third"))))
	}),
	in("what a lane's task waits for goes before tasks that need it", 1, 1, func(w *world) {
		l, k, over := w.lane(1, 1), w.lane(2, 1), make(chan struct{})
		w.submit(w.awaitsIn(l, "waits", l.awaitsIn(k, "second", k.task("third"))).then(func() { close(over) }))
		w.Go("other", func() { k.submit(k.blocked("needs it", over)) })
	}),
	in("a task of a lane gives its place up", 1, 1, func(w *world) {
		l := w.lane(1, 1)
		away, recall := l.givesUp("away", nil)
		l.accept(away)
		w.Go("submitter", func() { w.submit(w.task("other")) })
		w.Go("recall", recall)
	}),
	in("a task of a lane that has given its place up comes before queued ones", 1, 2, func(w *world) {
		l := w.lane(1, 2)
		away, recall := l.givesUp("away", nil)
		gone := make(chan struct{})
		l.accept(away.then(func() { close(gone) }))
		w.Settle()
		w.Go("submitter", func() {
			w.submit(w.task("before"))
			recall()
			w.submit(w.blocked("after", gone))
		})
	}),
	in("a pause of the parent while subtasks of a lane are open", 1, 2, func(w *world) {
		l := w.lane(1, 2)
		l.accept(l.parent("parent", l.task("child 1"), l.task("child 2")))
		w.Go("pause", func() {
			l.pausesWith(w)
			w.Settle()
			l.resumesWith(w)
		})
	}),
	in("an urgent lane", 1, 4, func(w *world) {
		l, gone := w.laneOf(engine.LaneConfig{Share: 1, Priority: 1}, 1, 2), make(chan struct{})
		release := w.busy()
		w.accept(w.blocked("needs it", gone))
		l.accept(l.task("urgent").then(func() { close(gone) }))
		w.Settle()
		close(release)
	}),
	in("a lane that is not urgent", 1, 4, func(w *world) {
		l, release, gone := w.laneOf(engine.LaneConfig{Share: 1, Priority: -1}, 1, 2), make(chan struct{}), make(chan struct{})
		l.accept(l.blocked("runs", release))
		w.Settle()
		l.accept(l.blocked("needs it", gone))
		w.accept(w.task("other").then(func() { close(gone) }))
		close(release)
	}),
	in("no task of a lane begins after a pause of its parent", 1, 1, func(w *world) {
		l := w.lane(1, 2)
		w.Go("submitter", func() { l.submit(l.task("a")); l.submit(l.task("b")) })
		w.Go("pause", func() {
			l.pausesWith(w)
			w.Settle()
			l.resumesWith(w)
		})
	}),
	in("Wait of the parent after a task of a lane", 1, 1, func(w *world) {
		l := w.lane(1, 1)
		l.accept(l.task("a"))
		w.Settle()
		w.Go("wait", w.waits)
		w.Go("submitter", func() { w.submit(w.task("b")) })
	}),
	in("a task waits for another lane next to one that needs it", 2, 1, func(w *world) {
		l, k, over := w.lane(1, 1), w.lane(1, 1), make(chan struct{})
		w.accept(w.blocked("needs it", over))
		l.accept(l.awaitsIn(k, "waits", k.task("needed")).then(func() { close(over) }))
	}),
	in("a task is back in its lane that another one needs", 2, 1, func(w *world) {
		l, over := w.lane(1, 1), make(chan struct{})
		away, recall := l.givesUp("back", nil)
		l.accept(away)
		w.accept(w.awaitsIn(l, "waits", l.task("needed")).then(func() { close(over) }), w.blocked("needs it", over))
		w.Go("recall", recall)
	}),
	in("a task comes back to its lane before one that another one needs", 2, 1, func(w *world) {
		l, over := w.lane(1, 2), make(chan struct{})
		away, recall := l.givesUp("back", nil)
		l.accept(away, l.task("first"))
		w.accept(w.awaitsIn(l, "waits", l.task("needed")).then(func() { close(over) }), w.blocked("needs it", over))
		w.Go("recall", recall)
	}),
	in("a task waits for another lane by way of a task elsewhere next to one that needs it", 2, 1, func(w *world) {
		l, k, over := w.lane(1, 1), w.lane(1, 1), make(chan struct{})
		w.accept(w.blocked("needs it", over))
		l.accept(l.awaitsByWay(k, "waits", k.task("needed")).then(func() { close(over) }))
	}),
	in("a task waits for tasks of another lane before one that needs it", 1, 1, func(w *world) {
		l, k, over := w.lane(1, 1), w.lane(1, 3), make(chan struct{})
		l.accept(l.awaitsBothIn(k, k.task("first"), k.task("second"), k.blocked("needs it", over)).then(func() { close(over) }))
	}),
	in("all tasks wait, one of them for another engine whose task waits for a lane", 1, 1, func(w *world) {
		l, k := w.lane(1, 1), w.lane(1, 1)
		away, recall := l.sitsOut("away")
		l.accept(away)
		w.Settle()
		w.Go("other", func() {
			k.awaitElsewhere(k.task("needed"))
			recall()
		})
	}),
	in("all tasks wait, for a task of a lane's lane and for one of a lane", 1, 1, func(w *world) {
		both := make(herald, 2)
		away, recall := w.sitsOut("away")
		w.accept(away)
		w.Settle()
		for _, l := range []*world{w.lane(1, 1).lane(1, 1), w.lane(1, 1)} {
			w.Go("other", func() {
				l.awaitElsewhere(l.task("needed"))
				both.Ended(1, nil)
			})
		}
		w.Go("recall", func() {
			<-both
			<-both
			recall()
		})
	}, shallow),
	in("a task waits for a lane that is about to bid", 1, 1, func(w *world) {
		l := w.lane(1, 1)
		w.accept(w.awaitsIn(l, "waits", l.task("needed")))
		w.Go("other", func() { l.submit(l.task("other")) })
	}),
	in("a task waits for a lane's lane that is about to bid", 1, 1, func(w *world) {
		l := w.lane(1, 1)
		s := l.lane(1, 0)
		w.accept(w.awaitsIn(s, "waits", s.task("needed")))
		w.Go("other", func() { l.submit(l.task("other")) })
		w.Go("third", func() { s.submit(s.task("third")) })
	}, shallow),
	in("a task waits for a lane that has bid and is paused", 1, 1, func(w *world) {
		l := w.lane(1, 2)
		w.accept(w.awaitsIn(l, "waits", l.task("needed")))
		w.Go("other", func() { l.submit(l.task("other")) })
		w.Go("pause", func() {
			l.pause()
			w.Settle()
			l.resume()
		})
	}),
	in("a task waits for a lane that is paused, in which one is back", 2, 1, func(w *world) {
		l, over := w.lane(1, 1), make(chan struct{})
		away, recall := l.givesUp("back", nil)
		l.accept(away)
		w.accept(w.awaitsIn(l, "waits", l.task("needed")).then(func() { close(over) }), w.blocked("needs it", over))
		w.Go("recall", recall)
		w.Go("pause", func() {
			l.pause()
			w.Settle()
			l.resume()
		})
	}, shallow),
	in("a task waits for its own lane, and for another one", 2, 1, func(w *world) {
		l, k, over := w.lane(1, 1), w.lane(1, 1), make(chan struct{})
		w.accept(w.blocked("needs it", over))
		l.accept((&task{name: "waits", on: func(own *engine.Worker) {
			heard := make(chan struct{})
			w.Go("other goroutine", func() {
				l.awaitsIn(k, "", k.task("needed")).on(own)
				close(heard)
			})
			l.parent("", l.task("child")).on(own)
			<-heard
		}}).then(func() { close(over) }))
	}, shallow),
}

// pausesWith pauses the parent, and notes that the lane is paused with it.
func (w *world) pausesWith(parent *world) {
	w.changes(0)
	parent.pause()
	w.hasChanged(true, 0, 0)
}

func (w *world) resumesWith(parent *world) {
	w.changes(0)
	parent.resume()
	w.hasChanged(false, 0, 0)
}

// awaitsIn makes a task that submits another to k, and waits for the end of that.
func (w *world) awaitsIn(k *world, name string, j *task) *task {
	return w.awaitsAs(k, name, j, func(want *engine.Want, own *engine.Worker) { k.Await(want, own, nil, nil) })
}

// awaitsByWay is awaitsIn by way of a task that has no place in the family.
func (w *world) awaitsByWay(k *world, name string, j *task) *task {
	return w.awaitsAs(k, name, j, func(want *engine.Want, own *engine.Worker) { k.Await(want, nil, own, nil) })
}

// awaitsAs is awaitsIn with a function that notes the wait in k.
func (w *world) awaitsAs(k *world, name string, j *task, await func(want *engine.Want, own *engine.Worker)) *task {
	f, a := &future{task: j}, &engine.Waiter{Turn: make(chan struct{}, 1)}
	j.ledger = &recaller{w, a}
	return &task{name: name, on: func(own *engine.Worker) {
		want, wakeup := new(engine.SingleWant), w.Wakeup()
		want.Init(f, new(engine.Single), false)
		k.offered(j)
		w.aside()
		await(&want.Want, own)
		w.Suspend(a, own, nil)
		k.answer(j, k.SubmitWanted((&task{name: "entry", stands: f}).value(), nil, &want.Want, wakeup))
		<-a.Turn
		w.GoesOn(wakeup)
		k.Unawait(&want.Want)
		w.back()
	}}
}

// awaitsBothIn makes a task that submits two others to k, with a third one between them, and waits for the end of the two.
func (w *world) awaitsBothIn(k *world, first, second, between *task) *task {
	f, a := k.newFamily(), &engine.Waiter{Turn: make(chan struct{}, 1)}
	f.subtasks.Init(isNone)
	left := &countdown{2, func(by *engine.Worker) { w.Recall(a, by) }}
	return &task{name: "waits for both", on: func(own *engine.Worker) {
		wakeup := w.Wakeup()
		w.aside()
		k.Await(f.subtasks.Want(), own, nil, nil)
		w.Suspend(a, own, nil)
		hand := func(j *task) {
			k.offered(j)
			j.in, j.ledger = f, left
			k.answer(j, k.SubmitWanted(j.value(), nil, f.subtasks.Want(), wakeup))
		}
		hand(first)
		k.submit(between)
		hand(second)
		<-a.Turn
		w.GoesOn(wakeup)
		k.Unawait(f.subtasks.Want())
		w.back()
	}}
}

// handsOver makes a task that submits others to k, and does not wait for their ends.
func (w *world) handsOver(k *world, tasks ...*task) *task {
	f := k.newFamily()
	f.subtasks.Init(isNone)
	return &task{name: "hands over", on: func(own *engine.Worker) {
		for _, j := range tasks {
			a, wakeup := &engine.Waiter{Turn: make(chan struct{}, 1)}, w.Wakeup()
			k.offered(j)
			j.in = f
			w.aside()
			k.Await(f.subtasks.Want(), own, nil, nil)
			w.Suspend(a, own, nil)
			k.answer(j, k.SubmitWanted(j.value(), nil, f.subtasks.Want(), wakeup))
			if k.Lingers(&f.subtasks, a, wakeup) {
				<-a.Turn
			}
			w.Return(a, wakeup)
			k.Unawait(f.subtasks.Want())
			w.back()
		}
	}}
}

// countdown is a ledger that calls a function at the end of the last of so many tasks.
type countdown struct {
	left int32
	over func(by *engine.Worker)
}

// Ended implements [engine.Ledger]. Only one task at a time is over.
func (c *countdown) Ended(n int, by *engine.Worker) {
	if c.left -= int32(n); c.left == 0 {
		c.over(by)
	}
}

// tokenScenes are about lanes that wait for tokens.
var tokenScenes = []step.Scene{
	in("two lanes get tokens, one after the other", 1, 1, func(w *world) { w.lanesWithoutTokens() }, quiet),
	in("a lane waits for a token while a place is free", 2, 1, func(w *world) {
		w.rates()
		l := w.lane(1, 2)
		w.Go("submitter", func() { l.submit(l.task("a")); l.submit(l.task("b")) })
	}, quiet),
	in("submitters wait for room in a lane without a token", 2, 1, func(w *world) {
		w.rates()
		l := w.lane(2, 1)
		w.Quietly(func() {
			l.accept(l.task("first")) // takes the token
			w.Settle()
		})
		w.Go("first", func() { l.submit(l.task("a")) })
		w.Go("second", func() { l.submit(l.task("b")) })
	}, quiet, shallow),
	in("a lane hands its task back when it gets a place and a token", 1, 1, func(w *world) {
		l, release := w.laneWaitsForPlace()
		w.Go("release", func() { close(release) })
		w.Go("shutdown", func() {
			l.shuts()
			l.Close()
		})
	}, quiet),
	in("a lane hands its task back when a token comes", 1, 1, func(w *world) {
		w.rates()
		l := w.lane(1, 2)
		w.Quietly(func() {
			l.accept(l.task("first")) // takes the token
			w.Settle()
			l.accept(l.task("a"))
			w.Settle()
		})
		w.Go("shutdown", func() {
			l.shuts()
			l.Close()
		})
	}, passing),
	in("a lane of a lane waits for a token next to one that needs none", 1, 1, func(w *world) {
		w.rates()
		l := w.lane(1, 1)
		s, free := l.lane(1, 2), l.laneWithoutTokens(1, 1)
		w.Quietly(func() {
			s.accept(s.task("first")) // takes the token
			w.Settle()
		})
		w.Go("submitter", func() { s.submit(s.task("a")); s.submit(s.task("b")) })
		w.Go("other", func() { free.submit(free.task("other")) })
	}, quiet, shallow),
	in("a lane waits for a token, and gets subtasks that need none", 2, 2, func(w *world) {
		w.rates()
		l := w.lane(2, 2)
		begin, queued := time.Now(), make(chan struct{})
		one, other := l.pair("children")
		parent := l.parent("", one, other)
		w.Quietly(func() {
			l.accept((&task{name: "parent", on: func(own *engine.Worker) {
				<-queued
				parent.on(own)
				w.Check(time.Since(begin) == 0, "the subtasks have waited for a token")
			}}))
			w.Settle()
			l.accept(l.task("queued"))
			w.Settle()
		})
		w.turns.Add(-2) // the subtasks
		close(queued)
	}, quiet),
	in("a lane withdraws its bid just when a token comes for it", 1, 1, func(w *world) {
		w.rates()
		l, k := w.lane(1, 2), w.lane(1, 2)
		release := w.busy() // takes the token
		l.submit(l.task("a"))
		w.Go("release", func() { close(release) })
		w.Go("shutdown", func() {
			l.shuts()
			l.Close()
		})
		w.Go("submitter", func() {
			k.submit(k.task("b"))
			k.submit(k.task("c"))
		})
	}, passing),
	in("a token comes for two lanes while another lane has the place", 1, 1, func(w *world) {
		u := w.lane(1, 1) // takes no tokens
		_, k := w.lanesWithoutTokens()
		release := u.busy()
		w.Go("release", func() {
			time.Sleep(3 * time.Millisecond / 2)
			close(release)
		})
		w.Go("submitter", func() { k.submit(k.task("more")) })
	}, quiet, shallow),
	in("a lane that waits for a token hands its tasks back while another has the place", 1, 1, func(w *world) {
		u := w.lane(1, 1)
		l, _ := w.lanesWithoutTokens()
		release := u.busy()
		w.Go("shutdown", func() {
			time.Sleep(time.Millisecond)
			l.shuts()
			l.Close()
		})
		w.Go("release", func() {
			time.Sleep(time.Millisecond)
			close(release)
		})
	}, quiet, shallow),
	in("the parent is paused while a token comes for two lanes", 1, 1, func(w *world) {
		w.lanesWithoutTokens()
		w.Go("pause", func() {
			w.pause()
			time.Sleep(3 * time.Millisecond / 2)
			w.resume()
		})
	}, quiet, shallow),
}

// lanesWithoutTokens returns two lanes that have a task each, and wait for a token.
func (w *world) lanesWithoutTokens() (l, k *world) {
	w.rates()
	l, k = w.lane(1, 2), w.lane(1, 2)
	w.Quietly(func() {
		l.accept(l.task("first")) // takes the token
		w.Settle()
		l.accept(l.task("a"))
		k.accept(k.task("b"))
		w.Settle()
	})
	return l, k
}

// laneWaitsForPlace returns a lane that has a task and waits for a place, and what frees that. There is a token.
func (w *world) laneWaitsForPlace() (l *world, release chan struct{}) {
	w.rates()
	l, free := w.lane(1, 2), w.laneWithoutTokens(1, 2)
	release = free.busy()
	w.Quietly(func() {
		l.accept(l.task("a"))
		w.Settle()
	})
	return l, release
}

// lanesWithRates are scenes of lanes in which all may take tokens.
func lanesWithRates() (some []step.Scene) {
	for _, name := range []string{
		"two tasks of a lane", "a lane next to the queue of its parent, one place", "a lane rests, and is used again", "two lanes, one place",
		"two lanes whose place is free late", "a lane without a queue", "a task of a lane exits", "a lane of a lane", "a lane is paused", "the parent is paused",
		"the limit of the parent falls", "a lane is closed", "the parent is closed", "a lane is shut down, with a bid", "a task of a lane gives its place up",
	} {
		some = append(some, laneScenes[slices.IndexFunc(laneScenes, func(s step.Scene) bool { return s.Name == name })])
	}
	return some
}
