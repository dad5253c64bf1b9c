package engine_test

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/step"
)

// workerScenes are about workers that rest, end, expire, and survive their tasks.
var workerScenes = []step.Scene{
	in("a submitter meets a worker that comes to rest", 1, 2, func(w *world) {
		w.Go("submitter", func() {
			w.submit(w.task("a"))
			w.submit(w.task("b"))
			w.submit(w.task("c"))
		})
	}),
	in("a pair meets workers that come to rest", 2, 2, func(w *world) {
		one, other := w.pair("pair")
		w.accept(w.task("a"), w.task("b"))
		w.Go("submitter", func() {
			w.submit(one)
			w.submit(other)
		})
	}),
	in("a worker takes the task for which another is about to be woken", 2, 4, func(w *world) {
		w.widen()
		release := make(chan struct{})
		w.Go("submitter", func() {
			w.submit(w.task("short"))
			w.submit(w.blocked("a", release))
			w.submit(w.blocked("b", release))
			w.submit(w.blocked("c", release))
		})
		w.Settle()
		close(release)
	}),
	in("workers that do not rest", 1, 1, func(w *world) {
		w.Go("first", func() { w.submit(w.task("a")) })
		w.Go("second", func() { w.submit(w.task("b")) })
	}, ending),
	in("a pair, and workers that do not rest", 2, 2, func(w *world) {
		one, other := w.pair("pair")
		w.Go("first", func() {
			w.submit(w.task("a"))
			w.submit(one)
		})
		w.Go("second", func() { w.submit(other) })
	}, ending),
	in("a pair comes in where all tasks block", 4, 4, func(w *world) {
		release := w.blocks(2)
		one, other := w.pair("pair")
		w.Go("first", func() { w.submit(one) })
		w.Go("second", func() { w.submit(other) })
		w.stillBlocked(2)
		close(release)
	}, rushing),
	in("three that need each other come in where all tasks block", 5, 4, func(w *world) {
		release := w.blocks(2)
		tasks := w.circle(3)
		w.Go("first", func() { w.submit(tasks[0]) })
		w.Go("second", func() {
			w.submit(tasks[1])
			w.submit(tasks[2])
		})
		w.stillBlocked(2)
		close(release)
	}, rushing),
	in("a task that blocks ends while others come in", 3, 4, func(w *world) {
		release := w.blocks(2)
		one, other := w.pair("pair")
		w.Go("first", func() { w.submit(one) })
		w.Go("second", func() { w.submit(other) })
		w.Go("release", func() { close(release) })
	}, rushing),
	in("Wait where all tasks block", 4, 4, func(w *world) {
		waited := make(chan struct{})
		release := w.blocks(1)
		w.Go("wait", func() {
			w.submit(w.blocked("before", release))
			w.waits()
			close(waited)
		})
		w.Settle()
		w.submit(w.blocked("later", waited))
		close(release)
	}, rushing),
	in("Wait begins where all tasks block", 4, 4, func(w *world) {
		release := w.blocks(2)
		w.Go("wait", w.waits)
		w.Go("submitter", func() {
			w.submit(w.task("a"))
			w.submit(w.task("b"))
		})
		w.stillBlocked(2)
		close(release)
	}, rushing),
	in("a pause where all tasks block", 4, 4, func(w *world) {
		release := w.blocks(2)
		w.Go("pause", func() {
			w.pause()
			w.resume()
		})
		w.Go("submitter", func() {
			w.submit(w.task("a"))
			w.submit(w.task("b"))
		})
		w.stillBlocked(2)
		close(release)
	}, rushing),
	in("Close where all tasks block", 4, 4, func(w *world) {
		release := w.blocks(2)
		w.Go("close", w.closes)
		w.Go("submitter", func() {
			w.submit(w.task("a"))
			w.submit(w.task("b"))
		})
		w.stillBlocked(2)
		close(release)
	}, rushing),
	in("the limit rises where all tasks block", 2, 1, func(w *world) {
		release := w.blocks(2)
		var accepted atomic.Int32
		for _, name := range []string{"first", "second"} {
			w.Go(name, func() {
				w.submit(w.blocked(name, release))
				accepted.Add(1)
			})
		}
		w.Go("resize", func() { w.resize(3) })
		w.Settle()
		w.Check(accepted.Load() == 2, "%d of 2 are accepted, one runs and there is room for the other", accepted.Load())
		close(release)
	}, rushing),
	in("workers without a second task end", 3, 4, func(w *world) {
		release := w.blocks(2)
		one, other := w.pair("pair")
		w.Go("release", func() { close(release) })
		w.Go("submitter", func() {
			w.submit(one)
			w.submit(other)
		})
	}, rushing, fewParked),
	in("after a panic", 1, 1, func(w *world) {
		w.Go("first", func() { w.submit(w.panics("panics")) })
		w.Go("second", func() { w.submit(w.task("a")) })
	}),
	in("after a panic, a pair", 2, 2, func(w *world) {
		one, other := w.pair("pair")
		w.Go("first", func() {
			w.submit(w.panics("panics"))
			w.submit(one)
		})
		w.Go("second", func() { w.submit(other) })
	}),
	in("after Goexit", 1, 1, func(w *world) {
		w.Go("first", func() { w.submit(w.exits("exits")) })
		w.Go("second", func() { w.submit(w.task("a")) })
	}),
	in("after Goexit, a pair", 2, 2, func(w *world) {
		one, other := w.pair("pair")
		w.Go("first", func() {
			w.submit(w.exits("exits"))
			w.submit(one)
		})
		w.Go("second", func() { w.submit(other) })
	}),
	in("a ledger in a hurry", 1, 2, func(w *world) {
		w.widen()
		told := make(herald, 2)
		first, second := w.task("first"), w.blocked("waits for the ledger", told)
		first.ledger, second.ledger = told, told
		w.accept(first, second)
	}),
	in("a pair comes in while workers expire", 2, 2, func(w *world) {
		w.idle()
		one, other := w.pair("pair")
		w.Go("submitter", func() {
			w.submit(one)
			w.submit(other)
		})
		w.Go("other", func() { w.submit(w.task("a")) })
	}, passing),
	in("a task comes in while the last worker expires", 1, 1, func(w *world) {
		w.idle()
		w.Go("submitter", func() { w.submit(w.task("a")) })
	}, passing),
	in("an engine is closed while its workers expire", 2, 1, func(w *world) {
		w.idle()
		w.Go("close", w.closes)
	}, passing),
	in("the worker that has rested for longest expires first", 2, 1, func(w *world) {
		first, second := make(chan struct{}), make(chan struct{})
		w.accept(w.blocked("first", first), w.blocked("second", second))
		w.Settle()
		close(first)
		time.Sleep(idleTimeout / 2)
		close(second)
		time.Sleep(idleTimeout * 3 / 4)
		w.Check(w.Stats().Workers == 1, "%d workers, one of two has rested for long enough", w.Stats().Workers)
		time.Sleep(idleTimeout / 2)
		w.Check(w.Stats().Workers == 0, "%d workers, all have rested for long enough", w.Stats().Workers)
	}, quiet),
}

