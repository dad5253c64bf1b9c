package engine_test

import "github.com/64ed045f/weir/internal/step"

// waitScenes are about Wait: it returns after all earlier tasks, and does not wait for later ones.
var waitScenes = []step.Scene{
	in("Wait for one that begins", 1, 1, func(w *world) {
		w.accept(w.task("a"))
		w.Go("wait", w.waits)
	}),
	in("Wait for two on two workers", 2, 2, func(w *world) {
		w.accept(w.task("a"), w.task("b"))
		w.Go("wait", w.waits)
	}),
	in("Wait for those before, not for that behind", 1, 2, func(w *world) {
		waited := make(chan struct{})
		w.accept(w.task("a"), w.task("b"))
		w.Go("wait", func() {
			w.waits()
			close(waited)
		})
		w.Settle()
		w.submit(w.blocked("later", waited))
	}),
	in("later tasks come in while Wait begins", 2, 2, func(w *world) {
		called, waited := make(chan struct{}), make(chan struct{})
		w.accept(w.task("a"))
		w.Go("wait", func() {
			w.waits()
			close(waited)
		})
		w.Go("submitter", func() {
			// Wait may still wait for a task that has no answer yet, but not for one that comes later.
			<-called
			w.submit(w.blocked("later", waited))
		})
		w.Settle()
		close(called)
	}),
	in("a worker goes from before to behind the end of Wait", 1, 3, func(w *world) {
		waited, release := make(chan struct{}), make(chan struct{})
		w.accept(w.blocked("a", release))
		w.Settle()
		w.Go("wait", func() {
			w.waits()
			close(waited)
		})
		w.Settle()
		w.accept(w.blocked("later", waited))
		close(release)
	}),
	in("two Waits, one task each", 1, 2, twoWaits),
	in("two Waits, two workers", 2, 2, twoWaits),
	in("Wait twice while one runs", 1, 2, func(w *world) {
		release := make(chan struct{})
		w.accept(w.blocked("a", release))
		w.Settle()
		w.Go("first", w.waits)
		w.Settle()
		w.Go("second", func() {
			w.submit(w.task("b"))
			w.waits()
		})
		w.Settle()
		close(release)
	}),
	in("Wait for a queue without places", 1, 0, func(w *world) {
		w.Go("first", func() {
			w.submit(w.task("a"))
			w.waits()
		})
		w.Go("second", func() { w.submit(w.task("b")) })
	}),
	in("a caller gives Wait up", 1, 1, func(w *world) {
		enough, release := make(chan struct{}), make(chan struct{})
		w.accept(w.blocked("a", release))
		w.Go("impatient", func() { w.Wait(enough) })
		w.Go("patient", w.waits)
		close(enough)
		w.Go("release", func() { close(release) })
	}),
	in("a caller gives Wait up, perhaps as it ends, and waits again", 1, 2, func(w *world) {
		enough, release := make(chan struct{}), make(chan struct{})
		w.accept(w.blocked("a", release))
		w.Go("impatient", func() {
			w.Wait(enough)
			w.submit(w.task("b"))
			w.waits()
		})
		w.Settle()
		w.Go("release", func() { close(release) })
		close(enough)
	}),
	in("Wait again, two at once", 1, 2, func(w *world) {
		w.Quietly(func() {
			w.accept(w.task("before"))
			w.waits()
		})
		twoWaits(w)
	}),
	in("another worker comes and goes while one runs that Wait waits for", 2, 1, func(w *world) {
		w.idle()
		release := make(chan struct{})
		w.accept(w.blocked("a", release))
		w.Settle()
		w.Go("wait", w.waits)
		w.Settle()
		w.accept(w.task("b"))
		w.Settle()
		close(release)
	}),
	in("of three in Wait, at different places, two give up", 1, 3, func(w *world) {
		enough, release := make(chan struct{}), make(chan struct{})
		w.accept(w.blocked("a", release))
		w.Settle()
		for range 2 {
			w.Go("impatient", func() { w.Wait(enough) })
			w.Settle()
			w.accept(w.task("b"))
		}
		w.Go("patient", w.waits)
		w.Settle()
		close(enough)
		w.Go("release", func() { close(release) })
	}),
	in("the last before the end of Wait is queued", 1, 3, func(w *world) {
		w.widen()
		release, waited := w.busy(), make(chan struct{})
		w.accept(w.task("a"))
		w.Go("wait", func() {
			w.waits()
			close(waited)
		})
		w.Settle()
		w.accept(w.blocked("later", waited))
		close(release)
	}),
	in("Wait asks while a worker is about to go beyond its end", 2, 2, func(w *world) {
		w.widen()
		release, waited := w.busy(), make(chan struct{})
		w.accept(w.task("a"))
		w.Go("wait", func() {
			w.waits()
			close(waited)
		})
		w.Settle()
		w.accept(w.blocked("later", waited))
		w.Go("look", func() { w.Start(0) })
		close(release)
	}),
	in("Wait begins while a worker takes a task", 2, 2, func(w *world) {
		w.widen()
		release, in, waited := w.busy(), make(chan struct{}), make(chan struct{})
		w.accept(w.blocked("a", in))
		w.Go("release", func() { close(release) })
		w.Go("wait", func() {
			w.waits()
			close(waited)
		})
		w.Go("submitter", func() {
			if w.Waits() > 0 {
				w.submit(w.blocked("later", waited))
			}
		})
		w.Go("go on", func() { close(in) })
	}),
	in("Wait behind a slot that is half-written", 1, 2, func(w *world) {
		w.widen()
		w.Go("first", func() { w.submit(w.task("a")) })
		w.Go("second", func() {
			w.submit(w.task("b"))
			w.waits()
		})
	}),
}

func twoWaits(w *world) {
	w.Go("first", func() {
		w.submit(w.task("a"))
		w.waits()
	})
	w.Go("second", func() {
		w.submit(w.task("b"))
		w.waits()
	})
}
