package engine

import (
	"slices"
	"time"
)

// A probe asks all workers, as a call of Wait does. Each worker sees it when it takes its next task, or finds
// none. A worker that has not seen it has been on one task since before the probe. So probes cost a task
// nothing.
//
// Worker.seen tells whether a worker has seen a probe. This holds, too, where report has set seen to less
// than the last number. Then the worker belongs to a wait that asked when the worker had its task already, so
// it has had the task since before all later numbers.
//
// When a measured task began is known without a probe: see meter.
type probe struct {
	number uint64        // the number with which it has asked
	at     time.Duration // since Engine.clock
}

// watch is what an engine has in addition while other goroutines look at its workers.
type watch struct {
	probes []probe // the oldest first; under Engine.mu
	of     any     // the result of Worker.Watch
}

// ProbePause is the least time between two probes: each makes each worker take the lock once.
const ProbePause = 10 * time.Millisecond

const looksAtOnce = 1024 // workers looked at in one hold of the lock, some 20 µs

// Watch makes Worker.Watch return the result of made from now on, unless it returns something already. It
// must precede Busy.
func (e *Engine) Watch(made func() any) {
	if e.watch.Load() == nil {
		e.watch.CompareAndSwap(nil, &watch{of: made()})
	}
}

// Watch returns what was given to the engine's Watch; nil if nothing was. A worker that calls Begin sees it.
// So does each worker that takes a task after the next call of Busy, unless it takes the task under
// Engine.mu.
func (w *Worker) Watch() any {
	if v := w.engine.watch.Load(); v != nil {
		return v.of
	}
	return nil
}

// Number tells the workers of an engine apart. It is at least 1. Once there have been 65535 workers, numbers
// are used again. It is hidden from the race detector, as its caller is: a caller that lists groups need not know of the goroutine that has
// made w. A function that the compiler puts into a hidden one is hidden with it, but not in a program that is built for a debugger. So it
// puts this one nowhere, and a test under the race detector finds it if it is not hidden by itself.
//
//go:norace
//go:noinline
func (w *Worker) Number() int { return int(w.number) }

// Base returns the worker of the topmost engine that runs w, which is a worker of e. That is w itself if e is no lane.
func (e *Engine) Base(w *Worker) *Worker {
	e.mu.Lock()
	defer e.mu.Unlock()
	for w.carrier != nil {
		w = w.carrier
	}
	return w
}

// A Busy is a worker that has had one task for some time.
type Busy struct {
	Worker *Worker
	Since  time.Time // the worker has had the task at least since then
	Waits  Waits     // what the task waits for
	begun  int64     // when a measured task began; else 0
	seen   uint64    // the worker's seen
}

// Waits says what a task waits for.
type Waits uint8

// What a task may wait for.
const (
	ForNothing  Waits = iota
	ForOther          // work of another engine, or unknown work
	ForSubtasks       // a set of subtasks
	ForSingle         // a single task
	ForBlocking       // something for which it has given its place up
	ForPlace          // a place, after it has given its own up
)

// Task tells b's task apart from others that calls of Busy find. A task found later is the same one if its
// task is equal, and its begun is equal, or was 0 before. Between a task and the next one of the worker both
// stay the same.
//
// A task found with a begun of 0 is known by a number that its worker has not seen. The worker sees that
// number before its next task, so the next task has another key. A measured task may be found by a call of
// Busy that asks with no new number, because another call was made less than ProbePause before.
func (b Busy) Task() (task any, begun int64) {
	type key struct {
		worker *Worker
		seen   uint64
	}
	return key{b.Worker, b.seen}, b.begun
}

// Busy returns the workers that have had one task for longer, as far as that is known. It is known when
// measured tasks began, and which other tasks ran at an earlier call of Busy. Of the calls of Busy only those
// count that follow another by [ProbePause].
func (e *Engine) Busy(longer time.Duration) (found []Busy) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.probe()
	e.refreshMeter(now)
	e.eachWorker(func(w *Worker) {
		b, since := e.taskOf(w, now)
		if b.Worker != nil && now-since >= longer {
			b.Since = e.clock.Add(since)
			found = append(found, b)
		}
	})
	return found
}

