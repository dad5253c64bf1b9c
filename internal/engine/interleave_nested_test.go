package engine_test

import "github.com/64ed045f/weir/internal/step"

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
	in("subtasks beside queued tasks", 1, 2, func(w *world) {
		w.Go("first", func() { w.submit(w.parent("parent", w.task("child 1"), w.task("child 2"))) })
		w.Go("second", func() { w.submit(w.task("other")) })
	}),
	in("subtasks beside a pair", 2, 3, func(w *world) {
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
		f := w.newFamily(1)
		one, other := w.pair("children")
		adds := &task{name: "adds", run: func() { f.add(other) }}
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
	in("recalled while another one works", 1, 1, func(w *world) {
		away, recall := w.sitsOut("away", 1)
		w.accept(away)
		w.Go("submitter", func() { w.submit(w.task("other")) })
		w.Go("recall", recall)
	}),
	in("recalled before tasks that need it to go on", 1, 2, func(w *world) {
		away, recall := w.sitsOut("away", 1)
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
	in("of two that come back the deeper goes first", 1, 2, func(w *world) {
		release, gone := make(chan struct{}), make(chan struct{})
		upper, recallUpper := w.sitsOut("upper", 1)
		deeper, recallDeeper := w.sitsOut("deeper", 2)
		w.accept(upper.then(func() { <-gone }), deeper.then(func() { close(gone) }), w.blocked("busy", release))
		w.Settle()
		recallUpper()
		recallDeeper()
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
	in("a pause does not hold who has waited", 1, 1, func(w *world) {
		away, recall := w.sitsOut("away", 1)
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
	in("who is no task adds subtasks while the engine ends", 1, 2, func(w *world) {
		w.accept(w.task("a"))
		f := w.newFamily(1)
		f.outside = true
		w.Go("outsider", func() {
			f.add(w.task("child"))
			f.wait()
		})
		w.Go("shutdown", w.shuts)
	}),
	in("a goroutine of a task gives the permit of that up", 1, 1, func(w *world) {
		left := make(chan struct{}, 1)
		w.submit(&task{name: "a", run: func() {
			w.Go("goroutine", func() {
				j, recall := w.sitsOut("goroutine", 1)
				w.Go("recall", recall)
				j.run()
				left <- struct{}{}
			})
		}})
		w.Go("submitter", func() { w.submit(w.task("b")) })
		<-left
		release := make(chan struct{})
		away, recall := w.sitsOut("away", 1)
		w.accept(away, w.blocked("busy", release))
		w.Settle()
		recall()
		w.Settle()
		close(release)
	}),
	in("the limit rises while a subtask adds one that it needs", 1, 3, func(w *world) {
		f := w.newFamily(1)
		one, other := w.pair("children")
		w.submit(f.parent("parent", w.task("child"), f.adder(other, one)))
		w.Go("resize", func() { w.resize(2) })
	}),
	in("a source leaves the list while a subtask adds to it", 1, 3, func(w *world) {
		f := w.newFamily(1)
		one, other := w.pair("children")
		runs, goes := make(chan struct{}), make(chan struct{})
		adds := &task{name: "adds", run: func() {
			close(runs)
			<-goes
			f.add(other)
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
		f := w.newFamily(1)
		one, other := w.pair("children")
		w.submit(f.parent("parent", w.task("child"), f.adder(other, one)))
		w.Go("submitter", func() { w.submit(w.task("a")) })
	}),
}