// spreadScenes are those of workers that are woken while tasks wait, with tasks that take long.
func spreadScenes() []step.Scene {
	scenes := slices.DeleteFunc(slices.Concat(submitScenes, workerScenes), func(s step.Scene) bool { return !slices.Contains(spreadNames, s.Name) })
	return append(again(scenes, ", long tasks", long),
		in("long tasks come in during a pause", 3, 3, func(w *world) {
			w.pause()
			for _, j := range w.circle(3) {
				w.submit(j)
			}
			w.resume()
		}, long),
		in("Wait begins in a pause, and long tasks come in", 4, 4, func(w *world) {
			waited, release := make(chan struct{}), make(chan struct{})
			w.pause()
			w.Go("wait", func() {
				w.submit(w.blocked("before", release))
				w.waits()
				close(waited)
			})
			w.Settle()
			w.resume()
			w.Settle()
			w.submit(w.blocked("later", waited))
			close(release)
		}, long))
}

var spreadNames = []string{
	"two that need each other come in at once",
	"two that need each other come in at idle workers",
	"three that need each other come in while a worker ends a task",
	"waiting submitters are served while a task that was let in waits for the next",
	"a pair meets workers that come to rest",
	"a worker takes the task for which another is about to be woken",
	"a pair, and workers that do not rest",
	"a pair comes in where all tasks block",
	"Wait where all tasks block",
	"Wait begins where all tasks block",
	"a pause where all tasks block",
	"Close where all tasks block",
	"the limit rises where all tasks block",
	"after a panic, a pair",
	"a pair comes in while workers expire",
}

// freer lets an execution choose more often which goroutine goes on.
func freer(s *step.Scene, _ *engine.Config) { s.Free = 3 }

// ending makes workers end rather than rest.
func ending(_ *step.Scene, c *engine.Config) { c.IdleTimeout = 0 }

// rushing makes tasks come with their workers after two that block; the second has a worker that searches.
func rushing(_ *step.Scene, c *engine.Config) { c.Blocked = 1 }

// fewParked makes all idle workers but one end after tasks that came at once.
func fewParked(_ *step.Scene, c *engine.Config) { c.Parked = 1 }

// passing lets time pass at any step, quiet when no goroutine can go on.
func passing(s *step.Scene, _ *engine.Config) { s.Clock = step.AtAnyTime }

func quiet(s *step.Scene, _ *engine.Config) { s.Clock = step.WhenQuiet }
