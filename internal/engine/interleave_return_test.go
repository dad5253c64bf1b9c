package engine_test

import (
	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/step"
)

// returnScenes are about tasks that have given their places up, and come back to the one of a task that waits for them.
var returnScenes = []step.Scene{
	in("a subtask goes on in the place of its task", 2, 2, func(w *world) {
		release := make(chan struct{})
		away, recall := w.givesUp("child", nil)
		w.accept(w.blocked("busy", release), w.parent("parent", away).then(func() { close(release) }))
		w.Go("recall", recall)
	}),
	in("a subtask gives its place up", 1, 2, func(w *world) {
		away, recall := w.givesUp("child", nil)
		w.submit(w.parent("parent", away, w.task("other child")))
		w.Go("recall", recall)
		w.Go("submitter", func() { w.submit(w.task("queued")) })
	}),
	in("a subtask comes back while another has the place that it began on", 2, 2, func(w *world) {
		release := make(chan struct{})
		away, recall := w.givesUp("child", nil)
		w.accept(w.parent("parent", away).then(func() { close(release) }))
		w.Go("submitter", func() { w.submit(w.blocked("busy", release)) })
		w.Go("recall", recall)
	}),
	in("a task comes back that another one waits for", 2, 2, func(w *world) {
		release, single := make(chan struct{}), new(engine.Single)
		away, recall := w.givesUp("needed", single)
		w.accept(w.awaits("waits", away, single).then(func() { close(release) }))
		w.Go("submitter", func() { w.submit(w.blocked("busy", release)) })
		w.Go("recall", recall)
	}),
	in("a subtask comes back next to another in the place of its task", 1, 2, func(w *world) {
		w.limit++ // the subtask has an extra place
		over := make(chan struct{})
		away, recall := w.givesUp("child", nil)
		w.accept(w.parent("parent", away).then(func() { close(over) }))
		w.Go("recall", recall)
		w.Go("other", func() { w.awaitElsewhere(w.blocked("needs the parent", over)) })
	}),
	in("a goroutine of a task has waited, and another one gives the place up", 1, 2, func(w *world) {
		a := &engine.Waiter{Turn: make(chan struct{}, 1)}
		away, recall := w.givesUp("away", nil)
		givesUp := away.on
		away.on = func(own *engine.Worker) {
			w.Suspend(a, own, nil)
			w.Go("other goroutine", func() {
				w.Recall(a, nil)
				<-a.Turn
			})
			givesUp(own)
		}
		w.accept(away, (&task{name: "recalls"}).then(recall))
	}),
}
