package load

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/par"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// parallel runs the loops, streams and pipelines of package par, on a pool or on goroutines of
// their own, and leaves some early.
func parallel(r *Round) {
	const calls, most = 8, 300
	limit := r.limit()
	s := &stretch{Round: r, ledger: books.NewLedger(r.Book, calls*most)}
	pool := weir.New(limit, r.options()...)
	for range calls {
		s.gauge = books.NewGauge(r.Book, limit)
		s.opts = []par.Option{par.Limit(limit)}
		if one(r.Rand, 2) {
			s.opts = append(s.opts, par.On(pool))
		}
		s.loop(pick(r.Rand, loops...), r.Rand.IntN(most))
		r.Op()
	}
	pool.Close()
	r.settled(pool, s.ledger, false)
}

type stretch struct {
	*Round
	ledger *books.Ledger
	gauge  *books.Gauge
	opts   []par.Option
	failed bool // a call fails, or the loop was left
}

// loop is one way to deal with items. It returns what comes out of it.
type loop struct {
	name  string
	run   func(s *stretch, items []int) ([]int, error)
	loose bool // what comes out is in any order
	calls bool // call is called for each item
}

var loops = []loop{
	{name: "Each", run: (*stretch).each, calls: true},
	{name: "Map", calls: true, run: func(s *stretch, items []int) ([]int, error) {
		return par.Map(context.Background(), slices.Values(items), s.call, s.opts...)
	}},
	{name: "Stream", calls: true, run: func(s *stretch, items []int) ([]int, error) {
		return s.take(par.Stream(context.Background(), slices.Values(items), s.call, s.ahead()...))
	}},
	{name: "a pipeline", calls: true, loose: true, run: func(s *stretch, items []int) ([]int, error) {
		first := par.Pipe(items, func(_ context.Context, id int) (int, error) { return id, nil }, s.ahead()...)
		return s.take(par.Stream(context.Background(), first, s.call, append(s.ahead(), par.Unordered())...))
	}},
	{name: "Range", calls: true, run: func(s *stretch, items []int) ([]int, error) {
		s.gauge = nil // its calls are too short to count how many run at once, and On counts the caller apart
		par.Range(len(items), func(lo, hi int) {
			for _, id := range items[lo:hi] {
				_, _ = s.call(context.Background(), id)
			}
		}, s.opts...)
		return items, nil
	}},
	{name: "Sort", run: func(s *stretch, items []int) ([]int, error) {
		mixed := slices.Repeat(items, 30)
		s.Rand.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		par.Sort(mixed, s.opts...)
		return slices.Compact(mixed), nil
	}},
	{name: "Batch", run: func(s *stretch, items []int) ([]int, error) {
		size := 1 + s.Rand.IntN(20)
		if one(s.Rand, 2) {
			return s.flat(par.Batch[int](s.slow(items), size), size)
		}
		return s.flat(par.BatchFor[int](s.slow(items), size, time.Microsecond+micros(s.Rand, 50)), size)
	}},
	{name: "Reduce", run: func(s *stretch, items []int) ([]int, error) {
		text := make([][]int, len(items))
		for i := range items {
			text[i] = items[i : i+1]
		}
		return par.Reduce(context.Background(), text, func(_ context.Context, a, b []int) ([]int, error) {
			return slices.Concat(a, b), nil
		}, s.opts...)
	}},
}

// loop runs a loop over n items, and compares what comes out with these.
func (s *stretch) loop(l loop, n int) {
	items := make([]int, n)
	for i := range items {
		items[i] = s.ledger.New()
	}
	s.failed = false
	got, err := l.run(s, items)
	s.Check((err != nil) == (s.failed && l.name == "Each"), "par: %s has returned %v", l.name, err)
	if l.loose {
		got = slices.Sorted(slices.Values(got))
	}
	for i, id := range items {
		if l.calls && !s.failed {
			s.ledger.Accept(id)
			s.Check(i < len(got) && got[i] == id, "par: %s of %v gave %v", l.name, items, got)
		} else {
			s.ledger.Offer(id)
			s.Check(i >= len(got) || l.loose || got[i] == id, "par: %s of %v gave %v", l.name, items, got)
		}
	}
	s.Check(len(got) == n || s.failed && len(got) < n, "par: %s of %d items gave %d", l.name, n, len(got))
	s.ledger.Seal("par: "+l.name, items...)
}

// call is what is called for an item.
func (s *stretch) call(_ context.Context, id int) (int, error) {
	s.ledger.Run(id, s.gauge, toil(id%64).do)
	return id, nil
}

// each fails for one item, sometimes.
func (s *stretch) each(items []int) ([]int, error) {
	victim := -1
	if len(items) > 0 && one(s.Rand, 2) {
		victim = pick(s.Rand, items...)
		s.failed = true
	}
	err := par.Each(context.Background(), items, func(ctx context.Context, id int) error {
		_, err := s.call(ctx, id)
		if id == victim {
			return errFailed
		}
		return err
	}, s.opts...)
	if victim < 0 {
		return items, err
	}
	var failure *weir.TaskError
	s.Check(errors.As(err, &failure) && items[failure.Index] == victim, "par.Each, which failed for task %d, has returned %v", victim, err)
	return nil, err
}

// take takes the results of a stream, and leaves some streams.
func (s *stretch) take(results iter.Seq2[int, error]) (got []int, err error) {
	leave := pick(s.Rand, 0, 0, 10, 100)
	for id, err := range results {
		if err != nil {
			return got, err
		}
		got = append(got, id)
		if leave > 0 && one(s.Rand, leave) {
			s.failed = true
			break
		}
	}
	return got, nil
}

func (s *stretch) ahead() []par.StreamOption {
	opts := []par.StreamOption{par.Ahead(1 + s.Rand.IntN(50))}
	for _, o := range s.opts {
		opts = append(opts, o)
	}
	return opts
}

// slow is a source that waits now and then.
func (s *stretch) slow(items []int) iter.Seq[int] {
	rnd := fork(s.Rand)
	return func(yield func(int) bool) {
		for _, id := range items {
			if one(rnd, 50) {
				time.Sleep(micros(rnd, 100))
			}
			if !yield(id) {
				return
			}
		}
	}
}

// flat takes the items of batches one after the other.
func (s *stretch) flat(batches *par.Pipeline[[]int], size int) ([]int, error) {
	return s.take(func(yield func(int, error) bool) {
		for batch, err := range batches.All(context.Background()) {
			s.Check(err != nil || len(batch) > 0 && len(batch) <= size, "a batch of at most %d has %d items", size, len(batch))
			for _, id := range batch {
				if !yield(id, err) {
					return
				}
			}
		}
	})
}
