package weirotel_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirotel"
)

func TestAProducerTellsAllOfAPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		p := weirotel.NewProducer(only("known"))
		pool := weir.New(2, weir.Name("known"), weir.Queue(1), weir.Measure(1), weir.OnPanic(func(*weir.Panic) {}))
		check.OK(t, pool.Submit(func() { panic("known") }))
		pool.Wait()
		time.Sleep(time.Second / 2)
		for range 3 { // two run, one is queued
			check.OK(t, pool.Submit(func() { time.Sleep(time.Second) }))
			synctest.Wait()
		}
		check.Error(t, pool.TrySubmit(nothing), weir.ErrFull)
		time.Sleep(time.Second / 2)

		got, err := p.Produce(t.Context())
		check.OK(t, err)
		now := start.Add(time.Second)
		name := attribute.String("weir.pool.name", "known")
		set := attribute.NewSet(name)
		sum := func(name, unit string, monotonic bool, value int64) metricdata.Metrics {
			return metricdata.Metrics{Name: name, Unit: unit, Data: metricdata.Sum[int64]{
				Temporality: metricdata.CumulativeTemporality, IsMonotonic: monotonic,
				DataPoints: []metricdata.DataPoint[int64]{{Attributes: set, StartTime: start, Time: now, Value: value}},
			}}
		}
		workers := metricdata.Sum[int64]{Temporality: metricdata.CumulativeTemporality}
		for _, w := range []struct {
			state string
			count int64
		}{{"running", 2}, {"suspended", 0}, {"returning", 0}, {"idle", 0}, {"searching", 0}} {
			workers.DataPoints = append(workers.DataPoints, metricdata.DataPoint[int64]{
				Attributes: attribute.NewSet(name, attribute.String("weir.pool.worker.state", w.state)), StartTime: start, Time: now, Value: w.count,
			})
		}
		histogram := func(name string, p metricdata.ExponentialHistogramDataPoint[float64]) metricdata.Metrics {
			p.Attributes, p.StartTime, p.Time, p.Scale = set, start, now, 2
			return metricdata.Metrics{Name: name, Unit: "s", Data: metricdata.ExponentialHistogram[float64]{
				Temporality: metricdata.CumulativeTemporality, DataPoints: []metricdata.ExponentialHistogramDataPoint[float64]{p},
			}}
		}
		want := metricdata.ScopeMetrics{
			Scope: instrumentation.Scope{Name: "github.com/64ed045f/weir/weirotel"},
			Metrics: []metricdata.Metrics{
				sum("weir.pool.count", "{pool}", false, 1),
				sum("weir.pool.accepted", "{task}", true, 4),
				sum("weir.pool.finished", "{task}", true, 1),
				sum("weir.pool.rejected", "{task}", true, 1),
				sum("weir.pool.panicked", "{task}", true, 1),
				sum("weir.pool.handed_back", "{task}", true, 0),
				sum("weir.pool.limit", "{task}", false, 2),
				sum("weir.pool.extra_places", "{place}", false, 0),
				{Name: "weir.pool.worker.count", Unit: "{worker}", Data: workers},
				sum("weir.pool.task.queued", "{task}", false, 1),
				sum("weir.pool.submitter.waiting", "{submitter}", false, 0),
				sum("weir.pool.paused", "{pool}", false, 0),
				sum("weir.pool.closing", "{pool}", false, 0),
				{Name: "weir.pool.task.oldest_wait", Unit: "s", Data: metricdata.Gauge[float64]{
					DataPoints: []metricdata.DataPoint[float64]{{Attributes: set, StartTime: start, Time: now, Value: 0.5}},
				}},
				// What takes no time counts as a nanosecond: 2^-30 s < 1 ns ≤ 2^-29.75 s.
				histogram("weir.pool.wait.duration", metricdata.ExponentialHistogramDataPoint[float64]{
					Count: 3, Sum: float64(1e-9) * 3, PositiveBucket: metricdata.ExponentialBucket{Offset: -120, Counts: []uint64{3}},
				}),
				histogram("weir.pool.run.duration", metricdata.ExponentialHistogramDataPoint[float64]{
					Count: 1, Sum: 1e-9, PositiveBucket: metricdata.ExponentialBucket{Offset: -120, Counts: []uint64{1}},
				}),
			},
		}
		if len(got) != 1 {
			t.Fatalf("there are %d scopes", len(got))
		}
		for i := range got[0].Metrics { // a test of their own has those
			got[0].Metrics[i].Description = ""
		}
		metricdatatest.AssertEqual(t, want, got[0])
		pool.Close()
	})
}

