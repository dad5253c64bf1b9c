package peers_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/par"
	"github.com/64ed045f/weir/verify/internal/gauge"
	"github.com/64ed045f/weir/verify/peers"
)

// concStream answers conc/stream by par.Stream, whose range statement has the callback as its
// body, and by Results.Ordered, where tasks are given one by one.
var concStream = []peers.Case{
	{
		Name:      "StreamKeepsTheOrder",
		Theirs:    []string{"stream.TestStream/simple"},
		Behaviour: "Callbacks are called in the order of the tasks, one at a time, so that they may change what they share without a lock.",
		Run: func(t *testing.T) {
			var found []int
			for n, err := range par.Stream(t.Context(), []int{0, 1, 2, 3, 4}, func(_ context.Context, n int) (int, error) { return 2 * n, nil }) {
				ok(t, err)
				found = append(found, n)
			}
			equalSlices(t, found, []int{0, 2, 4, 6, 8})

			found = nil
			r := weir.NewResults[int](weir.NewGroup(t.Context(), 3))
			for i := range 5 {
				r.Go(result(2*i, nil))
			}
			for n, err := range r.Ordered() {
				ok(t, err)
				found = append(found, n)
			}
			equalSlices(t, found, []int{0, 2, 4, 6, 8})
		},
	},
	{
		Name:      "StreamDoesNotWaitForTheEnd",
		Theirs:    []string{"stream.ExampleStream"},
		Behaviour: "A result comes as soon as it and all before it are there, however long those behind it take.",
		Run: func(t *testing.T) {
			times := []time.Duration{20, 52, 16, 45, 4, 80}
			var came []time.Duration
			begun := time.Now()
			wait := func(_ context.Context, d time.Duration) (time.Duration, error) { time.Sleep(d); return d, nil }
			var order []time.Duration
			for d, err := range par.Stream(t.Context(), times, wait, par.Limit(len(times))) {
				ok(t, err)
				order = append(order, d)
				came = append(came, time.Since(begun))
			}
			equalSlices(t, order, times)
			equalSlices(t, came, []time.Duration{20, 52, 52, 52, 52, 80})
		},
	},
	{
		Name:      "StreamKeepsTheMaximum",
		Theirs:    []string{"stream.TestStream/max goroutines"},
		Behaviour: "Never more tasks than the maximum run at once, and never more than one callback.",
		Run: func(t *testing.T) {
			var tasks, bodies gauge.Gauge
			slow := func(context.Context, int) (int, error) {
				tasks.Enter()
				defer tasks.Leave()
				time.Sleep(time.Millisecond)
				return 0, nil
			}
			results := 0
			for _, err := range par.Stream(t.Context(), make([]int, 50), slow, par.Limit(5)) {
				ok(t, err)
				bodies.Enter()
				time.Sleep(time.Millisecond)
				results++
				bodies.Leave()
			}
			equal(t, "results", results, 50)
			equal(t, "tasks that ran at most", tasks.Peak.Load(), 5)
			equal(t, "bodies that ran at most", bodies.Peak.Load(), 1)
		},
	},
	{
		Name:      "StreamTaskPanics",
		Theirs:    []string{"stream.TestStream/panic in task is propagated"},
		Behaviour: "A panic of a task reaches the code that uses the stream.",
		Run: func(t *testing.T) {
			streams := []func(){
				func() {
					explode := func(context.Context, int) (int, error) { panic("kaboom") }
					for _, err := range par.Stream(t.Context(), []int{1}, explode, par.Limit(5)) {
						t.Errorf("there is a result, or an error: %v", err)
					}
				},
				func() {
					r := weir.NewResults[int](weir.NewGroup(t.Context(), 5))
					r.Go(func(context.Context) (int, error) { panic("kaboom") })
					for _, err := range r.Ordered() {
						t.Errorf("there is a result, or an error: %v", err)
					}
				},
			}
			for _, stream := range streams {
				equal(t, "value", panicOf(t, stream).Value, any("kaboom"))
			}
		},
	},
	{
		Name:      "StreamCallbackPanics",
		Theirs:    []string{"stream.TestStream/panic in callback is propagated"},
		Behaviour: "A panic of a callback reaches the code that uses the stream; here it is the body of a loop, and the panic is its own, unwrapped.",
		Run: func(t *testing.T) {
			equal(t, "panic", caught(func() {
				for _, err := range par.Stream(t.Context(), []int{1}, double, par.Limit(5)) {
					ok(t, err)
					panic("kaboom")
				}
			}), any("kaboom"))
			equal(t, "panic", caught(func() {
				r := weir.NewResults[int](weir.NewGroup(t.Context(), 5))
				r.Go(result(1, nil))
				for _, err := range r.Ordered() {
					ok(t, err)
					panic("kaboom")
				}
			}), any("kaboom"))
		},
	},
	{
		Name:      "StreamCallbackPanicsWhileOthersProduce",
		Theirs:    []string{"stream.TestStream/panic in callback does not block producers"},
		Behaviour: "A callback that panics leaves no producer blocked that has more tasks to give; here, what has not begun does not begin any more.",
		Run: func(t *testing.T) {
			var begun atomic.Int64
			count := func(_ context.Context, n int) (int, error) { begun.Add(1); return n, nil }
			endless := func(yield func(int) bool) {
				for yield(1) {
				}
			}
			equal(t, "panic", caught(func() {
				for _, err := range par.Stream(t.Context(), endless, count, par.Limit(5)) {
					ok(t, err)
					panic("kaboom")
				}
			}), any("kaboom"))
			before := begun.Load()
			time.Sleep(time.Hour)
			equal(t, "tasks begun after the panic", begun.Load()-before, 0)

			g := weir.NewGroup(t.Context(), 5, weir.Queue(0))
			r := weir.NewResults[int](g)
			g.Go(func(context.Context) error { // a producer
				for i := range 100 {
					r.Go(result(i, nil))
				}
				return nil
			})
			equal(t, "panic", caught(func() {
				for _, err := range r.Ordered() {
					ok(t, err)
					panic("kaboom")
				}
			}), any("kaboom"))
		},
	},
	{
		Name:      "StreamOfTasksGivenOneByOne",
		Theirs:    []string{"stream.TestStream/simple", "stream.ExampleStream"},
		Behaviour: "Tasks are given to a stream one by one, with a callback each.",
		Different: "A Stream takes its items from a slice, a sequence or a channel and has one body for all, so that the consumer may stop it and its speed holds the source back; tasks that are given one by one are those of Results.",
		Run: func(t *testing.T) {
			numbers := make(chan int)
			producer := begin(func() {
				defer close(numbers)
				for i := range 5 {
					time.Sleep(time.Second)
					numbers <- i
				}
			})
			begun := time.Now()
			var came []time.Duration
			for _, err := range par.Stream(t.Context(), numbers, double) {
				ok(t, err)
				came = append(came, time.Since(begun))
			}
			<-producer
			equalSlices(t, came, slices.Collect(seconds(5)))
		},
	},
}

// double is a function for streams.
func double(_ context.Context, n int) (int, error) { return 2 * n, nil }

// seconds yields 1 s, 2 s, and so on, n of them.
func seconds(n int) func(yield func(time.Duration) bool) {
	return func(yield func(time.Duration) bool) {
		for i := range n {
			if !yield(time.Duration(i+1) * time.Second) {
				return
			}
		}
	}
}