// Cut lists the tenants of tasks that have begun, on workers that are not idle. SetTenant, called for a task that begins from now on, reports true. A
// listed task may have ended since. Its worker may then have another task of the same kind that has not set a tenant yet.
func (e *Engine) Cut() (tenants []any) {
	e.cut.Store(true)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.eachWorker(func(w *Worker) {
		if t := w.Tenant.Load(); t != nil && !w.idle {
			tenants = append(tenants, t.Self)
		}
	})
	return tenants
}

// eachWorker calls look for each worker, under the lock, which the caller holds. If there are many workers,
// eachWorker releases the lock now and then.
func (e *Engine) eachWorker(look func(w *Worker)) {
	workers := e.workers
	if len(workers) > looksAtOnce {
		workers = slices.Clone(workers)
	}
	for i, w := range workers {
		if i > 0 && i%looksAtOnce == 0 {
			e.mu.Unlock()
			e.mu.Lock()
		}
		look(w)
	}
}

// taskOf returns since when w has had its task at least. It returns no worker if nothing is known of that. A
// measured task that has begun after now did so while eachWorker did not hold the lock, or is in a test
// bubble whose clock is behind the engine's.
func (e *Engine) taskOf(w *Worker, now time.Duration) (b Busy, since time.Duration) {
	if w.idle || w.free.Load() {
		return b, 0
	}
	b.begun, b.seen = w.begun.Load(), w.seen
	if since = time.Duration(b.begun); b.begun == 0 || since > now {
		probes := e.watch.Load().probes
		first := slices.IndexFunc(probes, func(p probe) bool { return w.seen < p.number })
		switch {
		case first >= 0:
			since = probes[first].at
		case b.begun != 0:
			since = now
		default:
			return b, 0
		}
	}
	b.Worker = w
	b.Waits = w.waitsFor()
	return b, since
}

func (w *Worker) waitsFor() Waits {
	p := w.place
	switch {
	case p == nil:
		return ForNothing
	case p.returner != nil, p.waits == 0 && w.returnsAbove():
		return ForPlace
	case p.blocked > 0 && (p.waits == 0 || p.without): // else other goroutines of the task wait, and it has kept its place
		return ForBlocking
	case p.waits == 0:
		return ForNothing
	}
	for l := p.awaits.First(); l != nil; l = l.Next() {
		switch w := l.Of(); {
		case w.via != nil: // the task waits for it by way of other engines
		case w.subtasks != nil:
			return ForSubtasks
		default:
			return ForSingle
		}
	}
	return ForOther
}

// Still reports whether the worker still has the same task.
func (b Busy) Still() bool {
	e := b.Worker.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	now, _ := e.taskOf(b.Worker, 0)
	return now.Worker != nil && now.begun == b.begun && now.seen == b.seen // two tasks may begin at one reading of a coarse clock
}

// probe asks the workers to report, unless it has just done so, and returns the time.
func (e *Engine) probe() (now time.Duration) {
	now = time.Since(e.clock)
	v := e.watch.Load()
	if n := len(v.probes); n > 0 {
		switch pause := now - v.probes[n-1].at; {
		case pause < 0: // this is a test bubble, and the last probe was outside it
			v.probes = nil
		case pause < ProbePause:
			return now
		}
	}
	number := e.asked.Add(1)
	now = time.Since(e.clock) // after the number: a worker that has not seen it has had its task since before now
	v.thin(now)
	v.probes = append(v.probes, probe{number, now})
	return now
}

// thin removes probes whose time need not be known exactly. Of three in a row it removes the middle one, if
// the first is at most twice as old as the last. So there is always a probe between any age and twice that
// age, if there were enough probes. About two probes are kept for each doubling of their age.
func (v *watch) thin(now time.Duration) {
	kept := v.probes[:0]
	for i, p := range v.probes {
		if n := len(kept); n == 0 || i == len(v.probes)-1 || now-kept[n-1].at > 2*(now-v.probes[i+1].at) {
			kept = append(kept, p)
		}
	}
	v.probes = kept
}