func TestAHistogramIsThatOfWeir(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weirotel.NewProducer(only("times"))
		pool := weir.New(1, weir.Name("times"), weir.Measure(1))
		took := []time.Duration{0, 3, time.Microsecond, 250 * time.Millisecond, 251 * time.Millisecond, time.Second, time.Hour, 300 * 24 * time.Hour}
		check.OK(t, pool.Submit(nothing)) // the clock starts with it
		time.Sleep(time.Second)
		took[0] = 1
		for _, d := range took[1:] {
			check.OK(t, pool.Submit(func() { time.Sleep(d) }))
		}
		pool.Wait()
		times := pool.Times()
		c := collect(t, p)
		for metric, want := range map[string]weir.Histogram{"weir.pool.wait.duration": times.Wait, "weir.pool.run.duration": times.Run} {
			got := c[metric].Data.(metricdata.ExponentialHistogram[float64]).DataPoints[0]
			check.Equal(t, metric+": count", got.Count, want.Count())
			check.Equal(t, metric+": count", got.Count, uint64(len(took)))
			check.Equal(t, metric+": sum", got.Sum, want.Sum())
			check.Equal(t, metric+": zeros", got.ZeroCount, 0)
			buckets := make(map[int]uint64)
			for i, n := range want.Buckets() {
				buckets[i-1] = n
			}
			for i, n := range got.PositiveBucket.Counts {
				check.Equal(t, fmt.Sprintf("%s: bucket %d", metric, i), n, buckets[int(got.PositiveBucket.Offset)+i])
				delete(buckets, int(got.PositiveBucket.Offset)+i)
			}
			check.Equal(t, metric+": buckets left out", len(buckets), 0)
			for _, q := range []float64{0, 0.1, 0.5, 0.9, 1} {
				lower, upper := bucketOf(got, q)
				if d := want.Quantile(q).Seconds(); d < lower-1e-9 || d > upper*(1+1e-9) { // d is of whole ns
					t.Errorf("%s: quantile %v is %v s, and in the bucket from %v to %v s", metric, q, d, lower, upper)
				}
			}
		}
		run := c["weir.pool.run.duration"].Data.(metricdata.ExponentialHistogram[float64]).DataPoints[0]
		for i, d := range took { // ascending
			lower, upper := bucketOf(run, (float64(i)+0.5)/float64(len(took)))
			if s := d.Seconds(); s <= lower || s > upper*(1+1e-12) {
				t.Errorf("%v is in the bucket from %v s to %v s", d, lower, upper)
			}
		}
		pool.Close()
	})
}

// bucketOf returns the bounds of the bucket that has the quantile, as the data model of OpenTelemetry defines them.
func bucketOf(p metricdata.ExponentialHistogramDataPoint[float64], q float64) (lower, upper float64) {
	base := 1.0
	for range 4 { // 2^(2^-scale) of scale 2, by multiplication, as a reader of the data might
		base *= 1.0442737824274138 // 2^(1/16)
	}
	rank, i := q*float64(p.Count), 0
	for ; i < len(p.PositiveBucket.Counts)-1; i++ {
		n := float64(p.PositiveBucket.Counts[i])
		if n > 0 && rank <= n {
			break
		}
		rank -= n
	}
	bound := func(index int32) float64 {
		x := 1.0
		for ; index > 0; index-- {
			x *= base
		}
		for ; index < 0; index++ {
			x /= base
		}
		return x
	}
	index := p.PositiveBucket.Offset + int32(i)
	return bound(index) * (1 - 1e-12), bound(index + 1)
}

