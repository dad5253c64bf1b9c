package engine_test

import "github.com/64ed045f/weir/internal/step"

// ringScenes are about queues that grow and shrink, ring by ring. The explorer's rings begin with one place.
var ringScenes = []step.Scene{
	in("a queue grows while tasks are taken", 1, 4, func(w *world) {
		w.Go("first", func() {
			w.submit(w.task("a"))
			w.submit(w.task("b"))
		})
		w.Go("second", func() {
			w.submit(w.task("c"))
			w.submit(w.task("d"))
		})
	}),
	in("a queue of several rings, taken by two", 2, 4, func(w *world) {
		w.pause()
		w.accept(w.task("a"), w.task("b"), w.task("c"))
		w.Go("resume", w.resume)
		w.Go("submitter", func() { w.submit(w.task("d")) })
	}),
	in("a pause at the end of a ring", 1, 4, func(w *world) {
		w.pause()
		w.accept(w.task("a"), w.task("b"), w.task("c"))
		w.resume()
		w.Go("pause", func() {
			w.pause()
			w.Point()
			w.resume()
		})
	}),
	in("a queue grows up to its end", 1, 2, func(w *world) {
		release := w.busy()
		for _, name := range []string{"a", "b", "c"} {
			w.Go(name, func() { w.try(w.task(name)) })
		}
		w.Go("release", func() { close(release) })
	}),
	in("a queue grows while its rings are used up", 1, 3, func(w *world) {
		for _, name := range []string{"a", "b", "c"} {
			w.Go(name, func() { w.submit(w.task(name)) })
		}
	}),
	in("the memory of the queue is given back while a task comes in", 1, 2, func(w *world) {
		w.accept(w.task("a"))
		w.Settle()
		w.Go("resize", func() { w.submit(w.task("b")) })
		w.Go("submitter", func() { w.submit(w.task("c")) })
	}, ending),
	in("the end of Wait in a later ring", 1, 4, func(w *world) {
		waited := make(chan struct{})
		w.pause()
		w.accept(w.task("a"), w.task("b"))
		w.Go("wait", func() {
			w.waits()
			close(waited)
		})
		w.Settle()
		w.accept(w.blocked("later", waited))
		w.resume()
	}),
}
