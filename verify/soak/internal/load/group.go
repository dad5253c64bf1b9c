package load

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// group uses the same group for several batches, which end in different ways, and takes what their tasks return in
// each of the ways that there are.
func group(r *Round) {
	const batches, most = 12, 60
	limit := r.limit()
	g := &grouped{
		Round:  r,
		ledger: books.NewLedger(r.Book, batches*most),
		gauge:  books.NewGauge(r.Book, limit),
		keep:   one(r.Rand, 3),
		tame:   one(r.Rand, 2),
	}
	var opts []weir.GroupOption
	if g.keep {
		opts = append(opts, weir.KeepGoing())
	}
	if g.tame {
		opts = append(opts, weir.PanicsAsErrors())
	}
	own := r.options(weir.OnPanic(func(*weir.Panic) { r.Check(!g.tame, "OnPanic was called for a group with PanicsAsErrors") }))
	pool := weir.New(limit, own...)
	if one(r.Rand, 2) {
		for _, o := range opts {
			own = append(own, o)
		}
		g.lib = weir.NewGroup(context.Background(), limit, own...)
	} else {
		if one(r.Rand, 2) {
			opts = append(opts, weir.Limit(1+r.Rand.IntN(limit)))
		}
		g.lib = pool.Group(context.Background(), opts...)
	}
	g.results = weir.NewResults[int](g.lib)
	for range batches {
		g.batch(1 + r.Rand.IntN(most))
	}
	pool.Close()
	r.settled(pool, g.ledger, false)
}

type grouped struct {
	*Round
	lib        *weir.Group
	results    *weir.Results[int]
	ledger     *books.Ledger
	gauge      *books.Gauge
	keep, tame bool // with KeepGoing, with PanicsAsErrors
}

// outcome is how a batch ended.
type outcome struct {
	values []int
	whole  bool // all values came
	err    error
	thrown any // what came out as a panic
}

// batch gives the group tasks, and takes what comes out.
func (g *grouped) batch(n int) {
	wild := g.Rand.IntN(3) // how many of the tasks end badly: none, few, many
	plain := one(g.Rand, 3)
	cancelled := one(g.Rand, 4)
	var canceller team
	if cancelled {
		after := g.Rand.IntN(5000)
		canceller.Go(func() {
			Spin(after)
			g.lib.Cancel(errFailed)
		})
	}
	var ids []int
	kinds := map[int]int{}
	for range n {
		id, kind, work := g.ledger.New(), ends, anyToil(g.Rand)
		if wild > 0 && one(g.Rand, 40/(wild*wild)) {
			kind = pick(g.Rand, fails, fails, panics, exits)
		}
		task := func(context.Context) (int, error) {
			g.ledger.Run(id, g.gauge, func() {
				work.do()
				end(g.ledger, id, kind)
			})
			if kind == fails {
				return id, errFailed
			}
			return id, nil
		}
		alone := func(ctx context.Context) error { _, err := task(ctx); return err }
		switch {
		case !plain:
			g.results.Go(task)
		case !one(g.Rand, 4):
			g.lib.Go(alone)
		case !g.lib.TryGo(alone):
			g.ledger.Reject(id)
			continue
		}
		ids = append(ids, id)
		kinds[id] = kind
	}
	canceller.Wait()
	o := g.take(plain)
	failed, panicked := 0, 0
	for _, id := range ids {
		switch {
		case !g.ledger.Ran(id) || kinds[id] == ends:
		case kinds[id] == panics && !g.tame:
			panicked++
		default:
			failed++
		}
	}
	calm := failed+panicked == 0 && !cancelled && o.whole
	for _, id := range ids {
		if calm {
			g.ledger.Accept(id)
		} else {
			g.ledger.Offer(id)
		}
	}
	g.ledger.Seal("the end of the batch", ids...)
	if o.whole {
		g.judge(o, failed, panicked, cancelled)
		g.Check(!calm || plain || slices.Equal(o.values, ids), "the tasks %v have given %v", ids, o.values)
	}
}

// judge compares how a batch ended with what its tasks have done.
func (g *grouped) judge(o outcome, failed, panicked int, cancelled bool) {
	p, ok := o.thrown.(*weir.Panic)
	if !g.Check(ok == (panicked > 0), "%d tasks have panicked, and the group has with %v", panicked, o.thrown) {
		return
	}
	if ok {
		_, ok = p.Value.(books.Thrown)
		g.Check(ok, "a group has panicked with %v, and its tasks have not", p.Value)
		return
	}
	g.Check((o.err != nil) == (failed > 0 || cancelled), "a group has ended with %v: %d tasks have failed, and it was cancelled: %t", o.err, failed, cancelled)
	if !g.keep {
		return
	}
	told := len(slices.Collect(weir.Failures(o.err)))
	g.Check(told == failed, "a group that keeps going has told of %d failures, and there were %d: %v", told, failed, o.err)
}

// take waits for the batch in one of the ways, which is all of Wait for tasks without results.
func (g *grouped) take(plain bool) (o outcome) {
	defer func() {
		if thrown := recover(); thrown != nil {
			o.thrown, o.whole = thrown, true
		}
	}()
	if plain {
		return outcome{err: g.lib.Wait(), whole: true}
	}
	switch g.Rand.IntN(4) {
	case 0:
		values, err := g.results.Wait()
		return outcome{values: values, err: err, whole: true}
	case 1:
		return g.loop(g.results.Ordered())
	case 2:
		o = g.loop(g.results.All())
		slices.Sort(o.values)
		return o
	default:
		value, err := g.results.First() // which cancels the others
		g.Check(err != nil || g.ledger.Ran(value), "Results.First has returned %d, which has not run", value)
		return outcome{}
	}
}

// loop takes results, and leaves some loops.
func (g *grouped) loop(results iter.Seq2[int, error]) (o outcome) {
	leave := one(g.Rand, 3)
	var errs []error
	for value, err := range results {
		if o.values = append(o.values, value); err != nil {
			errs = append(errs, err)
		}
		if leave && one(g.Rand, 10) {
			return o
		}
	}
	o.err, o.whole = errors.Join(errs...), true
	return o
}