func TestTheStatesOfWorkersAddUpToTheWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weirotel.NewProducer(only("states"))
		pool := weir.New(3, weir.Name("states"))
		v := check.NewValve()
		g := pool.Group(t.Context())
		states := func(running, suspended, returning float64) {
			t.Helper()
			synctest.Wait()
			c, sum := collect(t, p), 0.0
			for state, want := range map[string]float64{"running": running, "suspended": suspended, "returning": returning, "searching": 0} {
				c.want(t, "weir.pool.worker.count", "states "+state, want)
			}
			for _, workers := range c.values(t, "weir.pool.worker.count") {
				sum += workers
			}
			check.Equal(t, "workers", sum, float64(pool.Stats().Workers))
		}
		g.Go(func(ctx context.Context) error { // waits for a group of one task
			inner := pool.Group(ctx)
			inner.Go(v.Member)
			return inner.Wait()
		})
		states(1, 1, 0)
		back := make(chan struct{})
		g.Go(func(ctx context.Context) error {
			weir.Blocking(ctx, func() { <-back })
			v.Hold()
			return nil
		})
		states(1, 2, 0)
		for range 3 {
			check.OK(t, pool.Submit(v.Hold))
		}
		synctest.Wait() // the place of the second is in use
		close(back)
		synctest.Wait()
		states(float64(v.Running()), 1, 1) // 3, or 2 if the group's task has a place of its own
		v.Open()
		check.OK(t, g.Wait())
		pool.Wait()
		states(0, 0, 0)
		pool.Close()
		states(0, 0, 0)
	})
}

func TestPoolsOfOneNameShareDataPoints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weirotel.NewProducer(weirotel.Only(func(i weir.PoolInfo) bool { return i.Name == "" || i.Name == "shared" }))
		var pools []*weir.Pool
		for i, name := range []string{"shared", "", "shared", ""} {
			pool := weir.New(i+1, weir.Name(name))
			pools = append(pools, pool)
			check.OK(t, pool.Submit(func() { time.Sleep(time.Second) }))
		}
		pools[3].Pause()
		for range 2 {
			check.OK(t, pools[3].Submit(nothing))
		}
		time.Sleep(2 * time.Second)
		c := collect(t, p)
		c.want(t, "weir.pool.count", "shared", 2)
		c.want(t, "weir.pool.limit", "shared", 4)
		c.want(t, "weir.pool.limit", "unnamed", 6)
		c.want(t, "weir.pool.finished", "shared", 2)
		c.want(t, "weir.pool.run.duration", "unnamed", 2)
		c.want(t, "weir.pool.paused", "unnamed", 1)
		c.want(t, "weir.pool.task.queued", "unnamed", 2)
		check.Equal(t, "names", len(c.values(t, "weir.pool.count")), 2)
		pools[3].Resume()
		for _, pool := range pools {
			pool.Close()
		}
	})
}

func TestACounterKeepsWhatAClosedPoolHasDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weirotel.NewProducer(only("job"))
		start := time.Now()
		for n := range 3 {
			pool := weir.New(2, weir.Name("job"), weir.Measure(1))
			check.OK(t, pool.Submit(nothing))
			synctest.Wait()
			c := collect(t, p)
			c.want(t, "weir.pool.finished", "job", float64(4*n+1))
			c.want(t, "weir.pool.limit", "job", 2)
			for range 3 { // these are counted at the next collection, which comes after Close
				check.OK(t, pool.Submit(nothing))
			}
			pool.Close()
			time.Sleep(time.Second)
			for range 2 {
				c = collect(t, p)
				c.want(t, "weir.pool.finished", "job", float64(4*n+4))
				c.want(t, "weir.pool.wait.duration", "job", float64(4*n+4))
				c.want(t, "weir.pool.limit", "job", 0)
				c.want(t, "weir.pool.count", "job", 0)
			}
			point := c["weir.pool.finished"].Data.(metricdata.Sum[int64]).DataPoints[0]
			check.Equal(t, "start", point.StartTime, start)
			check.Equal(t, "time", point.Time, time.Now())
		}
	})
}

