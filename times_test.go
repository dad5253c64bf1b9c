package weir_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// bucketOf is the number of the bucket of a histogram that has d.
func bucketOf(d time.Duration) int { return int(math.Ceil(4 * math.Log2(d.Seconds()))) }

// isAbout checks a duration up to the width of a bucket.
func isAbout(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if i, j := bucketOf(max(1, got)), bucketOf(max(1, want)); i < j-1 || i > j+1 {
		t.Errorf("%s is %v, want about %v", what, got, want)
	}
}

func TestTimesTellHowLongTasksWaitAndRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		check.Equal(t, "count without a task", p.Times().Run.Count(), 0)
		check.Equal(t, "quantile without a task", p.Times().Run.Quantile(0.5), 0)

		sleep := func(d time.Duration) func() { return func() { time.Sleep(d) } }
		for _, d := range []time.Duration{time.Second, 10 * time.Second, 100 * time.Second} {
			check.OK(t, p.Submit(sleep(d)))
		}
		time.Sleep(5 * time.Second)
		check.Equal(t, "age of the oldest", p.Times().Oldest.Round(time.Millisecond), 5*time.Second)
		time.Sleep(15 * time.Second)
		p.Wait()
		times := p.Times()
		check.Equal(t, "age without a queued task", times.Oldest, 0)
		check.Equal(t, "tasks that ran", times.Run.Count(), 3)
		check.Equal(t, "tasks that waited", times.Wait.Count(), 3)
		isAbout(t, "median", times.Run.Quantile(0.5), 10*time.Second)
		isAbout(t, "longest run", times.Run.Quantile(1), 100*time.Second)
		isAbout(t, "shortest run", times.Run.Quantile(0), time.Second)
		isAbout(t, "longest wait", times.Wait.Quantile(1), 11*time.Second)
		check.Equal(t, "sum of runs", math.Round(times.Run.Sum()), 111)
		check.Equal(t, "sum of waits", math.Round(times.Wait.Sum()), 12)
		var buckets []int
		for i, n := range times.Run.Buckets() {
			check.Equal(t, "durations in a bucket", n, 1)
			buckets = append(buckets, i)
		}
		if want := []int{0, bucketOf(10 * time.Second), bucketOf(100 * time.Second)}; !slices.Equal(buckets, want) {
			t.Errorf("got buckets %d, want %d", buckets, want)
		}
		p.Close()
	})
}

func TestAWaitForSubtasksIsNoRunTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		check.OK(t, p.Do(t.Context(), func(ctx context.Context) error {
			time.Sleep(time.Second)
			g := p.Group(ctx)
			g.Go(func(context.Context) error {
				time.Sleep(100 * time.Second)
				return nil
			})
			err := g.Wait()
			time.Sleep(time.Second)
			return err
		}))
		p.Wait()
		times := p.Times()
		check.Equal(t, "tasks that ran", times.Run.Count(), 2)
		check.Equal(t, "sum of runs", math.Round(times.Run.Sum()), 102)
	})
}

func TestTasksThatDoNotReturnAreMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.OnPanic(func(*weir.Panic) {}))
		defer p.Close()
		for _, end := range []func(){func() { panic("end") }, runtime.Goexit, func() {}} {
			check.OK(t, p.Submit(func() {
				time.Sleep(time.Second)
				end()
			}))
		}
		p.Wait()
		check.Equal(t, "tasks that ran", p.Times().Run.Count(), 3)
		check.Equal(t, "sum of runs", math.Round(p.Times().Run.Sum()), 3)
	})
}

func TestTasksThatNeverRunAreNotMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Measure(1))
		defer p.Close()
		ctx, cancel := context.WithCancel(t.Context())
		g := p.Group(ctx)
		const others = 20 // so many that those of the group stay in the queue
		for range others {
			check.OK(t, p.Submit(func() { time.Sleep(time.Second) }))
			g.Go(func(context.Context) error { return nil })
		}
		cancel()
		_ = g.Wait()
		p.Wait()
		check.Equal(t, "tasks that ran", p.Times().Run.Count(), others)
		check.Equal(t, "tasks that waited", p.Times().Wait.Count(), others)
	})
}

func TestMeasuringCanBeTurnedOff(t *testing.T) {
	p := weir.NewFunc(2, func(int) {}, weir.Measure(0))
	for i := range 1000 {
		check.OK(t, p.Invoke(i))
	}
	p.Wait()
	check.Equal(t, "tasks that ran", p.Times().Run.Count(), 0)
	p.Close()
}

func TestAGroupWithWorkersMeasuresOnRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		task := func(context.Context) error {
			time.Sleep(time.Second)
			return nil
		}
		g := weir.NewGroup(t.Context(), 1, weir.Measure(1))
		plain := weir.NewGroup(t.Context(), 1)
		for range 2 {
			for range 40 {
				g.Go(task)
				plain.Go(task)
			}
			check.OK(t, g.Wait())
			check.OK(t, plain.Wait())
		}
		times := g.Times()
		check.Equal(t, "tasks that waited", times.Wait.Count(), 80)
		check.Equal(t, "tasks that ran", times.Run.Count(), 80)
		check.Equal(t, "sum of runs", math.Round(times.Run.Sum()), 80)
		check.Equal(t, "sum of waits", math.Round(times.Wait.Sum()), 2*40*39/2)
		check.Equal(t, "tasks of a group without the option", plain.Times().Run.Count(), 0)

		p := weir.New(1)
		on := p.Group(t.Context())
		on.Go(task)
		check.OK(t, on.Wait())
		check.Equal(t, "tasks of a group on a pool", on.Times().Run.Count(), 1)
		p.Close()
	})
}

// A pool's tasks may become others: blocks of many short tasks must not hide the few long ones that follow.
func TestFewLongTasksAfterManyShortOnesAreMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(4)
		defer p.Close()
		for range 20_000 {
			check.OK(t, p.Submit(func() {}))
		}
		p.Wait()
		const long = 20
		for range long {
			time.Sleep(15 * time.Second)
			check.OK(t, p.Submit(func() { time.Sleep(time.Minute) }))
		}
		p.Wait()
		n := uint64(0)
		for i, count := range p.Times().Run.Buckets() {
			if i > 0 {
				n += count
			}
		}
		if n < long/2 || n > 2*long {
			t.Errorf("those measured stand for %d long tasks, want about %d", n, long)
		}
	})
}

func TestTheFirstTaskAfterARestIsMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		stop := make(chan struct{})
		check.OK(t, p.Submit(func() { <-stop })) // so that the pool is never without work
		for range 20_000 {
			check.OK(t, p.Submit(func() {}))
		}
		time.Sleep(time.Minute)
		check.OK(t, p.Submit(func() { time.Sleep(time.Minute) }))
		time.Sleep(time.Hour)
		isAbout(t, "longest run", p.Times().Run.Quantile(1), time.Minute)
		close(stop)
	})
}

// The clock of the bubble makes the times of all tasks exact, so that what differs is due to the choice of those that are measured.
func TestTheTasksThatAreMeasuredStandForAll(t *testing.T) {
	tasks, far := 200_000, 0.95 // a quantile beyond that has too few of the measured tasks behind it: 0.99 of Pareto's lengths is wrong by two buckets once in 25 times
	if testing.Short() {
		tasks, far = 20_000, 0.7
	}
	for name, length := range map[string]func(i int) time.Duration{
		"constant":                         func(int) time.Duration { return time.Microsecond },
		"Pareto":                           func(int) time.Duration { return time.Duration(1000 * math.Pow(1-rand.Float64(), -1/1.5)) },
		"two of a hundred, at random":      func(int) time.Duration { return time.Microsecond * time.Duration(1+99*(rand.IntN(50)/49)) },
		"two of a hundred, at a fixed one": func(i int) time.Duration { return time.Microsecond * time.Duration(1+99*(i%50/49)) },
		"one of 64":                        func(i int) time.Duration { return time.Microsecond * time.Duration(1+99*(i%64/63)) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all := make([]time.Duration, tasks)
				p := weir.NewFunc(1, func(i int) { time.Sleep(all[i]) }, weir.Queue(weir.Unbounded))
				defer p.Close()
				for i := range all {
					all[i] = length(i)
					check.OK(t, p.Invoke(i))
				}
				p.Wait()
				slices.Sort(all)
				run := p.Times().Run
				if n := run.Count(); math.Abs(float64(n)-float64(tasks)) > float64(tasks)/50 {
					t.Errorf("those measured stand for %d tasks of %d", n, tasks)
				}
				for _, q := range []float64{0.5, far} {
					isAbout(t, fmt.Sprintf("quantile %g", q), run.Quantile(q), all[int(q*float64(tasks))])
				}
				if name != "Pareto" && !testing.Short() {
					isAbout(t, "quantile 0.995", run.Quantile(0.995), all[tasks/1000*995])
				}
			})
		})
	}
}

func TestTimesMayBeReadAtAnyTime(t *testing.T) {
	p := weir.New(4, weir.Measure(1))
	var users sync.WaitGroup
	for range 2 {
		users.Go(func() {
			for range 1000 {
				check.OK(t, p.Submit(func() { _ = p.Times() }))
				if times := p.Times(); times.Run.Count() > times.Wait.Count() {
					t.Errorf("%d tasks have run, of %d that have begun", times.Run.Count(), times.Wait.Count())
				}
			}
		})
	}
	users.Wait()
	p.Wait()
	check.Equal(t, "tasks that ran", p.Times().Run.Count(), 2000)
	p.Close()
}

func TestWhatIsNoShareAndNoQuantileIsRefused(t *testing.T) {
	for _, bad := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1)} {
		check.Panics(t, fmt.Sprintf("weir: share of measuring must be from 0 to 1, got %v", bad), func() { weir.Measure(bad) })
		check.Panics(t, fmt.Sprintf("weir: quantile must be from 0 to 1, got %v", bad), func() { weir.Histogram{}.Quantile(bad) })
	}
}
