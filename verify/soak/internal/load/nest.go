package load

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/par"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// nest makes tasks make groups, futures, shared tasks and loops on their own pool, 4 deep, and wait for them. It
// needs every place that is lent, from a limit of 1 on. However long they wait, no more of the tasks that come from
// outside have begun than the limit, unless some give their places up by Blocking.
func nest(r *Round) {
	limit := pick(r.Rand, 1, 1, 1, 2, 2, 3, 8)
	pool := weir.New(limit, r.options(weir.OnPanic(func(*weir.Panic) {}))...)
	w := newWood(r, pool, limit, books.NewLedger(r.Book, 4000), books.NewGauge(r.Book, limit))
	w.fails = one(r.Rand, 3)
	w.rests = one(r.Rand, 3)
	if w.rests {
		w.begun = nil
	}
	var roots team
	roots.each(r, 1+r.Rand.IntN(3), func(rnd *rand.Rand) { w.group(context.Background(), rnd, 4) })
	roots.each(r, r.Rand.IntN(2), func(rnd *rand.Rand) { w.do(rnd, 4) })
	roots.Wait()
	w.pool.Close()
	r.settled(w.pool, w.ledger, false)
}

// wood is a pool whose tasks nest.
type wood struct {
	r      *Round
	pool   *weir.Pool
	once   *weir.Once[int, int]
	ledger *books.Ledger
	gauge  *books.Gauge
	begun  *books.Gauge // of the tasks that come from outside; nil if tasks rest
	fails  bool         // some tasks fail, so that groups are cancelled
	rests  bool         // some tasks call Blocking
	stormy bool         // the pool may be closed at any time
	inside bool         // the methods are called by a task
	item   bool         // the task is an item of a loop
}

func newWood(r *Round, pool *weir.Pool, limit int, ledger *books.Ledger, begun *books.Gauge) *wood {
	w := &wood{r: r, pool: pool, once: weir.NewOnce[int, int](pool), ledger: ledger, gauge: books.NewGauge(r.Book, limit), begun: begun}
	w.gauge.Ask(pool)
	return w
}

// below returns w for the tasks.
func (w *wood) below() *wood {
	in := *w
	in.inside, in.item, in.begun = true, false, nil
	return &in
}

// aside calls what lends the place of the task.
func (w *wood) aside(f func()) {
	if w.inside {
		w.gauge.Leave()
		defer w.gauge.Back()
	}
	f()
}

// grow makes something that has subtasks, and waits for it.
func (w *wood) grow(ctx context.Context, rnd *rand.Rand, depth int) {
	switch rnd.IntN(7) {
	case 0:
		w.future(ctx, rnd, depth)
	case 1:
		w.loop(ctx, rnd, depth)
	case 2:
		w.share(ctx, rnd, depth)
	default:
		w.group(ctx, rnd, depth)
	}
}

var errFailed = errors.New("a task has failed")

// task is a task of any group, future or loop.
func (w *wood) task(ctx context.Context, rnd *rand.Rand, id, depth int) error {
	if w.item { // no start: the helper of a loop goes on with its items after a lower limit
		w.begun.Back()
	} else {
		w.begun.Enter()
	}
	defer w.begun.Leave()
	w.ledger.Run(id, w.gauge, func() {
		anyToil(rnd).do()
		if w.rests && one(rnd, 3) {
			w.below().aside(func() { weir.Blocking(ctx, anyToil(rnd).do) })
		}
		if depth > 1 && !one(rnd, 4) {
			w.below().grow(ctx, rnd, depth-1)
		}
		anyToil(rnd).do()
	})
	if w.fails && one(rnd, 12) {
		return errFailed
	}
	return nil
}

// seal settles tasks that were given, with ctx, to what has ended with err, and may have been cancelled if tasks fail.
func (w *wood) seal(ctx context.Context, call string, err error, ids ...int) {
	known := err == nil || w.fails && errors.Is(err, errFailed) || w.stormy && errors.Is(err, weir.ErrClosed) ||
		(w.fails || w.stormy) && ctx.Err() != nil
	w.r.Check(known, "%s reports %v", call, err)
	for _, id := range ids {
		if w.fails || w.stormy {
			w.ledger.Offer(id)
		} else {
			w.ledger.Accept(id)
		}
	}
	w.ledger.Seal(call, ids...)
}

