package engine_test

import (
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/step"
)

// expiry is how long a task may be queued in expiryScenes.
const expiry = time.Second

// expiringIn makes a scene in which tasks expire. release is closed when so many have been, if that is not 0.
func expiringIn(name string, queue, last int, body func(w *world, release chan struct{}), settings ...setting) step.Scene {
	return in(name, 1, queue, func(w *world) {
		var release chan struct{}
		var left atomic.Int32
		left.Store(int32(last))
		w.Config.Expiry = &engine.Expiry{After: expiry, Expired: func(by *engine.Worker, v engine.Task) (tell func()) {
			j := taskOf(v)
			if by != nil {
				by.Vacate()
			}
			return func() {
				w.Point()
				w.expires(j)
				if left.Add(-1) == 0 {
					close(release)
				}
			}
		}}
		release = w.busy()
		body(w, release)
	}, append(settings, measured)...)
}

// gone checks that tasks have been handed back.
func (w *world) gone(tasks ...*task) {
	w.lock()
	defer w.mu.Unlock()
	for _, j := range tasks {
		w.Check(j.returned == 1, "%s was queued for longer, and is handed back %d times", j.name, j.returned)
	}
}

// stays checks that a task has not been handed back.
func (w *world) stays(j *task) {
	w.lock()
	defer w.mu.Unlock()
	w.Check(j.returned == 0, "%s is handed back too early", j.name)
}

// expiryScenes are about tasks that are queued for too long, behind one that blocks.
var expiryScenes = []step.Scene{
	expiringIn("tasks expire one after the other", 4, 0, func(w *world, release chan struct{}) {
		a, b := w.task("a"), w.task("b")
		w.accept(a)
		time.Sleep(expiry / 2)
		w.accept(b)
		time.Sleep(expiry * 3 / 4)
		w.gone(a)
		w.stays(b)
		time.Sleep(expiry / 2)
		w.gone(b)
		close(release)
	}, quiet),
	expiringIn("a worker comes when a task expires", 4, 0, func(w *world, release chan struct{}) {
		w.accept(w.task("a"), w.task("b"))
		w.Go("release", func() { close(release) })
	}, passing),
	expiringIn("a task comes when the last one expires", 4, 2, func(w *world, release chan struct{}) {
		w.Quietly(func() { w.accept(w.task("a")) })
		w.Go("submitter", func() { w.submit(w.task("b")) })
		<-release
	}, passing),
	expiringIn("two tasks come when the last one expires", 4, 3, func(w *world, release chan struct{}) {
		w.Quietly(func() { w.accept(w.task("a")) })
		w.Go("submitter", func() { w.submit(w.task("b")) })
		w.Go("other submitter", func() { w.submit(w.task("c")) })
		<-release
	}, passing, shallow),
	expiringIn("a submitter waits for the room of a task that expires", 1, 2, func(w *world, release chan struct{}) {
		w.accept(w.task("a"))
		w.takesBack() // the books learn that it has expired when there is room already
		w.Go("submitter", func() { w.submit(w.task("b")) })
		<-release
	}, passing),
	expiringIn("tasks expire in a pause", 4, 0, func(w *world, release chan struct{}) {
		w.pause()
		a, b := w.task("a"), w.task("b")
		w.accept(a, b)
		w.Go("wait", w.waits)
		time.Sleep(expiry * 3 / 2)
		w.gone(a, b)
		close(release)
		w.resume()
	}, quiet),
	expiringIn("Wait waits for a task that expires", 4, 0, func(w *world, release chan struct{}) {
		w.accept(w.task("a"))
		w.Go("wait", w.waits)
		w.Go("release", func() { close(release) })
	}, passing),
	expiringIn("Close waits for a task that expires", 4, 0, func(w *world, release chan struct{}) {
		w.accept(w.task("a"))
		w.Go("close", w.closes)
		w.Go("release", func() { close(release) })
	}, passing),
	expiringIn("Shutdown's time is over when tasks expire", 4, 0, func(w *world, release chan struct{}) {
		w.accept(w.task("a"), w.task("b"))
		w.Go("shutdown", func() {
			w.shuts()
			close(release)
		})
	}, passing),
}
