package load

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/par"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// nest makes tasks make groups, futures and loops on their own pool, 4 deep, and wait for them. It
// needs every place that is lent, from a limit of 1 on. However long they wait, no more of the tasks that come from
// outside have begun than the limit, unless some give their places up by Blocking.
func nest(r *Round) {
	const depth, fan, room = 4, 3, 4000
	limit := pick(r.Rand, 1, 1, 1, 2, 2, 3, 8)
	n := &nest4{
		r:      r,
		pool:   weir.New(limit, r.options(weir.OnPanic(func(*weir.Panic) {}))...),
		ledger: books.NewLedger(r.Book, room),
		gauge:  books.NewGauge(r.Book, limit),
		fan:    fan,
		fails:  one(r.Rand, 3),
		rests:  one(r.Rand, 3),
	}
	n.gauge.Ask(places(n.pool))
	outside := *n
	outside.outside = true
	if !n.rests {
		outside.begun = books.NewGauge(r.Book, limit)
	}
	var roots team
	roots.each(r, 1+r.Rand.IntN(3), func(rnd *rand.Rand) {
		outside.group(context.Background(), rnd, depth)
	})
	roots.each(r, r.Rand.IntN(2), func(rnd *rand.Rand) {
		id, failed := n.ledger.New(), errors.New("a task of Do")
		err := n.pool.Do(context.Background(), func(ctx context.Context) error {
			outside.begun.Enter()
			defer outside.begun.Leave()
			n.ledger.Run(id, n.gauge, func() { n.group(ctx, rnd, depth-1) })
			return failed
		})
		r.Check(errors.Is(err, failed), "Do returned %v, and its task %v", err, failed)
		n.ledger.Accept(id)
	})
	roots.Wait()
	n.pool.Close()
	n.ledger.Quiet("Close")
	n.ledger.Audit()
	r.settled(n.pool, nil)
}

// nest4 is a pool whose tasks nest.
type nest4 struct {
	r      *Round
	pool   *weir.Pool
	ledger *books.Ledger
	gauge  *books.Gauge
	fan    int
	fails  bool // some tasks fail, so that groups are cancelled
	rests  bool // some tasks call Blocking

	outside bool         // the methods are not called by a task
	begun   *books.Gauge // of the tasks that come from outside; nil if the methods are called by a task, or tasks rest
}

// inside returns n for the tasks.
func (n *nest4) inside() *nest4 {
	in := *n
	in.outside, in.begun = false, nil
	return &in
}

// aside calls what lends the place of the task.
func (n *nest4) aside(f func()) {
	if n.outside {
		f()
		return
	}
	n.gauge.Leave()
	f()
	n.gauge.Back()
}

// grow makes something that has subtasks, and waits for it.
func (n *nest4) grow(ctx context.Context, rnd *rand.Rand, depth int) {
	switch rnd.IntN(6) {
	case 0:
		n.futures(ctx, rnd, depth)
	case 1:
		n.loop(ctx, rnd, depth)
	default:
		n.group(ctx, rnd, depth)
	}
}

var errFailed = errors.New("a task has failed")

// task is a task of any group, future or loop.
func (n *nest4) task(ctx context.Context, rnd *rand.Rand, id, depth int) error {
	failing := n.fails && one(rnd, 12)
	n.begun.Enter()
	defer n.begun.Leave()
	n.ledger.Run(id, n.gauge, func() {
		anyToil(rnd).do()
		if n.rests && one(rnd, 3) {
			n.inside().aside(func() { weir.Blocking(ctx, anyToil(rnd).do) })
		}
		if depth > 1 && !one(rnd, 4) {
			n.inside().grow(ctx, rnd, depth-1)
		}
		anyToil(rnd).do()
	})
	if failing {
		return errFailed
	}
	return nil
}

// give notes that a task was given to what may be cancelled if tasks fail.
func (n *nest4) give(id int) {
	if n.fails {
		n.ledger.Offer(id)
	} else {
		n.ledger.Accept(id)
	}
}

func (n *nest4) group(ctx context.Context, rnd *rand.Rand, depth int) {
	var opts []weir.GroupOption
	if one(rnd, 4) {
		opts = append(opts, weir.Limit(1+rnd.IntN(3)))
	}
	g := n.pool.Group(ctx, opts...)
	var ids []int
	for range 1 + rnd.IntN(n.fan) {
		id, seed := n.ledger.New(), fork(rnd)
		ids = append(ids, id)
		n.aside(func() {
			g.Go(func(ctx context.Context) error { return n.task(ctx, seed, id, depth) })
		})
		n.give(id)
	}
	var err error
	n.aside(func() { err = g.Wait() })
	n.ledger.Seal("Group.Wait", ids...)
	n.r.Check(err == nil || n.fails && (errors.Is(err, errFailed) || errors.Is(err, context.Canceled)),
		"a nested group reports %v", err)
}

func (n *nest4) futures(ctx context.Context, rnd *rand.Rand, depth int) {
	id, seed := n.ledger.New(), fork(rnd)
	var err error
	n.aside(func() {
		future := weir.Async(ctx, n.pool, func(ctx context.Context) (int, error) {
			return id, n.task(ctx, seed, id, depth)
		})
		_, err = future.Get(context.WithoutCancel(ctx)) // still the context of this task, which lends its place
	})
	if err != nil && !n.ledger.Ran(id) {
		n.r.Check(n.fails && ctx.Err() != nil, "a future has not run: %v", err)
		n.ledger.Reject(id)
		return
	}
	n.ledger.Accept(id)
	n.ledger.Ended("Future.Get", id)
}

func (n *nest4) loop(ctx context.Context, rnd *rand.Rand, depth int) {
	ids := make([]int, 1+rnd.IntN(n.fan))
	seeds := make(map[int]*rand.Rand)
	for i := range ids {
		ids[i] = n.ledger.New()
		seeds[ids[i]] = fork(rnd)
	}
	var err error
	n.aside(func() {
		err = par.Each(ctx, ids, func(ctx context.Context, id int) error {
			return n.task(ctx, seeds[id], id, depth)
		}, par.On(n.pool), par.Limit(1+rnd.IntN(4)))
	})
	for _, id := range ids {
		n.give(id)
	}
	n.ledger.Seal("par.Each", ids...)
	n.r.Check(err == nil || n.fails && (errors.Is(err, errFailed) || errors.Is(err, context.Canceled)),
		"a nested loop reports %v", err)
}
