package programs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
)

// run is one execution of a program.
type run struct {
	program *Program
	library library
	locks   [lockCount]sync.Locker
	started []atomic.Int64 // how often, by task
	onces   map[int]*task  // by number
	some    []bool         // tasks whose number depends on how many calls share one, by task
	gauges  [2][]gauge     // running and begun, by pool
	keys    [shared][contextLane]gauge
	lines   [shared][contextLane]line
	turns   [outside]turns
	over    [len(Excess{})]atomic.Int64
	steps   atomic.Int64 // grows as long as anything happens

	mu    sync.Mutex
	wrong error // the first thing that must not be
}

// library is what a program runs on. Its calls block as those of weir do.
type library interface {
	gather(ctx context.Context, b *batch) error // hands over the tasks of a batch, and waits for them
	async(ctx context.Context, pool int, task func(context.Context) (int, error)) future
	do(ctx context.Context, pool int, task func(context.Context) error) error
	hedge(ctx context.Context, after, pool int, task func(context.Context) (int, error)) error
	call(ctx context.Context, task func()) error
	submit(ctx context.Context, pool int, try bool, task func()) error // with try, first without waiting for room
	submitKey(ctx context.Context, pool, key int, try bool, task func()) error
	once(ctx context.Context, pool, key int, task func(context.Context) (int, error)) (int, error)
	later(d time.Duration, runs, pool int, task func(context.Context)) // runs is 0 for a timer that does not repeat
	rest(ctx context.Context, wait func())
	divide(pool, n int, body func(lo, hi int))
	sort(pool int, items []int)
	resize(pool, limit int)
	pause(pool int, d time.Duration) // starts it
	shut(pool int, d time.Duration)
	wait(pool int)
	lease(ctx context.Context, task func()) error
	finish() // waits for everything that was handed over
}

type future interface {
	Get(ctx context.Context) (int, error)
}

func newRun(p *Program, on func(*run) library) *run {
	tasks, _ := p.index()
	r := &run{program: p, started: make([]atomic.Int64, len(tasks)), onces: map[int]*task{}}
	for i := range r.locks {
		r.locks[i] = new(sync.Mutex)
		if p.With.has(fmt.Sprint("channel", i+1)) {
			r.locks[i] = make(channel, 1)
		}
	}
	limits := p.limits(tasks)
	for what := range r.gauges {
		r.gauges[what] = make([]gauge, len(p.Pools))
		for i, b := range p.Pools {
			g := &r.gauges[what][i]
			if g.limit, g.over = limits[i], &r.over[what]; b.Of > 0 {
				g.above = &r.gauges[what][b.Of-1]
			}
		}
	}
	for i := range r.keys {
		for key := range r.keys[i] {
			r.keys[i][key] = gauge{limit: max(p.Pools[i].Keys, 1), over: &r.over[apart], above: &r.gauges[running][i]}
		}
	}
	r.some = make([]bool, len(tasks))
	for _, t := range tasks { // those that a task hands over come after it
		visit(t.Acts, func(a *act) {
			for _, kid := range a.Kids {
				r.some[kid.id] = r.some[t.id] || a.Kind == once
				if a.Kind == once {
					r.onces[a.N] = kid
				}
			}
		})
	}
	r.library = on(r)
	return r
}

// limits is the largest limit that each pool ever has.
func (p *Program) limits(tasks []*task) (limits []int) {
	for i, b := range p.Pools {
		limit := b.Limit
		for _, c := range p.Control {
			if c.Pool == i {
				limit = max(limit, c.Limit)
			}
		}
		for _, t := range tasks {
			visit(t.Acts, func(a *act) {
				if a.Kind == resize && a.Pool == i {
					limit = max(limit, a.N)
				}
			})
		}
		limits = append(limits, limit)
	}
	return limits
}

// rated is the pool whose rate holds for a pool.
func (p *Program) rated(pool int) int {
	for p.Pools[pool].Rate == 0 && p.Pools[pool].Of > 0 {
		pool = p.Pools[pool].Of - 1
	}
	return pool
}

// turnsAreKnown reports whether no task waits for what comes from outside, which may then begin without its turn.
func (p *Program) turnsAreKnown() (known bool) {
	known = true
	tasks, _ := p.index()
	for _, t := range tasks {
		visit(t.Acts, func(a *act) { known = known && !a.closes() })
	}
	return known
}

// channel is a lock that is a channel with one slot.
type channel chan struct{}

func (c channel) Lock()   { c <- struct{}{} }
func (c channel) Unlock() { <-c }

func (r *run) fail(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wrong == nil {
		r.wrong = fmt.Errorf(format, args...)
	}
}

// actor is an execution of a task, or one goroutine of it.
type actor struct {
	*run
	task    *task
	ctx     context.Context
	place   *place // nil outside
	begun   *gauge // set if the task comes from outside
	again   bool   // it has failed before
	guest   bool   // of Do, in the place of its caller
	caller  *actor // of Do on another pool
	cancel  func(error)
	futures *made
}

