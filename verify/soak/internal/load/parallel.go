package load

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"sync/atomic"
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
	s := &stretch{r: r, limit: limit, ledger: books.NewLedger(r.Book, calls*most)}
	pool := weir.New(limit, r.options()...)
	for range calls {
		s.gauge = books.NewGauge(r.Book, limit)
		s.opts = []par.Option{par.Limit(limit)}
		if one(r.Rand, 2) {
			s.opts = append(s.opts, par.On(pool))
		}
		items := make([]int, r.Rand.IntN(most))
		for i := range items {
			items[i] = s.ledger.New()
		}
		pick(r.Rand, s.each, s.mapped, s.failing, s.stream, s.pipe, s.ranged, s.sorted, s.batches, s.reduced)(items)
		r.Op()
	}
	pool.Close()
	s.ledger.Quiet("Close")
	s.ledger.Audit()
	r.settled(pool, nil)
}

type stretch struct {
	r      *Round
	limit  int
	ledger *books.Ledger
	gauge  *books.Gauge
	opts   []par.Option
}

// call is what is called for an item.
func (s *stretch) call(id int) {
	s.ledger.Run(id, s.gauge, func() { toil(id % 64).do() })
}

// all settles items of which each must have been dealt with.
func (s *stretch) all(call string, items []int, err error) {
	s.r.Check(err == nil, "%s without a failure has returned %v", call, err)
	for _, id := range items {
		s.ledger.Accept(id)
	}
	s.ledger.Seal(call, items...)
}

// some settles items of which not each need have been dealt with.
func (s *stretch) some(call string, items []int) {
	for _, id := range items {
		s.ledger.Offer(id)
	}
	s.ledger.Seal(call, items...)
}

func (s *stretch) each(items []int) {
	err := par.Each(context.Background(), items, func(_ context.Context, id int) error {
		s.call(id)
		return nil
	}, s.opts...)
	s.all("par.Each", items, err)
}

func (s *stretch) mapped(items []int) {
	got, err := par.Map(context.Background(), slices.Values(items), func(_ context.Context, id int) (int, error) {
		s.call(id)
		return id, nil
	}, s.opts...)
	s.all("par.Map", items, err)
	s.r.Check(slices.Equal(got, items), "par.Map has returned %v for %v", got, items)
}

func (s *stretch) failing(items []int) {
	if len(items) == 0 {
		return
	}
	victim := pick(s.r.Rand, items...)
	err := par.Each(context.Background(), items, func(_ context.Context, id int) error {
		s.call(id)
		if id == victim {
			return taskFailed{id}
		}
		return nil
	}, s.opts...)
	var failure *weir.TaskError
	s.r.Check(errors.As(err, &failure) && items[failure.Index] == victim, "par.Each, which failed for task %d, has returned %v", victim, err)
	s.some("par.Each", items)
}

func (s *stretch) stream(items []int) {
	opts := s.streamOptions()
	source := slices.Values(items)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	leave, left := pick(s.r.Rand, 0, 0, 10, 100), false
	next := 0
	for id, err := range par.Stream(ctx, source, func(_ context.Context, id int) (int, error) {
		s.call(id)
		return id, nil
	}, opts...) {
		s.r.Check(err == nil, "a stream without a failure gave %v", err)
		if !s.r.Check(next < len(items) && id == items[next], "result %d of a stream is %d", next, id) {
			break
		}
		next++
		if leave > 0 && one(s.r.Rand, leave) {
			left = true
			break
		}
	}
	if left {
		s.some("a stream", items)
		return
	}
	s.all("a stream", items, nil)
	s.r.Check(next == len(items), "a stream of %d items has ended after %d", len(items), next)
}

func (s *stretch) streamOptions() []par.StreamOption {
	opts := []par.StreamOption{par.Ahead(1 + s.r.Rand.IntN(50))}
	for _, o := range s.opts {
		opts = append(opts, o)
	}
	return opts
}

