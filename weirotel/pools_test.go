package weirotel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirotel"
)

func TestAProducerTellsAllOfAPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		p := weirotel.NewProducer(only("known"))
		pool := weir.New(2, weir.Name("known"), weir.Queue(1), weir.Measure(1), weir.OnPanic(func(*weir.Panic) {}))
		noError(t, pool.Submit(func() { panic("known") }))
		pool.Wait()
		time.Sleep(time.Second / 2)
		for range 3 { // two run, one is queued
			noError(t, pool.Submit(func() { time.Sleep(time.Second) }))
			synctest.Wait()
		}
		isError(t, pool.TrySubmit(nothing), weir.ErrFull)
		time.Sleep(time.Second / 2)

		got, err := p.Produce(t.Context())
		noError(t, err)
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
				sum("weir.pool.task.timers", "{task}", false, 0),
				sum("weir.pool.throttled", "{pool}", false, 0),
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
		noError(t, pool.Submit(nothing)) // the clock starts with it
		time.Sleep(time.Second)
		took[0] = 1
		for _, d := range took[1:] {
			noError(t, pool.Submit(func() { time.Sleep(d) }))
		}
		pool.Wait()
		times := pool.Times()
		c := collect(t, p)
		for metric, want := range map[string]weir.Histogram{"weir.pool.wait.duration": times.Wait, "weir.pool.run.duration": times.Run} {
			got := c[metric].Data.(metricdata.ExponentialHistogram[float64]).DataPoints[0]
			equal(t, metric+": count", got.Count, want.Count())
			equal(t, metric+": count", got.Count, uint64(len(took)))
			equal(t, metric+": sum", got.Sum, want.Sum())
			equal(t, metric+": zeros", got.ZeroCount, 0)
			buckets := make(map[int]uint64)
			for i, n := range want.Buckets() {
				buckets[i-1] = n
			}
			for i, n := range got.PositiveBucket.Counts {
				equal(t, fmt.Sprintf("%s: bucket %d", metric, i), n, buckets[int(got.PositiveBucket.Offset)+i])
				delete(buckets, int(got.PositiveBucket.Offset)+i)
			}
			equal(t, metric+": buckets left out", len(buckets), 0)
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

func TestEachStateOfWorkersHasADataPoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weirotel.NewProducer(only("states"))
		pool := weir.New(2, weir.Name("states"))
		states := func(running, suspended, returning, idle float64) {
			t.Helper()
			synctest.Wait()
			c := collect(t, p)
			for state, want := range map[string]float64{
				"running": running, "suspended": suspended, "returning": returning, "idle": idle, "searching": 0,
			} {
				c.want(t, "weir.pool.worker.count", "states "+state, want)
			}
		}
		back, end := make(chan struct{}), make(chan struct{})
		g := pool.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			weir.Blocking(ctx, func() { <-back })
			return nil
		})
		for range 2 {
			g.Go(func(context.Context) error {
				<-end
				return nil
			})
		}
		states(2, 1, 0, 0)
		close(back)
		states(2, 0, 1, 0)
		close(end)
		noError(t, g.Wait())
		states(0, 0, 0, float64(pool.Stats().Workers))
		pool.Close()
	})
}

func TestANameStartsAtTheLastCollectionWithoutIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weirotel.NewProducer(only("start"))
		start := time.Now()
		var pools []*weir.Pool
		for n := range 3 {
			pool := weir.New(1, weir.Name(fmt.Sprintf("start %d", n)))
			pools = append(pools, pool)
			noError(t, pool.Submit(nothing))
			time.Sleep(time.Second)
			for i, point := range collect(t, p)["weir.pool.accepted"].Data.(metricdata.Sum[int64]).DataPoints {
				equal(t, "start of "+valuesOf(point.Attributes), point.StartTime, start.Add(time.Duration(i)*time.Second))
				equal(t, "time of "+valuesOf(point.Attributes), point.Time, time.Now())
			}
		}
		for _, pool := range pools {
			pool.Close()
		}
	})
}

func TestNamesAreMadeValid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weirotel.NewProducer(only("bad"))
		for _, name := range []string{"bad \xff\xfe!", "bad" + strings.Repeat("é", 100)} {
			pool := weir.New(1, weir.Name(name))
			defer pool.Close()
			noError(t, pool.Submit(nothing))
		}
		synctest.Wait()
		c := collect(t, p)
		c.want(t, "weir.pool.count", "bad \uFFFD!", 1)
		c.want(t, "weir.pool.count", "bad"+strings.Repeat("é", 62), 1)
	})
}

func TestReadersMayCollectAtOnce(t *testing.T) {
	p := weirotel.NewProducer(only("at once"))
	var readers sync.WaitGroup
	for n := range 4 {
		readers.Go(func() {
			for i := range 20 {
				name := fmt.Sprintf("at once %d.%d", n, i)
				pool := weir.New(1, weir.Name(name))
				noError(t, pool.Submit(nothing))
				pool.Wait()
				collect(t, p).want(t, "weir.pool.finished", name, 1)
				pool.Close()
			}
		})
	}
	readers.Wait()
	equal(t, "names", len(collect(t, p).values(t, "weir.pool.finished")), 4*20)
}

func TestAReaderGetsWhatItsProducerHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		delta := func(metric.InstrumentKind) metricdata.Temporality { return metricdata.DeltaTemporality }
		reader := metric.NewManualReader(metric.WithProducer(weirotel.NewProducer(only("reader"))), metric.WithTemporalitySelector(delta))
		provider := metric.NewMeterProvider(metric.WithReader(reader))
		pool := weir.New(1, weir.Name("reader"))
		var got metricdata.ResourceMetrics
		noError(t, reader.Collect(t.Context(), &got))
		equal(t, "scopes without a pool", len(got.ScopeMetrics), 0)
		for n := range 3 {
			noError(t, pool.Submit(nothing))
			synctest.Wait()
			noError(t, reader.Collect(t.Context(), &got))
			c := byName(t, got.ScopeMetrics)
			c.want(t, "weir.pool.finished", "reader", float64(n+1))
			equal(t, "temporality", c["weir.pool.finished"].Data.(metricdata.Sum[int64]).Temporality, metricdata.CumulativeTemporality)
		}
		pool.Close()
		noError(t, provider.Shutdown(t.Context()))
	})
}

func TestProduceReturnsTheCauseOfItsContext(t *testing.T) {
	cause := errors.New("no time")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, err := weirotel.NewProducer().Produce(ctx)
	isError(t, err, cause)
}
