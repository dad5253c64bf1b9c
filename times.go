package weir

import (
	"iter"
	"math"
	"time"

	"github.com/64ed045f/weir/internal/histogram"
	"github.com/64ed045f/weir/internal/inside"
)

// defaultMeasure is a hundredth of the workers' time.
const defaultMeasure = 0.01

// Measure sets the largest share of the workers' time that may go into measuring how long tasks wait and run,
// for Times. The default of a pool is 0.01; 0 turns measuring off, and with 1 every task is measured. Where
// tasks take more than some microseconds, a hundredth is enough to measure all of them, except tasks that
// mostly sleep and are very many. Of shorter tasks the pool measures one of each block, at a random position,
// which stands for the block.
//
// A group with workers of its own measures nothing without this option. With it, such a group starts workers
// from its first task on, which makes small groups slower; without it, the first tasks run on plain
// goroutines.
func Measure(share float64) Option {
	must(share >= 0 && share <= 1, "share of measuring must be from 0 to 1", share)
	return poolOption(func(o *options) { o.measure = float32(share) })
}

// Times say how long the tasks of a pool, or of a group with workers of its own, took since it was made. See [Measure].
type Times struct {
	// Wait is from the moment at which a task is accepted until it starts. Subtasks, which tasks of the pool wait for, are not in it.
	Wait Histogram
	// Run is from the start of a task until it has returned, panicked or called runtime.Goexit, without the time for which it waited for
	// tasks and groups.
	Run Histogram
	// Oldest is how long the oldest queued task has waited at least; 0 if no queued task is measured.
	Oldest time.Duration
}

// A Histogram counts durations in buckets, each of which is 2^¼ (1.19) times as wide as the one before. The
// zero Histogram is empty. A duration below a nanosecond counts as one.
//
// The buckets are those of a native histogram of Prometheus with schema 2, and of an exponential histogram of
// OpenTelemetry with scale 2, so that neither needs to convert a count.
type Histogram struct {
	first  int // the number of the bucket that counts begins with
	counts []uint64
	sum    float64
}

// Count is how many durations there are. Where only some are measured, each counts for those that it stands for.
func (h Histogram) Count() uint64 {
	var n uint64
	for _, count := range h.counts {
		n += count
	}
	return n
}

// Sum is the sum of all durations in seconds, as that of many may be too long for a [time.Duration]. It is exact to
// a millionth.
func (h Histogram) Sum() float64 { return h.sum }

// Quantile returns the duration that a share q of all durations, from 0 to 1, does not exceed. It
// interpolates within a bucket, so that it is off by less than the width of the bucket. It returns 0 for an
// empty histogram, and panics if q is not from 0 to 1.
func (h Histogram) Quantile(q float64) time.Duration {
	must(q >= 0 && q <= 1, "quantile must be from 0 to 1", q)
	rank := q * float64(h.Count())
	bucket, within := 0, 0.0
	for i, count := range h.counts {
		if count == 0 {
			continue
		}
		bucket, within = i, min(1, rank/float64(count))
		if rank -= float64(count); rank <= 0 {
			break
		}
	}
	if len(h.counts) == 0 {
		return 0
	}
	upper := histogram.Bound(h.first + bucket)
	lower := histogram.Bound(h.first + bucket - 1)
	d := lower * math.Pow(upper/lower, within) * float64(time.Second)
	if d >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(d)
}

// Buckets yields the number of each bucket that is not empty, in ascending order, and its count. Bucket i has
// the durations d with 2^((i-1)/4) s < d ≤ 2^(i/4) s: i is the bucket's index in a native histogram of
// Prometheus, and i-1 in OpenTelemetry.
func (h Histogram) Buckets() iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		for i, count := range h.counts {
			if count > 0 && !yield(h.first+i, count) {
				return
			}
		}
	}
}

func histogramOf(c *histogram.Counter) (h Histogram) {
	if c != nil {
		h.first, h.counts, h.sum = c.Counts()
	}
	return h
}

func newTimes(wait, run *histogram.Counter, oldest time.Duration) Times {
	t := Times{Run: histogramOf(run), Oldest: oldest} // first: what has run has begun
	t.Wait = histogramOf(wait)
	return t
}

func init() { //nolint:gochecknoinits // it starts nothing
	inside.NewTimes = func(wait, run *histogram.Counter, oldest time.Duration) any { return newTimes(wait, run, oldest) }
}

func (c *core) times() Times {
	t := c.running().Times()
	return newTimes(t.Wait, t.Run, t.Oldest)
}

// Times returns how long the tasks of the pool have waited and run. It may be called at any time, in a task as well.
func (p *Pool) Times() Times { return p.made().times() }

// Times returns how long the calls of the pool's function have waited and run, as [Pool.Times] does.
func (p *FuncPool[T]) Times() Times { return p.made().times() }

// Times returns how long the calls of the pool's function have waited and run, as [Pool.Times] does.
func (p *Stateful[S, T]) Times() Times { return p.made().times() }

// Times returns how long the tasks of a group with workers of its own have waited and run since the group was
// made. It needs the option [Measure] of NewGroup. For a group on a pool, it returns those of the pool, other
// tasks included.
func (g *Group) Times() Times {
	g.mustBeMade()
	if g.direct != nil && g.direct.on.Load() {
		return Times{}
	}
	return g.pool.core.times()
}