func (s *stretch) pipe(items []int) {
	seen := map[int]bool{}
	first := par.Pipe(items, func(_ context.Context, id int) (int, error) { return id, nil }, s.streamOptions()...)
	opts := append(s.streamOptions(), par.Unordered())
	leave, left := pick(s.r.Rand, 0, 0, 30), false
	for id, err := range par.Stream(context.Background(), first, func(_ context.Context, id int) (int, error) {
		s.call(id)
		return id, nil
	}, opts...) {
		s.r.Check(err == nil && !seen[id], "a pipeline without a failure gave %d, %v", id, err)
		seen[id] = true
		if leave > 0 && one(s.r.Rand, leave) {
			left = true
			break
		}
	}
	if left {
		s.some("a pipeline", items)
		return
	}
	s.all("a pipeline", items, nil)
	s.r.Check(len(seen) == len(items), "a pipeline of %d items gave %d", len(items), len(seen))
}

func (s *stretch) ranged(items []int) {
	// Its calls are too short to count how many run at once, and On counts the caller apart.
	s.gauge = nil
	par.Range(len(items), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			s.call(items[i])
		}
	}, s.opts...)
	s.all("par.Range", items, nil)
}

func (s *stretch) sorted(items []int) {
	const n = 10_000
	numbers := make([]uint32, n)
	var sum uint64
	for i := range numbers {
		numbers[i] = s.r.Rand.Uint32()
		sum += uint64(numbers[i])
	}
	par.Sort(numbers, s.opts...)
	for _, v := range numbers {
		sum -= uint64(v)
	}
	s.r.Check(slices.IsSorted(numbers) && sum == 0, "par.Sort has lost or left unsorted some of %d numbers", n)
	s.some("par.Sort", items)
}

func (s *stretch) batches(items []int) {
	size := 1 + s.r.Rand.IntN(20)
	slow := s.r.Fork()
	var source iter.Seq[int] = func(yield func(int) bool) {
		for _, id := range items {
			if one(slow, 50) {
				time.Sleep(time.Duration(slow.IntN(100)) * time.Microsecond)
			}
			if !yield(id) {
				return
			}
		}
	}
	var got []int
	gather := par.Batch[int](source, size)
	if one(s.r.Rand, 2) {
		gather = par.BatchFor[int](source, size, time.Duration(1+s.r.Rand.IntN(50))*time.Microsecond)
	}
	leave := pick(s.r.Rand, 0, 0, 10)
	for batch, err := range gather.All(context.Background()) {
		s.r.Check(err == nil && len(batch) > 0 && len(batch) <= size, "a batch of at most %d has %d items: %v", size, len(batch), err)
		got = append(got, batch...)
		if leave > 0 && one(s.r.Rand, leave) {
			break
		}
	}
	s.r.Check(len(got) <= len(items) && slices.Equal(got, items[:len(got)]), "batches gave %v of %v", got, items)
	s.r.Check(leave > 0 || len(got) == len(items), "batches gave %d of %d items", len(got), len(items))
	s.some("batches", items)
}

func (s *stretch) reduced(items []int) {
	var calls atomic.Int64
	text := make([][]int, len(items))
	for i, id := range items {
		text[i] = []int{id}
	}
	got, err := par.Reduce(context.Background(), text, func(_ context.Context, a, b []int) ([]int, error) {
		calls.Add(1)
		return slices.Concat(a, b), nil
	}, s.opts...)
	s.r.Check(err == nil && slices.Equal(got, items), "par.Reduce has returned %v, %v for %v", got, err, items)
	s.r.Check(calls.Load() == int64(max(0, len(items)-1)), "par.Reduce has combined %d items in %d calls", len(items), calls.Load())
	s.some("par.Reduce", items)
}

// aStream is a stream on a pool that others use, too.
func aStream(ctx context.Context, rnd *rand.Rand, pool *weir.Pool, items int, call func(i int)) (results int, err error) {
	numbers := make([]int, items)
	for i := range numbers {
		numbers[i] = i
	}
	for _, failure := range par.Stream(ctx, numbers, func(_ context.Context, i int) (int, error) {
		call(i)
		return i, nil
	}, par.On(pool), par.Limit(1+rnd.IntN(4))) {
		if failure != nil {
			return results, failure
		}
		results++
	}
	return results, nil
}
