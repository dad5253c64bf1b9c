package engine_test

import (
	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/step"
)

// nestedScenes are about tasks that wait for subtasks, and give up their place meanwhile.
var nestedScenes = []step.Scene{
	in("one subtask", 1, 1, func(w *world) {
		w.submit(w.parent("parent", w.task("child")))
	}),
	in("two subtasks, one worker", 1, 2, func(w *world) {
		w.submit(w.parent("parent", w.task("child 1"), w.task("child 2")))
	}),
	in("two subtasks that need each other", 2, 2, func(w *world) {
		one, other := w.pair("children")
		w.submit(w.parent("parent", one, other))
	}),
	in("more subtasks than there are places", 2, 1, func(w *world) {
		w.submit(w.parent("parent", w.task("child 1"), w.task("child 2"), w.task("child 3")))
	}),
	in("three subtasks that need each other", 3, 1, func(w *world) {
		w.submit(w.parent("parent", w.circle(3)...))
	}),
	in("more subtasks than there are places, one worker", 1, 0, func(w *world) {
		w.submit(w.parent("parent", w.task("child 1"), w.task("child 2"), w.task("child 3")))
	}),
	in("subtasks next to queued tasks", 1, 2, func(w *world) {
		w.Go("first", func() { w.submit(w.parent("parent", w.task("child 1"), w.task("child 2"))) })
		w.Go("second", func() { w.submit(w.task("other")) })
	}),
	in("subtasks next to a pair", 2, 3, func(w *world) {
		one, other := w.pair("pair")
		w.Go("first", func() { w.submit(w.parent("parent", w.task("child 1"), w.task("child 2"))) })
		w.Go("second", func() {
			w.submit(one)
			w.submit(other)
		})
	}),
	in("two families", 2, 2, func(w *world) {
		w.Go("first", func() { w.submit(w.parent("first", w.task("first child"))) })
		w.Go("second", func() { w.submit(w.parent("second", w.task("second child"))) })
	}),
	in("subtasks of subtasks", 1, 2, func(w *world) {
		w.submit(w.parent("parent", w.parent("child", w.task("grandchild"))))
	}),
	in("subtasks that add to their family", 2, 2, func(w *world) {
		f := w.newFamily()
		one, other := w.pair("children")
		adds := &task{name: "adds", on: func(own *engine.Worker) { f.add(own, other) }}
		w.submit(f.parent("parent", one, adds))
	}),
	in("a subtask that panics", 1, 2, func(w *world) {
		w.submit(w.parent("parent", w.panics("panics"), w.task("child")))
		w.submit(w.task("other"))
	}),
	in("a subtask that exits", 1, 2, func(w *world) {
		w.submit(w.parent("parent", w.exits("exits"), w.task("child")))
		w.submit(w.task("other"))
	}),
	in("a task that waits keeps its place", 1, 1, func(w *world) {
		away, recall := w.sitsOut("away")
		w.accept(away)
		w.Go("submitter", func() { w.submit(w.task("other")) })
		w.Go("recall", recall)
	}),
	in("a task that has given its place up", 1, 1, func(w *world) {
		away, recall := w.givesUp("away", nil)
		w.accept(away)
		w.Go("submitter", func() { w.submit(w.task("other")) })
		w.Go("recall", recall)
	}),
	in("a goroutine left behind gives up the place of a worker that searches", 2, 2, func(w *world) {
		var own *engine.Worker
		release := make(chan struct{})
		w.widen()
		w.accept((&task{name: "first", on: func(o *engine.Worker) { own = o }}), w.blocked("busy", release))
		w.Settle()
		a := &engine.Waiter{Turn: make(chan struct{}, 1)}
		w.Go("submitter", func() { w.submit(w.task("a")) })
		w.Go("left behind", func() {
			if w.GiveUp(a, own, nil, nil) {
				<-a.Turn
			}
		})
		w.Go("release", func() { close(release) })
		w.Go("recall", func() { w.Recall(a, nil) })
	}, shallow),
	in("a goroutine left behind gives up the place of a worker that searches, and gets a lent one", 2, 2, func(w *world) {
		f := w.newFamily()
		var own *engine.Worker
		w.widen()
		w.accept(&task{name: "parent", on: func(o *engine.Worker) { f.leaves(o) }}, &task{name: "first", on: func(o *engine.Worker) { own = o }})
		w.Settle()
		a := &engine.Waiter{Turn: make(chan struct{}, 1)}
		w.Go("submitter", func() { w.submit(w.task("a")) })
		w.Go("left behind", func() {
			if w.GiveUp(a, own, nil, &f.subtasks) {
				<-a.Turn
			}
		})
		w.Go("recall", func() { w.Recall(a, nil) })
		w.Settle()
		w.Recall(&f.waiter, nil)
	}),
	in("recalled before tasks that need it to go on", 1, 2, func(w *world) {
		away, recall := w.givesUp("away", nil)
		gone := make(chan struct{})
		w.widen()
		w.accept(away.then(func() { close(gone) }))
		w.Settle()
		w.Go("submitter", func() {
			w.submit(w.task("before"))
			recall()
			w.submit(w.blocked("after", gone))
		})
	}),
	in("two that have given their place up go on in turn", 1, 2, func(w *world) {
		release, gone := make(chan struct{}), make(chan struct{})
		first, recallFirst := w.givesUp("first", nil)
		second, recallSecond := w.givesUp("second", nil)
		w.accept(first.then(func() { close(gone) }), second.then(func() { <-gone }), w.blocked("busy", release))
		w.Settle()
		recallFirst()
		recallSecond()
		close(release)
	}),
	in("a pause while subtasks are open", 1, 2, func(w *world) {
		w.accept(w.parent("parent", w.task("child 1"), w.task("child 2")))
		w.Go("pause", func() {
			w.pause()
			w.Settle()
			w.resume()
		})
	}),
	in("a pause does not hold a task that has given its place up", 1, 1, func(w *world) {
		away, recall := w.givesUp("away", nil)
		gone := make(chan struct{})
		w.accept(away.then(func() { close(gone) }))
		w.Settle()
		w.pause()
		recall()
		<-gone
		w.resume()
	}),
	in("the limit falls while subtasks are open", 2, 2, func(w *world) {
		w.accept(w.parent("parent", w.task("child 1"), w.task("child 2")), w.task("other"))
		w.Go("resize", func() { w.resize(1) })
	}),
	in("Wait for a family", 1, 2, func(w *world) {
		w.accept(w.parent("parent", w.task("child 1"), w.task("child 2")))
		w.Go("wait", w.waits)
	}),
	in("Wait for a family, not for what comes later", 2, 2, func(w *world) {
		waited := make(chan struct{})
		w.accept(w.parent("parent", w.task("child 1"), w.task("child 2")))
		w.Settle()
		w.Go("wait", func() {
			w.waits()
			close(waited)
		})
		w.Settle()
		w.submit(w.blocked("later", waited))
	}),
	in("Close while a family works", 1, 1, func(w *world) {
		w.accept(w.parent("parent", w.task("child 1"), w.task("child 2")))
		w.Go("close", w.closes)
	}),
	in("Shutdown while a family works", 1, 2, func(w *world) {
		w.accept(w.parent("parent", w.task("child")))
		w.Go("shutdown", w.shuts)
	}),
	in("Shutdown of a paused engine while a family works", 1, 3, func(w *world) {
		w.accept(w.parent("parent", w.task("child 1"), w.task("child 2")))
		w.Go("shutdown", func() {
			w.pause()
			w.shuts()
		})
	}),
	in("a goroutine that is no task adds subtasks while the engine ends", 1, 2, func(w *world) {
		w.accept(w.task("a"))
		f := w.newFamily()
		f.outside = true
		w.Go("outsider", func() {
			f.add(nil, w.task("child"))
			f.wait(nil)
		})
		w.Go("shutdown", w.shuts)
	}),
	in("goroutines of a task wait when that is over", 1, 1, func(w *world) {
		left := make(chan struct{}, 2)
		w.submit(&task{name: "a", on: func(own *engine.Worker) {
			for range 2 {
				a := &engine.Waiter{Turn: make(chan struct{}, 1)}
				w.Go("goroutine", func() {
					if w.Suspend(a, own, nil) {
						<-a.Turn
					}
					left <- struct{}{}
				})
				w.Go("recall", func() { w.Recall(a, nil) })
			}
		}})
		w.Go("submitter", func() { w.submit(w.task("b")) })
		<-left
		<-left
		w.accept(w.task("c"))
	}),
	in("a goroutine of a task waits for subtasks when that is over", 1, 2, func(w *world) {
		f := w.newFamily()
		left, release, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
		w.widen()
		w.accept(&task{name: "a", over: over, on: func(own *engine.Worker) {
			f.add(own, w.blocked("child", release))
			w.Go("goroutine", func() {
				a := &engine.Waiter{Turn: make(chan struct{}, 1)}
				<-over // else the child may begin while the task still runs
				w.Suspend(a, own, f.subtasks.Want())
				<-release
				w.Return(a, nil)
				close(left)
			})
		}})
		w.Settle()
		w.accept(w.task("queued"))
		w.Settle()
		w.Check(w.running() == 1, "a queued task begins while a subtask has the place of a task that is over")
		close(release)
		<-left
	}),
	in("a goroutine of a task that is over waits for the set of its worker's next task", 1, 4, func(w *world) {
		f := w.newFamily()
		var left *engine.Worker
		release, over := make(chan struct{}), make(chan struct{})
		w.accept(&task{name: "a", over: over, on: func(own *engine.Worker) {
			left = own
			f.add(own, w.blocked("child", release))
			f.add(own, w.task("child 2"))
			f.add(own, w.task("child 3"))
		}})
		<-over
		w.Settle() // the worker has begun the first child
		a := &engine.Waiter{Turn: make(chan struct{}, 1)}
		w.aside() // the child lends its place, and goes on
		w.Suspend(a, left, f.subtasks.Want())
		w.Settle()
		w.Return(a, nil)
		w.back()
		close(release)
	}),
	in("the end of a pause lends the place of a task that waits", 2, 2, func(w *world) {
		release := make(chan struct{})
		w.accept(w.blocked("busy", release), w.parent("parent", w.task("child")).then(func() { close(release) }))
		w.Go("pause", func() {
			w.pause()
			w.resume()
		})
	}),
	in("two subtasks of a subtask that need each other", 2, 2, func(w *world) {
		one, other := w.pair("grandchildren")
		w.submit(w.parent("parent", w.parent("child", one, other)))
	}),
	in("a task starts out of turn while its submitter waits for room", 1, 1, func(w *world) {
		f := w.newFamily()
		f.subtasks.Init(isNone)
		away, recall := w.sitsOut("away")
		w.submit(away)
		w.submit(w.task("queued"))
		w.Go("another", func() { w.submit(w.task("another")) })
		w.Go("other", func() {
			over := make(chan struct{})
			j := w.task("needed")
			j.ledger = &teller{func() { close(over) }}
			w.offered(j)
			j.in = f
			w.Await(f.subtasks.Want(), nil, nil, nil)
			w.answer(j, w.SubmitWanted(j.value(), nil, f.subtasks.Want(), nil))
			<-over
			w.Unawait(f.subtasks.Want())
			recall()
		})
	}),
	in("a subtask gives its place up while its submitter waits for room", 1, 0, func(w *world) {
		f := w.newFamily()
		away, recall := w.givesUp("child", nil)
		w.submit(&task{name: "parent", on: func(own *engine.Worker) {
			f.add(own, away)
			recall()
			f.wait(own)
		}})
	}),
	in("a subtask ends in the place of another task, and its submitter waits for room", 2, 1, func(w *world) {
		f, release := w.newFamily(), make(chan struct{})
		w.submit(w.parent("parent", &task{name: "child", on: func(own *engine.Worker) {
			f.add(own, w.blocked("grandchild", release)) // in the place of the child
			f.add(own, w.task("other grandchild"))       // in that of the parent
			close(release)
			f.wait(own)
		}}))
	}),
	in("a task waits for one that it submits", 1, 1, func(w *world) {
		w.submit(w.awaits("waits", w.task("needed"), new(engine.Single)))
		w.Go("submitter", func() { w.submit(w.task("queued")) })
	}),
	in("a task waits for one that another goroutine submits", 1, 1, func(w *world) {
		followers, submits := w.followed(1)
		w.accept(followers...)
		w.Go("submitter", submits)
		w.Go("other", func() { w.submit(w.task("queued")) })
	}),
	in("two tasks wait for one that another goroutine submits", 2, 2, func(w *world) {
		followers, submits := w.followed(2)
		w.accept(followers...)
		w.Go("submitter", submits)
	}),
	in("a task waits for one that another goroutine hands to a full engine", 1, 0, func(w *world) {
		followers, submits := w.followed(1)
		w.Go("follower", func() { w.submit(followers[0]) })
		w.Go("submitter", submits)
	}),
	in("a task waits for one that it submits, next to work that needs it", 1, 0, func(w *world) {
		over := make(chan struct{})
		w.accept(w.awaits("waits", w.task("needed"), new(engine.Single)).then(func() { close(over) }))
		w.Go("other", func() { w.awaitElsewhere(w.blocked("needs it", over)) })
	}),
	in("tasks of a source are dropped while their submitter gives up", 1, 1, func(w *world) {
		f := w.newFamily()
		f.subtasks.Init(isNone)
		release, done := w.busy(), make(chan struct{})
		w.accept(w.task("queued"))
		w.Go("member", func() { f.submit(w.task("member"), done) })
		w.Go("late", func() { w.submit(w.task("late")) })
		w.Go("cancel", func() {
			close(done)
			w.Drop(&f.subtasks)
			close(release)
		})
	}),
	in("tasks of a source are dropped while their submitter finds room", 1, 1, func(w *world) {
		f := w.newFamily()
		f.subtasks.Init(isNone)
		release := w.busy()
		w.Go("member", func() { f.submit(w.task("member"), nil) })
		w.Go("cancel", func() {
			w.Drop(&f.subtasks)
			w.submit(w.task("a"))
		})
		w.Go("late", func() { w.submit(w.task("late")) })
		w.Go("release", func() { close(release) })
	}),
	in("a task waits for another engine whose task waits for this one", 1, 2, func(w *world) {
		f := w.newFamily()
		f.subtasks.Init(isNone)
		away, recall := w.sitsOut("away")
		w.accept(away)
		w.Settle()
		w.Go("other", func() {
			j := w.task("needed")
			j.ledger = &teller{recall}
			w.offered(j)
			j.in = f
			w.Await(f.subtasks.Want(), nil, nil, nil)
			w.answer(j, w.SubmitWanted(j.value(), nil, f.subtasks.Want(), nil))
			w.Unawait(f.subtasks.Want())
		})
		w.Go("submitter", func() { w.submit(w.task("queued")) })
	}),
	in("the limit rises while a subtask adds one that it needs", 1, 3, func(w *world) {
		f := w.newFamily()
		one, other := w.pair("children")
		w.submit(f.parent("parent", w.task("child"), f.adder(other, one)))
		w.Go("resize", func() { w.resize(2) })
	}),
	in("a source leaves the list while a subtask adds to it", 1, 3, func(w *world) {
		f := w.newFamily()
		one, other := w.pair("children")
		runs, goes := make(chan struct{}), make(chan struct{})
		adds := &task{name: "adds", on: func(own *engine.Worker) {
			close(runs)
			<-goes
			f.add(own, other)
			one.run()
		}}
		w.submit(f.parent("parent", w.task("child"), adds))
		w.Go("resize", func() {
			<-runs
			close(goes)
			w.resize(2)
		})
	}),
	in("a subtask adds one that it needs", 2, 3, func(w *world) {
		f := w.newFamily()
		one, other := w.pair("children")
		w.submit(f.parent("parent", w.task("child"), f.adder(other, one)))
		w.Go("submitter", func() { w.submit(w.task("a")) })
	}),
}