func TestACounterKeepsWhatAGarbagePoolHasDone(t *testing.T) {
	p := weirotel.NewProducer(only("garbage"))
	func() {
		pool := weir.New(1, weir.Name("garbage"), weir.IdleTimeout(0))
		check.OK(t, pool.Submit(nothing))
		check.Until(t, "the worker ends", func() bool { return pool.Stats().Workers == 0 })
		collect(t, p).want(t, "weir.pool.finished", "garbage", 1)
	}()
	check.Until(t, "the producer lets the pool become garbage", func() bool {
		runtime.GC()
		for i := range weir.Pools() {
			if i.Name == "garbage" {
				return false
			}
		}
		return true
	})
	c := collect(t, p)
	c.want(t, "weir.pool.count", "garbage", 0)
	c.want(t, "weir.pool.finished", "garbage", 1)
}

// A pool that closes has no worker for a moment, and then one again: it is in the list, is not, and is. Here it is as Only says.
func TestAPoolThatIsListedAgainIsNotCountedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keep := true
		p := weirotel.NewProducer(weirotel.Only(func(i weir.PoolInfo) bool { return i.Name == "again" && keep }))
		pool := weir.New(1, weir.Name("again"), weir.Measure(1))
		count := func(tasks int, want float64) {
			t.Helper()
			for range tasks {
				check.OK(t, pool.Submit(nothing))
			}
			synctest.Wait()
			c := collect(t, p)
			c.want(t, "weir.pool.finished", "again", want)
			c.want(t, "weir.pool.run.duration", "again", want)
		}
		count(1, 1)
		keep = false
		count(2, 3)
		keep = true
		count(0, 3)
		count(1, 4)
		pool.Close()
	})
}

// Counts of a pool may be off by the tasks under way, and so fall.
func TestACountThatFallsIsHeldUntilItIsHigher(t *testing.T) {
	var total, highest uint64
	for _, c := range []struct{ now, want uint64 }{{5, 5}, {3, 5}, {4, 5}, {6, 6}, {6, 6}} {
		weirotel.Grow(&total, &highest, c.now)
		check.Equal(t, "total", total, c.want)
	}
}

func TestANameStartsAtTheLastCollectionWithoutIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weirotel.NewProducer(only("start"))
		start := time.Now()
		var pools []*weir.Pool
		for n := range 3 {
			pool := weir.New(1, weir.Name(fmt.Sprintf("start %d", n)))
			pools = append(pools, pool)
			check.OK(t, pool.Submit(nothing))
			time.Sleep(time.Second)
			for i, point := range collect(t, p)["weir.pool.accepted"].Data.(metricdata.Sum[int64]).DataPoints {
				check.Equal(t, "start of "+valuesOf(point.Attributes), point.StartTime, start.Add(time.Duration(i)*time.Second))
			}
		}
		for _, pool := range pools {
			pool.Close()
		}
	})
}

func TestNamesAreBoundedAndValid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weirotel.NewProducer(only("bad"), weirotel.MaxNames(3))
		none := weirotel.NewProducer(only("bad"), weirotel.MaxNames(0))
		long := "bad " + strings.Repeat("x", 200)
		for n, name := range []string{"bad \xff\xfe!", long, "bad", "bad 3", "bad 4", "bad"} {
			pool := weir.New(1, weir.Name(name))
			defer pool.Close()
			check.OK(t, pool.Submit(nothing))
			synctest.Wait()
			c := collect(t, p)
			check.Equal(t, "names", len(c.values(t, "weir.pool.count")), min(n+1, 4))
			collect(t, none).want(t, "weir.pool.count", "other", float64(n+1))
		}
		c := collect(t, p)
		c.want(t, "weir.pool.count", "bad \uFFFD!", 1)
		c.want(t, "weir.pool.count", long[:128], 1)
		c.want(t, "weir.pool.count", "bad", 2)
		c.want(t, "weir.pool.count", "other", 2)
	})
}

