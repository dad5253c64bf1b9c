package load

import (
	"context"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// results takes what tasks return in each of the four ways, and leaves loops early.
func results(r *Round) {
	const batches, most = 8, 60
	limit := r.limit()
	pool := weir.New(limit, r.options()...)
	ledger := books.NewLedger(r.Book, batches*most)
	gauge := books.NewGauge(r.Book, limit)
	g := pool.Group(context.Background(), weir.KeepGoing())
	if one(r.Rand, 2) {
		g = weir.NewGroup(context.Background(), limit, append(r.options(), weir.KeepGoing())...)
	}
	collected := weir.NewResults[int](g)
	for range batches {
		n := 1 + r.Rand.IntN(most)
		t := &taker{r: r, results: collected, ledger: ledger, bad: map[int]bool{}}
		t.leave = one(r.Rand, 3)
		take := pick(r.Rand, t.wait, t.all, t.ordered, t.first)
		for i := range n {
			id, bad, work := ledger.New(), one(r.Rand, 10), anyToil(r.Rand)
			t.bad[i] = bad
			t.ids = append(t.ids, id)
			collected.Go(func(context.Context) (int, error) {
				ledger.Run(id, gauge, work.do)
				if bad {
					return id, errFailed
				}
				return id, nil
			})
			ledger.Offer(id) // a loop that is left cancels the rest
		}
		take()
		ledger.Seal("the end of the results", t.ids...)
		r.Op()
	}
	pool.Close()
	r.settled(pool, nil)
	ledger.Quiet("Close")
	ledger.Audit()
}

// taker takes the results of one batch.
type taker struct {
	r       *Round
	results *weir.Results[int]
	ledger  *books.Ledger
	ids     []int
	bad     map[int]bool // which fail, by place
	leave   bool         // leave the loop early
}

// ran checks that all have run, as nothing was cancelled.
func (t *taker) ran(how string) {
	for place, id := range t.ids {
		t.r.Check(t.ledger.Ran(id), "%s is over, and task %d, the %d. of %d, has not run", how, id, place, len(t.ids))
	}
}

func (t *taker) wait() {
	values, err := t.results.Wait()
	t.ran("Results.Wait")
	t.r.Check(len(values) == len(t.ids), "Results.Wait has returned %d values for %d tasks", len(values), len(t.ids))
	failures := 0
	for place, value := range values {
		t.r.Check(value == t.ids[place], "result %d is %d, not %d", place, value, t.ids[place])
		if t.bad[place] {
			failures++
		}
	}
	t.r.Check((err != nil) == (failures > 0), "of %d tasks %d have failed: %v", len(values), failures, err)
}

func (t *taker) all() {
	seen := map[int]bool{}
	failures := 0
	for value, err := range t.results.All() {
		if err != nil {
			failures++
		}
		t.r.Check(!seen[value], "result %d came twice", value)
		seen[value] = true
		if t.leave && one(t.r.Rand, 10) {
			return
		}
	}
	t.ran("Results.All")
	for place, id := range t.ids {
		t.r.Check(seen[id], "the result of task %d never came", id)
		if t.bad[place] {
			failures--
		}
	}
	t.r.Check(failures == 0, "Results.All told of %d failures too many", failures)
}

func (t *taker) ordered() {
	next := 0
	for value, err := range t.results.Ordered() {
		if !t.r.Check(next < len(t.ids), "Results.Ordered goes on after all %d results: %d, %v", next, value, err) {
			return
		}
		t.r.Check(value == t.ids[next], "result %d is %d, not %d", next, value, t.ids[next])
		t.r.Check((err != nil) == t.bad[next], "result %d has the error %v", next, err)
		next++
		if t.leave && one(t.r.Rand, 10) {
			return
		}
	}
	t.ran("Results.Ordered")
	t.r.Check(next == len(t.ids), "Results.Ordered has ended after %d of %d results", next, len(t.ids))
}

func (t *taker) first() {
	value, err := t.results.First()
	if err != nil {
		for place := range t.ids {
			t.r.Check(t.bad[place], "Results.First found none though task %d succeeds: %v", t.ids[place], err)
		}
		return
	}
	for place, id := range t.ids {
		if id == value {
			t.r.Check(!t.bad[place], "Results.First has returned the value of task %d, which fails", id)
			return
		}
	}
	t.r.Breach("Results.First has returned %d, which no task has", value)
}
