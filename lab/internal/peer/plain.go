package peer

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// plainPeers are the ways that need no library.
func plainPeers() []Peer {
	return []Peer{
		{
			Name: Go, About: "a go statement for each task, and a WaitGroup", Unlimited: true,
			Open: openGo, Queued: unbounded(openGo),
			Loop:      handSplit,
			Collect:   func(_, n int, fn func(int) (int, error)) ([]int, error) { return collectGo(n, fn) },
			Stream:    streamGo,
			Fibonacci: func(_, n int) int { return bothGo.fibonacci(n) },
			Sort:      func(_ int, items []int) { bothGo.sort(items) },
		},
		{
			Name: "semaphore", About: "a go statement for each task, below a limit kept by a buffered channel",
			Open: openSemaphore, Group: openSemaphoreGroup, Collect: collectSemaphore,
		},
		{
			Name: InPlace, About: "no concurrency: what the work itself takes",
			Open: openInPlace,
			Loop: func(_ int, items []float64, body Body) func() {
				return func() {
					for i := range items {
						body.Item(&items[i])
					}
				}
			},
			Fibonacci: func(_, n int) int { return fibonacci(n) },
			Sort:      func(_ int, items []int) { slices.Sort(items) },
		},
	}
}

func fibonacci(n int) int {
	if n < 2 {
		return n
	}
	return fibonacci(n-1) + fibonacci(n-2)
}

var bothGo fork = func(f, g func()) {
	var both sync.WaitGroup
	both.Go(f)
	both.Go(g)
	both.Wait()
}

// collectGo has a place for each task's value and error.
func collectGo(n int, fn func(i int) (int, error)) ([]int, error) {
	values, errs := make([]int, n), make([]error, n)
	live := new(sync.WaitGroup)
	for i := range n {
		live.Go(func() { values[i], errs[i] = fn(i) })
	}
	live.Wait()
	return values, errors.Join(errs...)
}

func collectSemaphore(limit, n int, fn func(i int) (int, error)) ([]int, error) {
	values, errs := make([]int, n), make([]error, n)
	slots := make(chan struct{}, limit)
	live := new(sync.WaitGroup)
	for i := range n {
		slots <- struct{}{}
		live.Go(func() {
			values[i], errs[i] = fn(i)
			<-slots
		})
	}
	live.Wait()
	return values, errors.Join(errs...)
}

// streamGo is the ordered stream as written by hand: a channel of channels, each for one value. The channel
// holds one task less than the limit, because the consumer waits for one more.
func streamGo(limit, n int, fn func(i int) int, consume func(value int)) {
	inOrder := make(chan chan int, limit-1)
	go func() {
		defer close(inOrder)
		for i := range n {
			value := make(chan int, 1)
			inOrder <- value
			go func() { value <- fn(i) }()
		}
	}()
	for value := range inOrder {
		consume(<-value)
	}
}

func openGo(_ int, task func()) Runner {
	task, live := counted(task)
	return runner{
		live: live,
		submit: func(lo, hi int) {
			for range hi - lo {
				go task()
			}
		},
	}
}

func openSemaphore(limit int, task func()) Runner {
	slots := make(chan struct{}, limit)
	live := new(sync.WaitGroup)
	run := func() {
		task()
		<-slots
		live.Done()
	}
	return runner{live: live, submit: func(lo, hi int) {
		for range hi - lo {
			slots <- struct{}{}
			go run()
		}
	}}
}

// openSemaphoreGroup is a group as written by hand: the first error is the cause that cancels the context of
// all tasks.
func openSemaphoreGroup(parent context.Context, limit int, work GroupWork) Runner {
	slots := make(chan struct{}, limit)
	live := new(sync.WaitGroup)
	ctx, cancel := context.WithCancelCause(parent)
	tasks := work.bound(ctx)
	return runner{
		live: live,
		submit: func(lo, hi int) {
			for i := lo; i < hi; i++ {
				task := tasks.task(i)
				slots <- struct{}{}
				go func() {
					if err := task(); err != nil {
						cancel(err)
					}
					<-slots
					live.Done()
				}()
			}
		},
		wait: func() error {
			err := context.Cause(ctx)
			cancel(nil)
			ctx, cancel = context.WithCancelCause(parent)
			tasks = work.bound(ctx)
			return err
		},
		close: func() { cancel(nil) },
	}
}

func openInPlace(_ int, task func()) Runner {
	return runner{submit: func(lo, hi int) {
		for range hi - lo {
			task()
		}
	}}
}

// handSplit is the loop as written by hand: one goroutine for each worker, with an equal share of the items.
func handSplit(limit int, items []float64, body Body) func() {
	limit = min(limit, len(items))
	return func() {
		live := new(sync.WaitGroup)
		for k := range limit {
			part := items[k*len(items)/limit : (k+1)*len(items)/limit]
			live.Go(func() {
				for i := range part {
					body.Item(&part[i])
				}
			})
		}
		live.Wait()
	}
}