// made is a list of futures, the newest first.
type made struct {
	future
	n    int
	task *task
	next *made
}

var (
	errFailed = errors.New("a task has failed")
	errThrown = errors.New("a task has panicked")
	errCancel = errors.New("a group was cancelled")
)

// value is what a task returns.
func (t *task) value() int { return t.id + 1 }

// child returns the execution of a task that a hands over.
func (a *actor) child(t *task) *actor {
	c := &actor{run: a.run, task: t, futures: a.futures}
	if t.pool < outside {
		c.place = &place{running: &a.gauges[running][t.pool]}
		if a.task == a.program.Main {
			c.begun = &a.gauges[begun][t.pool]
		}
	}
	return c
}

// live runs the task.
func (a *actor) live(ctx context.Context) (value int, err error) {
	a.ctx = ctx
	a.started[a.task.id].Add(1)
	a.steps.Add(1)
	if !a.guest {
		a.place.running.enter()
		defer a.place.running.leave()
	}
	if a.begun != nil {
		a.begun.enter()
		defer a.begun.leave()
		if t := &a.turns[a.program.rated(a.task.pool)]; !a.again && !t.take() {
			a.fail("%d tasks have begun in %v, and there is a turn every %v", t.begun.Load(), time.Since(t.since), t.every)
		}
	}
	err = a.perform(a.task.Acts)
	switch with := a.task.With; {
	case err != nil:
		return 0, err
	case with.has("fails"):
		return 0, errFailed
	case with.has("panics"):
		panic(errThrown)
	case with.has("exits"):
		runtime.Goexit()
	case with.has("cancels") && a.cancel != nil:
		a.cancel(errCancel)
	}
	return a.task.value(), nil
}

// perform does acts. It returns an error only if that ends the task.
func (a *actor) perform(acts []*act) error {
	for _, act := range acts {
		err := a.step(act)
		if err != nil && !a.program.With.has("noisy") {
			a.fail("%v has returned %w", act, err)
		}
		if err != nil && a.task.With.has("heeds") {
			return err
		}
	}
	return nil
}

func (a *actor) step(act *act) error {
	defer a.steps.Add(1)
	switch act.Kind {
	case compute:
		toil(time.Duration(act.With["span"]) * time.Microsecond)
	case rest:
		a.place.pause()
		defer a.place.resume()
		a.library.rest(a.ctx, func() { toil(time.Duration(act.With["span"]) * time.Microsecond) })
	case shut:
		a.library.shut(act.Pool, time.Duration(act.With["span"])*time.Microsecond)
	case quiet:
		a.library.wait(act.Pool)
	case lease:
		return a.library.lease(a.ctx, func() { toil(time.Duration(act.With["span"]) * time.Microsecond) })
	case divide:
		return a.divide(act)
	case sorted:
		items := rand.Perm(act.N)
		a.library.sort(act.Pool, items)
		if !slices.IsSorted(items) {
			a.fail("%v has not sorted", act)
		}
	case resize:
		a.library.resize(act.Pool, act.N)
	case pause:
		a.library.pause(act.Pool, time.Duration(act.With["span"])*time.Microsecond)
	case locked:
		lock := a.locks[act.N-1]
		lock.Lock()
		defer lock.Unlock()
		a.steps.Add(1)
		return a.perform(act.Body)
	case block:
		return a.perform(act.Body)
	case fork:
		var branches sync.WaitGroup
		for i := range act.Body {
			branches.Go(func() {
				defer a.caught(nil)
				b := *a
				_ = b.perform(act.Body[i : i+1])
			})
		}
		if !act.With.has("rests") {
			branches.Wait()
			break
		}
		a.place.pause()
		defer a.place.resume()
		a.library.rest(a.ctx, branches.Wait)
	default:
		return a.wait(act)
	}
	return nil
}

// divide computes for the indices of a range.
func (a *actor) divide(act *act) (err error) {
	defer a.caught(&err)
	done := make([]atomic.Int64, act.N)
	a.library.divide(act.Pool, act.N, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			done[i].Add(1)
			a.steps.Add(1)
			toil(time.Duration(act.With["span"]) * time.Microsecond)
		}
		if act.With.has("panics") {
			panic(errThrown)
		}
	})
	for i := range done {
		if n := done[i].Load(); n != 1 {
			a.fail("index %d was done %d times: %v", i, n, act)
		}
	}
	return nil
}

func toil(span time.Duration) {
	if span < 0 {
		time.Sleep(-span)
	}
	for begin := time.Now(); ; {
		runtime.Gosched()
		if time.Since(begin) >= span {
			return
		}
	}
}

