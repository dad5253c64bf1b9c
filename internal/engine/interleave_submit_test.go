package engine_test

import (
	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/step"
)

// submitScenes are about tasks that come in: wake-ups, the line, and what full means.
var submitScenes = []step.Scene{
	in("two submitters, one worker", 1, 1, func(w *world) {
		w.Go("first", func() { w.submit(w.task("a")) })
		w.Go("second", func() { w.submit(w.task("b")) })
	}),
	in("two that need each other come in at once", 2, 2, func(w *world) {
		one, other := w.pair("pair")
		w.Go("first", func() { w.submit(one) })
		w.Go("second", func() { w.submit(other) })
	}),
	in("two that need each other come in after one", 2, 2, func(w *world) {
		w.accept(w.task("before"))
		one, other := w.pair("pair")
		w.Go("first", func() { w.submit(one) })
		w.Go("second", func() { w.submit(other) })
	}),
	in("three that need each other come in while a worker ends a task", 3, 4, func(w *world) {
		w.widen()
		w.accept(w.task("before"))
		w.accept(w.circle(3)...)
	}),
	in("two that need each other come in at idle workers", 2, 2, func(w *world) {
		w.idle()
		one, other := w.pair("pair")
		w.Go("first", func() { w.submit(one) })
		w.Go("second", func() { w.submit(other) })
	}),
	in("three come in, one of them blocks", 2, 2, func(w *world) {
		one, other := w.pair("pair")
		w.Go("first", func() { w.submit(one) })
		w.Go("second", func() {
			w.submit(w.task("short"))
			w.submit(other)
		})
	}),
	in("one follows another that ends", 1, 1, func(w *world) {
		w.accept(w.task("before"))
		w.Go("submitter", func() { w.submit(w.task("after")) })
	}),
	in("waiting submitters are served while a task that was let in waits for the next", 2, 1, func(w *world) {
		one, other := w.pair("pair")
		w.Go("first", func() {
			w.submit(w.task("before"))
			w.submit(one)
		})
		w.Go("second", func() {
			w.submit(w.task("short"))
			w.submit(other)
		})
	}),
	in("a hand-over in the order of the queue", 2, 1, func(w *world) {
		one, other := w.pair("pair")
		release := make(chan struct{})
		w.accept(w.blocked("busy", release), one, other)
		close(release)
	}),
	in("submitters wait for a queue without places", 1, 0, func(w *world) {
		w.Go("first", func() { w.submit(w.task("a")) })
		w.Go("second", func() { w.submit(w.task("b")) })
		w.Go("third", func() { w.submit(w.task("c")) })
	}),
	in("a newcomer meets a line", 1, 1, func(w *world) {
		release := w.busy()
		w.accept(w.task("queued"))
		lined := w.task("waiting")
		w.Go("first", func() { w.submit(lined) })
		w.Settle()
		w.Go("newcomer", func() { w.submit(w.behind("newcomer", lined)) })
		close(release)
	}),
	in("TrySubmit meets a line", 1, 1, func(w *world) {
		release := w.busy()
		w.accept(w.task("queued"))
		lined := w.task("waiting")
		w.Go("first", func() { w.submit(lined) })
		w.Settle()
		w.Go("newcomer", func() { w.try(w.behind("newcomer", lined)) })
		close(release)
	}),
	in("a submitter gives up while it is let in", 1, 1, func(w *world) {
		release, enough := w.busy(), make(chan struct{})
		w.accept(w.task("queued"))
		w.Go("impatient", func() { w.submitUntil(w.task("a"), enough) })
		w.Settle()
		w.Go("release", func() { close(release) })
		w.Go("patience", func() { close(enough) })
	}),
	in("a newcomer meets a line that began while a worker left its slot", 1, 2, func(w *world) { w.meetsLine(w.submit) }, freer),
	in("TrySubmit meets a line that began while a worker left its slot", 1, 2, func(w *world) { w.meetsLine(w.try) }, freer),
	in("TrySubmit while the only worker is busy", 1, 0, func(w *world) {
		release := w.busy()
		w.Check(w.try(w.task("a")) == engine.Full, "accepted by an engine without room")
		close(release)
	}),
	in("one comes in when all is quiet", 2, 2, func(w *world) {
		w.Go("first", func() { w.submit(w.task("a")) })
		w.Go("second", func() { w.submit(w.task("b")) })
		w.Settle()
		w.submit(w.task("c"))
	}),
	in("one gives up, and others stand in its place", 1, 1, func(w *world) {
		release, enough := w.busy(), make(chan struct{})
		w.accept(w.task("queued"))
		w.Go("impatient", func() {
			w.submitUntil(w.task("given up"), enough)
			w.submit(w.task("again"))
		})
		w.Settle()
		close(enough)
		w.Settle()
		close(release)
		w.submit(w.task("other"))
	}),
	in("the last of two gives up, and another comes", 1, 0, func(w *world) {
		release, enough := w.busy(), make(chan struct{})
		w.Go("patient", func() { w.submit(w.task("first")) })
		w.Settle()
		w.Go("impatient", func() { w.submitUntil(w.task("given up"), enough) })
		w.Settle()
		close(enough)
		w.Settle()
		w.Go("late", func() { w.submit(w.task("late")) })
		w.Settle()
		close(release)
	}),
	in("places of waiting submitters are used again", 1, 0, func(w *world) {
		release := w.busy()
		for range 2 {
			w.Go("submitter", func() {
				w.submit(w.task("first"))
				w.submit(w.task("second"))
			})
		}
		w.Settle()
		close(release)
	}),
	in("as many TrySubmit as there is room", 2, 0, func(w *world) {
		w.Go("first", func() { w.try(w.task("a")) })
		w.Go("second", func() { w.try(w.task("b")) })
	}),
	in("as many TrySubmit as there is room, with a queue", 1, 1, func(w *world) {
		w.Go("first", func() { w.try(w.task("a")) })
		w.Go("second", func() { w.try(w.task("b")) })
	}),
	in("TrySubmit while the only worker begins", 1, 1, func(w *world) {
		w.accept(w.task("a"))
		w.Go("try", func() { w.try(w.task("b")) })
	}),
	in("TrySubmit while a worker goes from one to the next", 2, 1, func(w *world) {
		w.accept(w.task("a"), w.task("b"))
		w.Go("try", func() { w.try(w.task("c")) })
	}),
	in("TrySubmit after Wait", 1, 0, func(w *world) {
		w.accept(w.task("a"))
		w.Go("try", func() {
			w.waits()
			w.try(w.task("b"))
		})
	}),
	in("TrySubmit after Wait, next to idle workers", 2, 1, func(w *world) {
		release := make(chan struct{})
		w.accept(w.task("a"), w.task("b"))
		w.waits()
		w.accept(w.blocked("busy", release))
		w.Go("try", func() {
			w.try(w.task("c"))
			w.try(w.task("d"))
			close(release)
		})
	}),
	in("TrySubmit while another TrySubmit fills the queue", 1, 1, func(w *world) {
		w.accept(w.task("a"))
		w.Go("first", func() { w.try(w.task("b")) })
		w.Go("second", func() { w.try(w.task("c")) })
	}),
	in("a goroutine that a ledger notifies finds a free worker", 1, 0, func(w *world) {
		told := make(herald, 1)
		first := w.task("first")
		first.ledger = told
		w.Go("submitter", func() {
			w.submit(first)
			<-told
			w.Check(w.TrySubmit(engine.Task{}, nil) == engine.Accepted, "a task is over, and its worker is not free")
		})
	}),
	in("a goroutine that a ledger notifies while another one is refused finds a free worker", 1, 0, func(w *world) {
		told, release, refused := make(herald, 1), make(chan struct{}), make(chan bool, 1)
		first := w.blocked("first", release)
		first.ledger = told
		w.accept(first)
		w.Settle()
		w.Go("try", func() { refused <- w.TrySubmit(engine.Task{}, nil) == engine.Full })
		w.Go("release", func() { close(release) })
		w.Go("submitter", func() {
			<-told
			if <-refused {
				w.Check(w.TrySubmit(engine.Task{}, nil) == engine.Accepted, "a task is over, and its worker is not free")
			}
		})
	}),
	in("a goroutine that a ledger notifies finds a free worker that was idle after a refusal", 1, 0, func(w *world) {
		told, release := make(herald, 1), w.busy()
		w.Check(w.TrySubmit(engine.Task{}, nil) == engine.Full, "accepted by an engine without room")
		close(release)
		w.Settle()
		first := w.task("first")
		first.ledger = told
		w.Go("submitter", func() {
			w.submit(first)
			<-told
			w.Check(w.TrySubmit(engine.Task{}, nil) == engine.Accepted, "a task is over, and its worker is not free")
		})
	}),
}

// meetsLine has a newcomer submit, one way or the other, if another one waits for room.
func (w *world) meetsLine(submits func(*task) engine.Verdict) {
	release := w.busy()
	w.accept(w.task("queued"))
	lined := w.task("waiting")
	w.Go("release", func() { close(release) })
	w.Go("first", func() { w.submit(lined) })
	w.Go("newcomer", func() {
		if w.Stats().Waiting == 1 {
			submits(w.behind("newcomer", lined))
		}
	})
}
