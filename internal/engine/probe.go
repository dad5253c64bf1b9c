package engine

import (
	"slices"
	"time"
)

// A probe asks all workers, as a call of Wait does: each sees it when it takes its next task, or finds none. One that has not seen it
// since has been on one task all the time, from before the probe. So a task costs nothing for the sake of it.
//
// Worker.seen tells that, also where report sets it to less than the last number: the worker then belongs to a wait that asked when the
// worker had its task already, and has had that since before all later numbers.
//
// When a task began that is measured is known without a probe: see meter.
type probe struct {
	number uint64        // with which it has asked
	at     time.Duration // since Engine.clock
}

// watch is what an engine has in addition if its workers are looked at.
type watch struct {
	probes []probe // the oldest first; under Engine.mu
	of     any     // for Worker.Watch
}

// ProbePause is between two probes at least: each makes each worker take the lock once.
const ProbePause = 10 * time.Millisecond

const looksAtOnce = 1024 // under the lock, which they hold for some 20 µs

// Watch makes Worker.Watch return what made returns, from now on, unless it returns something already. It precedes Busy.
func (e *Engine) Watch(made func() any) {
	if e.watch.Load() == nil {
		e.watch.CompareAndSwap(nil, &watch{of: made()})
	}
}

// Watch returns what the engine was given by Watch; nil if it was given nothing. A worker that calls Begin sees it, and so does each that has
// taken a task since the next call of Busy, except under Engine.mu.
func (w *Worker) Watch() any {
	if v := w.engine.watch.Load(); v != nil {
		return v.of
	}
	return nil
}

// Number tells workers of an engine apart. It is at least 1, and after 65535 workers others have the same.
func (w *Worker) Number() int { return int(w.number) }

// A Busy is a worker that has had one task for some time.
type Busy struct {
	Worker *Worker
	Since  time.Time // it has had the task since then at least
	Waits  Waits     // what the task waits for
	begun  int64     // when a measured task began; else 0
	seen   uint64    // of the worker
}

// Waits says what a task waits for.
type Waits uint8

// What a task may wait for.
const (
	ForNothing  Waits = iota
	ForOther          // work that is not of its engine, or not known
	ForSubtasks       // a set of subtasks
	ForSingle         // a single task
	ForBlocking       // what it has given its place up for
	ForPlace          // a place, as it has given its own up
)

// Task tells b's task apart from others that calls of Busy find. A later one is the same if task is equal, and begun is, or was 0. Both are the same
// while the worker is between that task and the next.
//
// A task that is found with a begun of 0 is known by a number that its worker has not seen. The worker sees it before its next task, so the task
// after that has another key. A measured one may be found by a call that asks with no new number, ProbePause after another.
func (b Busy) Task() (task any, begun int64) {
	type key struct {
		worker *Worker
		seen   uint64
	}
	return key{b.Worker, b.seen}, b.begun
}

// Busy returns the workers that have had one task for so long, as far as that is known: when measured tasks began, and of others which
// ones ran at an earlier call of Busy. Only those calls count that follow others by 10 ms.
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

// Tenants lists what Run has made known of the tasks that have begun, on workers that are not idle. A task may have ended since, and the worker may
// have another one of the same kind, which it does not know yet.
func (e *Engine) Tenants() (list []any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.eachWorker(func(w *Worker) {
		if t := w.Tenant.Load(); t != nil && !w.idle {
			list = append(list, t.Self)
		}
	})
	return list
}

// eachWorker calls look for each worker, under the lock, which the caller holds. Where there are many it releases the lock now and then.
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

// taskOf returns since when w has had its task at least, or none if nothing is known of that. A measured task that has begun after now did so while
// eachWorker did not hold the lock, or is in a test bubble whose clock is behind that of the engine.
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
	case p.returner != nil:
		return ForPlace
	case p.blocked > 0:
		return ForBlocking
	case p.waits == 0:
		return ForNothing
	}
	switch first := p.awaits.First().Of(); {
	case first == nil:
		return ForOther
	case first.subtasks != nil:
		return ForSubtasks
	default:
		return ForSingle
	}
}

// Still reports whether the worker has had the same task since.
func (b Busy) Still() bool {
	e := b.Worker.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	now, _ := e.taskOf(b.Worker, 0)
	return now.Worker != nil && now.begun == b.begun && now.seen == b.seen // two tasks may begin at one reading of a coarse clock
}

// probe asks the workers, unless it has just done so, and returns the time.
func (e *Engine) probe() (now time.Duration) {
	now = time.Since(e.clock)
	v := e.watch.Load()
	if n := len(v.probes); n > 0 {
		switch pause := now - v.probes[n-1].at; {
		case pause < 0: // this is a test bubble, and the last probe was not in it
			v.probes = nil
		case pause < ProbePause:
			return now
		}
	}
	number := e.asked.Add(1)
	now = time.Since(e.clock) // not before: a worker that has not seen the number has had its task since before that
	v.thin(now)
	v.probes = append(v.probes, probe{number, now})
	return now
}

// thin removes probes that need not be known exactly: of three, one after the other, the middle one, if the first is at most twice as old as the
// last. So there is always a probe between a time ago and twice that, if there were enough, and two are left for each time that their age doubles.
func (v *watch) thin(now time.Duration) {
	kept := v.probes[:0]
	for i, p := range v.probes {
		if n := len(kept); n == 0 || i == len(v.probes)-1 || now-kept[n-1].at > 2*(now-v.probes[i+1].at) {
			kept = append(kept, p)
		}
	}
	v.probes = kept
}