func (w *wood) group(ctx context.Context, rnd *rand.Rand, depth int) {
	var opts []weir.GroupOption
	if one(rnd, 4) {
		opts = append(opts, weir.Limit(1+rnd.IntN(3)))
	}
	g := w.pool.Group(ctx, opts...)
	var ids []int
	for range 1 + rnd.IntN(3) {
		id, seed := w.ledger.New(), fork(rnd)
		ids = append(ids, id)
		w.aside(func() {
			g.Go(func(ctx context.Context) error { return w.task(ctx, seed, id, depth) })
		})
	}
	var err error
	w.aside(func() { err = g.Wait() })
	w.seal(ctx, "Group.Wait", err, ids...)
}

func (w *wood) future(ctx context.Context, rnd *rand.Rand, depth int) {
	id, seed := w.ledger.New(), fork(rnd)
	var value int
	var err error
	w.aside(func() {
		future := weir.Async(ctx, w.pool, func(ctx context.Context) (int, error) {
			return id, w.task(ctx, seed, id, depth)
		})
		value, err = future.Get(context.WithoutCancel(ctx)) // still the context of this task, which lends its place
		<-future.Done()
	})
	if err != nil && !w.ledger.Ran(id) {
		w.r.Check(w.fails && ctx.Err() != nil || w.stormy && errors.Is(err, weir.ErrClosed), "a future has not run: %v", err)
		w.ledger.Reject(id)
		return
	}
	w.r.Check(value == id, "the future of task %d gave %d, %v", id, value, err)
	w.seal(ctx, "Future.Get", err, id)
	w.ledger.Ended("Future.Get", id)
}

// share may wait for a task that another call has begun. The key says how deep it is, so no task waits for itself.
func (w *wood) share(ctx context.Context, rnd *rand.Rand, depth int) {
	id, seed, key, ran := w.ledger.New(), fork(rnd), 2*depth+rnd.IntN(2), false
	var value int
	var err error
	w.aside(func() {
		value, err = w.once.Do(context.WithoutCancel(ctx), key, func(ctx context.Context) (int, error) {
			ran = true
			return key, w.task(ctx, seed, id, depth)
		})
	})
	w.r.Check(err != nil || value == key, "the value of key %d is %d", key, value)
	if !ran {
		w.r.Check(err == nil || w.fails && errors.Is(err, errFailed) || w.stormy && errors.Is(err, weir.ErrClosed), "a shared task gave %v", err)
		w.ledger.Reject(id)
		return
	}
	w.seal(ctx, "Once.Do", err, id)
	w.ledger.Ended("Once.Do", id)
}

func (w *wood) loop(ctx context.Context, rnd *rand.Rand, depth int) {
	ids, seeds := make([]int, 1+rnd.IntN(3)), map[int]*rand.Rand{}
	for i := range ids {
		ids[i] = w.ledger.New()
		seeds[ids[i]] = fork(rnd)
	}
	in := *w
	in.item = true
	call := func(ctx context.Context, id int) (int, error) { return id, in.task(ctx, seeds[id], id, depth) }
	limit, streams := par.Limit(1+rnd.IntN(4)), one(rnd, 2)
	var got []int
	var err error
	w.aside(func() {
		if !streams {
			got, err = par.Map(ctx, ids, call, par.On(w.pool), limit)
			return
		}
		for id, failure := range par.Stream(ctx, ids, call, par.On(w.pool), limit) {
			if got, err = append(got, id), failure; err != nil {
				break
			}
		}
	})
	w.seal(ctx, "a loop", err, ids...)
	w.r.Check(err != nil || slices.Equal(got, ids), "a loop over %v gave %v", ids, got)
}

// do asks for a place in which the caller runs a task.
func (w *wood) do(rnd *rand.Rand, depth int) {
	id := w.ledger.New()
	err := w.pool.Do(context.Background(), func(ctx context.Context) error { _ = w.task(ctx, rnd, id, depth); return nil })
	w.ledger.Settle(id, err)
	w.ledger.Ended("Do", id)
}