// What two readers get of two producers grows alone, while pools are made, resized and closed.
func TestCountersNeverFallInAStorm(t *testing.T) {
	rounds := check.Scale(120, 40)
	var done atomic.Bool
	var makers, readers sync.WaitGroup
	var submitted atomic.Int64
	producers := []*weirotel.Producer{weirotel.NewProducer(only("storm")), weirotel.NewProducer(only("storm"))}
	highest := make([]map[string]float64, 4)
	for r := range highest {
		highest[r] = make(map[string]float64)
		readers.Go(func() {
			for last := false; !last; {
				last = done.Load()
				c := collect(t, producers[r%2])
				for _, metric := range []string{
					"weir.pool.accepted", "weir.pool.finished", "weir.pool.rejected", "weir.pool.panicked", "weir.pool.handed_back",
					"weir.pool.wait.duration", "weir.pool.run.duration",
				} {
					for name, value := range c.values(t, metric) {
						if key := metric + " of " + name; value < highest[r][key] {
							t.Errorf("%s falls from %v to %v", key, highest[r][key], value)
						} else {
							highest[r][key] = value
						}
					}
				}
			}
		})
	}
	for m := range 4 {
		makers.Go(func() {
			for i := range rounds {
				pool := weir.New(2, weir.Name(fmt.Sprintf("storm %d", (m+i)%3)), weir.Measure(1))
				g := pool.Group(context.Background(), weir.KeepGoing())
				for n := range 20 {
					g.Go(func(context.Context) error { return nil })
					pool.Resize(1 + n%3)
				}
				submitted.Add(20)
				check.OK(t, g.Wait())
				pool.Close()
			}
		})
	}
	makers.Wait()
	done.Store(true)
	readers.Wait()
	for r := range highest {
		sum, metrics := 0.0, 0
		for key, value := range highest[r] {
			if strings.HasPrefix(key, "weir.pool.finished") {
				sum += value
				metrics++
			}
		}
		if sum > float64(submitted.Load()) || metrics == 0 || sum == 0 {
			t.Errorf("reader %d has seen the end of %v tasks of %d, under %d names", r, sum, submitted.Load(), metrics)
		}
	}
	for _, p := range producers {
		c := collect(t, p)
		for name, value := range c.values(t, "weir.pool.count") {
			check.Equal(t, "pools left of "+name, value, 0)
		}
	}
}

func TestAProducerOutsideABubbleCountsThePoolsInIt(t *testing.T) {
	p := weirotel.NewProducer(only("bubble"))
	var done atomic.Bool
	var reader sync.WaitGroup
	reader.Go(func() {
		for !done.Load() {
			collect(t, p)
		}
	})
	const bubbles = 20
	measured := uint64(0) // those of another clock may be a few less
	for range bubbles {
		synctest.Test(t, func(t *testing.T) {
			pool := weir.New(2, weir.Name("bubble"), weir.Measure(1))
			for range 4 {
				check.OK(t, pool.Submit(func() { time.Sleep(time.Second) }))
			}
			synctest.Wait()
			collect(t, p)
			pool.Close()
			measured += pool.Times().Run.Count()
		})
	}
	done.Store(true)
	reader.Wait()
	c := collect(t, p)
	c.want(t, "weir.pool.finished", "bubble", 4*bubbles)
	c.want(t, "weir.pool.run.duration", "bubble", float64(measured))
}

func TestAReaderGetsWhatItsProducerHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		delta := func(metric.InstrumentKind) metricdata.Temporality { return metricdata.DeltaTemporality }
		reader := metric.NewManualReader(metric.WithProducer(weirotel.NewProducer(only("reader"))), metric.WithTemporalitySelector(delta))
		provider := metric.NewMeterProvider(metric.WithReader(reader))
		pool := weir.New(1, weir.Name("reader"))
		var got metricdata.ResourceMetrics
		check.OK(t, reader.Collect(t.Context(), &got))
		check.Equal(t, "scopes without a pool", len(got.ScopeMetrics), 0)
		for n := range 3 {
			check.OK(t, pool.Submit(nothing))
			synctest.Wait()
			check.OK(t, reader.Collect(t.Context(), &got))
			c := byName(t, got.ScopeMetrics)
			c.want(t, "weir.pool.finished", "reader", float64(n+1))
			check.Equal(t, "temporality", c["weir.pool.finished"].Data.(metricdata.Sum[int64]).Temporality, metricdata.CumulativeTemporality)
		}
		pool.Close()
		check.OK(t, provider.Shutdown(t.Context()))
	})
}

func TestProduceReturnsTheCauseOfItsContext(t *testing.T) {
	cause := errors.New("no time")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, err := weirotel.NewProducer().Produce(ctx)
	check.Error(t, err, cause)
}