// caught is deferred. It turns a panic that a task has meant into an error.
func (r *run) caught(err *error) {
	switch thrown := recover(); {
	case thrown == nil:
	case !meant(thrown):
		r.fail("something has panicked: %v", thrown)
	case err != nil:
		*err = errThrown
	}
}

func meant(thrown any) bool {
	if p, ok := thrown.(*weir.Panic); ok {
		return meant(p.Value)
	}
	err, ok := thrown.(error)
	return ok && errors.Is(err, errThrown)
}

// wait does an act in which the library waits.
func (a *actor) wait(act *act) (err error) {
	waiter := a
	if act.With.has("outer") && a.caller != nil {
		waiter = a.caller
	}
	ctx := waiter.ctx
	if a.program.With.has("looks") {
		ctx = weir.Label(ctx, labelled())
	}
	if us := act.With["deadline"]; us > 0 {
		timed, stop := context.WithTimeout(ctx, time.Duration(us)*time.Microsecond)
		defer stop()
		ctx = timed
	}
	if act.With.has("recovers") {
		defer a.caught(&err)
	}
	var c *actor
	if len(act.Kids) == 1 {
		c = a.child(act.Kids[0])
	} else if kid := a.onces[act.N]; act.Kind == once && kid != nil {
		c = a.child(kid)
	} else if act.Kind == once {
		return nil // what has the task was cut away
	}
	if act.Kind == do {
		c.caller = a
	}
	if on := a.place.on(&a.gauges[running], act.Pool); act.Kind == do && on != nil {
		c.place, c.guest = on, true
		if act.Pool == a.task.pool {
			c.caller = a.caller
		}
	} else {
		waiter.place.pause()
		defer waiter.place.resume()
	}
	leaf := func() { _, _ = c.live(context.Background()) } // gets no context
	switch act.Kind {
	case get:
		return a.get(ctx, act.N)
	case async:
		if !a.program.With.has("noisy") {
			ctx = context.WithoutCancel(ctx) // the end of a group would cancel it
		}
		c.begun = nil // a task that waits for the future lends it a place
		a.futures = &made{a.library.async(ctx, act.Pool, c.live), act.N, c.task, a.futures}
		return nil
	case do:
		return a.library.do(ctx, act.Pool, func(ctx context.Context) error {
			_, err := c.live(ctx)
			return err
		})
	case hedge:
		return a.library.hedge(ctx, act.With["after"], act.Pool, c.live)
	case call:
		begin := time.Now()
		err := a.library.call(ctx, leaf)
		a.expired(err, callsPool, begin)
		return err
	case submit:
		return a.library.submit(ctx, act.Pool, act.With.has("try"), leaf)
	case keyed:
		c.place = a.placeOfKey(act.Pool, act.N)
		if act.N == contextLane && !a.program.With.has("noisy") {
			ctx = context.WithoutCancel(ctx) // as with async
		}
		inOrder := a.program.Pools[act.Pool].Keys == 0 && act.N != contextLane // where a task waits for room, its task may come first
		for range flat(act.Kids) {
			in := &a.lines[act.Pool][act.N-1]
			number := in.given.Add(1)
			err = cmp.Or(err, a.library.submitKey(ctx, act.Pool, act.N, act.With.has("try"), func() {
				if _, ok := a.library.(*weirs); ok && inOrder && !in.begins(a, number) {
					a.fail("a later task of the key has begun first: %v", act)
				}
				c := *c
				_, _ = c.live(context.Background())
			}))
		}
		return err
	case later:
		live := func(ctx context.Context) {
			c := *c
			_, _ = c.live(ctx)
		}
		a.library.later(time.Duration(act.N)*time.Microsecond, act.With["runs"], act.Pool, live)
		return nil
	case once:
		c.begun = nil // as with async
		got, err := a.library.once(ctx, c.task.pool, act.N, c.live)
		if err == nil && got != c.task.value() {
			a.fail("call %d has returned %d, not %d", act.N, got, c.task.value())
		}
		return err
	}
	return newBatch(a, waiter, act).run(ctx)
}

// expired checks that a task which has not started, for this reason, had its time for that.
func (r *run) expired(why error, pool int, given time.Time) {
	if took := time.Since(given); errors.Is(why, weir.ErrExpired) && took < micros(r.program.Pools[pool].Expiry) {
		r.fail("a task of pool %s has expired after %v", poolName(pool), took)
	}
}

// placeOfKey returns the place of a task with a key.
func (r *run) placeOfKey(pool, key int) *place { return &place{running: &r.keys[pool][key-1]} }

func (a *actor) get(ctx context.Context, n int) error {
	for f := a.futures; f != nil; f = f.next {
		if f.n == n {
			got, err := f.Get(ctx)
			if err == nil && got != f.task.value() {
				a.fail("future %d has returned %d, not %d", n, got, f.task.value())
			}
			return err
		}
	}
	return nil // what makes it was cut away
}
