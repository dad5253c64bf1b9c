package engine_test

import (
	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/step"
)

// probeScenes are about Busy, in worlds in which no task is measured: the second call finds the workers that have had one task since
// the first, all of them and no others.
var probeScenes = []step.Scene{
	in("a worker has one task since before a probe", 1, 2, func(w *world) {
		w.Go("probe", w.probes)
		w.accept(w.task("a"), w.task("b"))
	}),
	in("one of two workers has one task since before a probe", 2, 2, func(w *world) {
		release := make(chan struct{})
		w.accept(w.blocked("a", release), w.task("b"))
		w.Go("probe", func() {
			w.probes()
			close(release)
		})
		w.accept(w.task("c"))
	}),
	in("a parked worker is woken between two probes", 1, 1, func(w *world) {
		release := make(chan struct{})
		w.accept(w.task("a"))
		w.Settle()
		w.Watch(func() any { return w })
		w.busySince()
		w.accept(w.blocked("b", release))
		w.Check(len(w.busySince()) == 0, "a worker is found that had no task at the probe")
		close(release)
	}),
	in("a probe, and two calls of Wait", 1, 3, func(w *world) {
		w.accept(w.task("a"), w.task("b"))
		w.Go("wait", w.waits)
		w.Go("probe", w.probes)
		w.accept(w.task("c"))
		w.waits()
	}),
	in("a probe while workers get tasks handed over", 2, 0, func(w *world) {
		w.Go("probe", w.probes)
		w.accept(w.task("a"), w.task("b"))
	}),
	in("a probe while a task waits for subtasks", 1, 1, func(w *world) {
		w.Go("probe", w.probes)
		w.submit(w.parent("parent", w.task("child 1"), w.task("child 2")))
		w.submit(w.task("other"))
	}),
	in("the tasks are cut while one begins", 1, 1, func(w *world) {
		ends := make(chan struct{}, 2) // the task may learn of the cut in both ways
		var tenant engine.Tenant
		tenant.Self = &tenant
		w.Go("cut", func() {
			for _, t := range w.Cut() {
				w.Check(t == any(&tenant), "the tenant of no task is listed")
				ends <- struct{}{}
			}
		})
		w.accept(&task{name: "a", on: func(own *engine.Worker) {
			if own.SetTenant(&tenant) {
				ends <- struct{}{}
			}
			<-ends // for ever, if neither has seen the other
		}})
	}),
	in("a probe of parked workers", 2, 2, func(w *world) {
		w.accept(w.task("a"), w.task("b"))
		w.Settle()
		w.Watch(func() any { return w })
		w.busySince()
		w.Check(len(w.busySince()) == 0, "a parked worker has a task")
	}),
}

func (w *world) busySince() (found []*engine.Worker) {
	for _, b := range w.Busy(0) {
		found = append(found, b.Worker)
	}
	return found
}

// probes calls Busy twice, and checks what the second call finds.
func (w *world) probes() {
	w.Watch(func() any { return w })
	begin := w.read()
	w.busySince()
	probed := w.read()
	w.Point()
	looks := w.read()
	found := w.busySince()
	w.found(found, begin, probed, looks, w.read())
}
