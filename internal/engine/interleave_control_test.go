package engine_test

import (
	"sync/atomic"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/step"
)

// controlScenes are about goroutines that change an engine, or end it, while it is in use.
var controlScenes = []step.Scene{
	in("Start, and tasks come in", 2, 1, func(w *world) {
		one, other := w.pair("pair")
		w.Go("start", func() { w.Start(1) })
		w.Go("submitter", func() {
			w.submit(one)
			w.submit(other)
		})
	}),
	in("a higher limit is used at once", 1, 2, func(w *world) {
		one, other := w.pair("pair")
		w.accept(one, other)
		w.Settle()
		w.Go("resize", func() { w.resize(2) })
	}),
	in("the limit rises while a pair comes in", 1, 2, func(w *world) {
		one, other := w.pair("pair")
		w.Go("submitter", func() {
			w.submit(one)
			w.submit(other)
		})
		w.Go("resize", func() { w.resize(2) })
	}),
	in("the limit rises while tasks end", 1, 2, func(w *world) {
		one, other := w.pair("pair")
		w.accept(w.task("a"))
		w.Go("resize", func() { w.resize(2) })
		w.Go("submitter", func() {
			w.submit(one)
			w.submit(other)
		})
	}),
	in("the limit falls while tasks are queued", 2, 4, func(w *world) {
		w.accept(w.task("a"), w.task("b"), w.task("c"), w.task("d"))
		w.Go("resize", func() { w.resize(1) })
	}),
	in("the limit falls and rises", 2, 2, func(w *world) {
		one, other := w.pair("pair")
		w.Go("resize", func() {
			w.resize(1)
			w.resize(2)
		})
		w.Go("submitter", func() {
			w.submit(one)
			w.submit(other)
		})
	}),
	in("the limit falls for the idle", 2, 1, func(w *world) {
		w.idle()
		w.Go("resize", func() {
			w.resize(1)
			w.resize(2)
		})
		one, other := w.pair("pair")
		w.Go("submitter", func() {
			w.submit(one)
			w.submit(other)
		})
	}),
	in("a pause while tasks come in", 1, 2, func(w *world) {
		w.Go("pause", func() {
			w.pause()
			w.Point()
			w.resume()
		})
		w.Go("submitter", func() {
			w.submit(w.task("a"))
			w.submit(w.task("b"))
		})
	}),
	in("a pause while a task is taken", 1, 4, func(w *world) {
		w.widen()
		w.accept(w.task("a"), w.task("b"), w.task("c"))
		w.Go("pause", func() {
			w.pause()
			w.Settle()
			w.resume()
		})
	}),
	in("a pause holds what is queued", 2, 4, func(w *world) {
		w.accept(w.task("a"))
		w.Go("pause", func() {
			w.pause()
			w.submit(w.task("b"))
			w.Point()
			w.resume()
		})
		w.Go("submitter", func() { w.submit(w.task("c")) })
	}),
	in("a paused engine is resized", 1, 2, func(w *world) {
		one, other := w.pair("pair")
		w.pause()
		w.accept(one, other)
		w.Go("resize", func() {
			w.changes(2)
			w.Resize(2)
			w.Settle()
			w.Check(w.running() == 0, "a task begins in a paused engine")
			w.hasChanged(false, 2, 0)
			w.resume()
		})
	}),
	in("Close while tasks come in", 1, 1, func(w *world) {
		w.Go("close", w.closes)
		w.Go("submitter", func() { w.submit(w.task("a")) })
	}),
	in("Close while a task comes in, without a queue", 1, 0, func(w *world) {
		w.Go("close", w.closes)
		w.Go("submitter", func() { w.submit(w.task("a")) })
	}),
	in("Close while a task comes in to an idle worker", 1, 1, func(w *world) {
		w.idle()
		w.Go("close", w.closes)
		w.Go("submitter", func() { w.submit(w.task("a")) })
	}),
	in("Close while tasks come in from two", 2, 1, func(w *world) {
		w.accept(w.task("before"))
		w.Go("close", w.closes)
		w.Go("first", func() { w.submit(w.task("a")) })
		w.Go("second", func() { w.try(w.task("b")) })
	}),
	in("Close answers submitters that wait", 1, 0, func(w *world) {
		release := w.busy()
		w.Go("submitter", func() { w.submit(w.task("a")) })
		w.Go("close", w.closes)
		w.Settle()
		close(release)
	}),
	in("two Close at once", 1, 1, func(w *world) {
		w.accept(w.task("a"))
		w.Go("first", w.closes)
		w.Go("second", w.closes)
	}),
	in("Close ends a pause", 1, 2, func(w *world) {
		w.pause()
		w.accept(w.task("a"), w.task("b"))
		w.Go("close", w.closes)
		w.Go("submitter", func() { w.submit(w.task("c")) })
	}),
	in("Shutdown while tasks come in", 1, 2, func(w *world) {
		w.accept(w.task("a"))
		w.Go("shutdown", w.shuts)
		w.Go("submitter", func() { w.submit(w.task("b")) })
	}),
	in("Shutdown while a task comes in to an idle worker", 1, 2, func(w *world) {
		w.idle()
		w.Go("shutdown", w.shuts)
		w.Go("submitter", func() { w.submit(w.task("a")) })
	}),
	in("Shutdown while all are busy", 1, 3, func(w *world) {
		release := w.busy()
		w.accept(w.task("a"))
		w.Go("submitter", func() { w.submit(w.task("b")) })
		w.Go("shutdown", func() {
			w.shuts()
			close(release)
		})
	}),
	in("Shutdown while a worker takes tasks", 1, 4, func(w *world) {
		w.pause()
		w.accept(w.task("a"), w.task("b"), w.task("c"))
		w.resume()
		w.Go("shutdown", w.shuts)
	}),
	in("tasks are discarded while workers take them", 1, 3, func(w *world) {
		w.accept(w.task("a"), w.task("b"))
		w.Go("discard", w.discards)
		w.Go("submitter", func() { w.submit(w.task("c")) })
	}),
	in("discarded tasks make room", 1, 2, func(w *world) {
		release := w.busy()
		w.accept(w.task("a"), w.task("b"))
		w.discards()
		w.Go("first", func() { w.try(w.task("c")) })
		w.Go("second", func() { w.try(w.task("d")) })
		w.Go("release", func() { close(release) })
	}),
	in("those suspected make room", 1, 2, func(w *world) {
		release := w.busy()
		w.accept(w.task("a"), w.task("b"))
		w.suspects()
		for _, name := range []string{"c", "d"} {
			w.Check(w.try(w.task(name)) == engine.Accepted, "%s is refused next to void tasks", name)
		}
		close(release)
	}),
	in("a worker takes a task while the queue is searched for void ones", 1, 2, func(w *world) {
		release, kept := w.busy(), w.task("kept")
		kept.kept = true
		w.accept(kept, w.task("a"))
		w.suspects()
		w.Go("release", func() { close(release) })
		w.Go("submitter", func() { w.try(w.task("b")) })
	}),
	in("the queue closes up while a task comes in", 1, 4, func(w *world) {
		w.widen()
		release, kept := w.busy(), w.task("kept")
		kept.kept = true
		w.accept(kept, w.task("a"), w.task("b"))
		w.Go("submitter", func() { w.submit(w.task("c")) })
		w.discards()
		close(release)
	}),
	in("suspected tasks make room for a submitter that waits", 1, 1, func(w *world) {
		release, runs := w.busy(), make(chan struct{})
		w.accept(w.task("a"))
		w.Go("submitter", func() {
			w.submit(w.task("b"))
			close(runs)
		})
		w.Settle()
		w.suspects()
		<-runs // while the worker is busy
		close(release)
	}),
	in("dismissed and used again", 1, 1, func(w *world) {
		w.idle()
		var uses atomic.Bool
		w.Go("dismiss", func() { w.Dismiss(uses.Load) })
		w.Go("submitter", func() {
			uses.Store(true)
			w.Revive()
			w.submit(w.task("a"))
		})
	}),
	in("dismissed while a worker comes to rest", 2, 1, func(w *world) {
		w.accept(w.task("a"), w.task("b"))
		w.Go("dismiss", func() {
			w.waits()
			w.Dismiss(func() bool { return false })
			w.Check(w.Stats().Workers == 0, "Dismiss returns, and a worker is left")
		})
	}),
	in("dismissed and used again by a task that lasts", 1, 1, func(w *world) {
		w.idle()
		var uses atomic.Bool
		dismissed := make(chan struct{})
		w.Go("dismiss", func() {
			w.Dismiss(uses.Load)
			close(dismissed)
		})
		w.Go("submitter", func() {
			uses.Store(true)
			w.Revive()
			w.submit(w.blocked("a", dismissed))
		})
	}),
	in("retired while tasks end", 2, 1, func(w *world) {
		w.accept(w.task("a"), w.task("b"))
		w.Go("waiter", w.retires)
	}),
	in("retired while a worker rests", 2, 1, func(w *world) {
		w.idle()
		w.Go("waiter", w.retires)
		w.Go("submitter", func() { w.submit(w.task("a")) })
	}),
	in("retired while a task adds another", 1, 1, func(w *world) {
		w.accept(w.task("a").then(func() { w.submit(w.task("b")) }))
		w.Go("waiter", w.retires)
	}),
	in("a task from outside has a place", 1, 1, func(w *world) {
		w.Go("outside", w.enters("first", false))
		w.Go("submitter", func() { w.submit(w.task("a")) })
	}),
	in("a task from outside has a place, and is adopted", 1, 1, func(w *world) {
		go w.enters("first", true)()
		w.Go("submitter", func() { w.submit(w.task("a")) })
	}),
	in("a task from outside is adopted while others come in", 2, 1, func(w *world) {
		go w.enters("first", true)()
		w.Go("submitter", func() { w.try(w.task("a")) })
		w.Go("another", func() { w.try(w.task("b")) })
	}),
	in("tasks that wait for one from outside go on in the engine, before newcomers", 1, 0, func(w *world) {
		outside := w.enters("outside", false)
		first := w.task("first")
		second := w.behind("second", first)
		awaitsFirst, awaitsSecond := w.stands(first, nil), w.stands(second, nil)
		w.Go("second", awaitsSecond)
		w.Go("newcomer", func() { w.submit(w.behind("newcomer", second)) })
		w.Go("outside", outside)
		awaitsFirst()
	}),
	in("a task that waits for one from outside finds a place in the engine", 2, 0, func(w *world) {
		outside := w.enters("outside", false)
		w.stands(w.task("waiting"), nil)() // there is a place besides that of the one from outside
		w.Go("outside", outside)
	}),
	in("the submitter of a task that waits for one from outside gives up", 1, 0, func(w *world) {
		outside := w.enters("outside", false)
		done := make(chan struct{})
		awaits := w.stands(w.task("waiting"), done)
		w.Go("outside", outside)
		w.Go("submitter", func() { w.submit(w.task("behind")) })
		w.Go("cancels", func() { close(done) })
		awaits()
	}),
	in("retired while a task from outside runs", 1, 1, func(w *world) {
		w.Go("outside", w.enters("first", false))
		w.Go("submitter", func() {
			w.submit(w.task("a"))
			w.retires()
		})
	}),
	in("retired while a task from outside is adopted", 2, 1, func(w *world) {
		go w.enters("first", true)()
		w.Go("waiter", w.retires)
	}),
	in("the limit falls below the tasks from outside", 2, 1, func(w *world) {
		one, other := w.enters("first", false), w.enters("second", true)
		w.Go("one", one)
		go other()
		w.resize(1)
		w.submit(w.task("a"))
	}),
	in("a closed engine accepts nothing more", 1, 2, func(w *world) {
		w.widen()
		release := w.busy()
		w.Go("close", w.closes)
		w.Settle()
		w.Check(w.submit(w.task("late")) == engine.Closed, "a closed engine accepts a task")
		close(release)
	}),
	in("Close while a task is half-written", 1, 1, func(w *world) {
		w.idle()
		w.Go("submitter", func() { w.submit(w.task("a")) })
		w.Go("close", w.closes)
	}),
	in("a closed engine with a free worker accepts nothing more", 2, 2, func(w *world) {
		release := make(chan struct{})
		w.accept(w.blocked("busy", release))
		w.Go("close", w.closes)
		w.Settle()
		w.Check(w.submit(w.task("late")) == engine.Closed, "a closed engine accepts a task")
		close(release)
	}),
	in("Close after a dismissal", 1, 1, func(w *world) {
		w.idle()
		w.Quietly(func() { w.Dismiss(func() bool { return false }) })
		w.Go("submitter", func() { w.submit(w.task("a")) })
		w.Go("close", w.closes)
	}),
	in("Shutdown while a task is half-written", 1, 2, func(w *world) {
		w.widen()
		release := w.busy()
		w.Go("submitter", func() { w.submit(w.task("a")) })
		w.Go("shutdown", func() {
			w.shuts()
			w.ends()
			close(release)
		})
	}),
	in("places are counted while one is half-written", 1, 2, func(w *world) {
		w.widen()
		release := w.busy()
		w.accept(w.task("discarded"))
		w.discards()
		w.Go("submitter", func() { w.try(w.task("a")) })
		w.Go("other", func() {
			w.try(w.task("b"))
			w.try(w.task("c"))
		})
		w.Join()
		close(release)
	}),
	in("nothing begins in an engine that paused at the end of a ring", 1, 4, func(w *world) {
		release := make(chan struct{})
		w.Quietly(func() {
			w.pause()
			w.accept(w.blocked("a", release), w.task("b"))
			w.resume()
			w.Settle()
			w.pause()
			w.ends()
		})
		w.Go("wait", w.waits)
		w.Go("release", func() { close(release) })
		w.Settle()
		w.resume()
	}),
	in("Shutdown of a paused engine starts nothing", 1, 2, func(w *world) {
		w.idle()
		w.pause()
		w.accept(w.task("a"), w.task("b"))
		w.ends() // none of them begins
		w.Go("shutdown", w.handsBack)
	}),
	in("Wait and discarded tasks in a pause", 1, 3, func(w *world) {
		w.pause()
		w.accept(w.task("a"), w.task("b"))
		w.discards()
		w.Go("submitter", func() { w.try(w.task("c")) })
		w.Go("wait", w.waits)
		w.Settle()
		w.resume()
	}),
	in("Wait in a pause, when a discarded task has come to the head", 1, 4, func(w *world) {
		release := w.busy()
		kept, last := w.task("kept"), &task{name: "last", on: func(*engine.Worker) { w.pause() }}
		kept.kept, last.kept = true, true
		w.accept(kept, last, w.task("a"))
		w.discards()
		close(release)
		w.waits()
		w.resume()
	}),
	in("Wait while the queue closes up on discarded tasks", 1, 6, func(w *world) {
		release, waited := w.busy(), make(chan struct{})
		kept := w.task("kept")
		kept.kept = true
		w.accept(w.task("a"), kept, w.task("b"), w.task("c"))
		w.Go("wait", func() {
			w.waits()
			close(waited)
		})
		w.Settle()
		w.discards()
		w.accept(w.blocked("later", waited))
		close(release)
	}),
	in("Wait returns in a pause when all tasks were discarded", 1, 3, func(w *world) {
		w.pause()
		w.accept(w.task("a"), w.task("b"))
		w.Go("wait", w.waits)
		w.Go("discard", w.discards)
		w.Join()
		w.resume()
	}),
}
