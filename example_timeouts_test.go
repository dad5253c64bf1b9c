package weir_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// Each task sets its own time-out, on the context that it got. It counts from
// the start of the task: the time that the task waits in the queue does not matter.
func ExampleGroup_Go_timeout() {
	ask := func(ctx context.Context, host string) error {
		if host == "bee" {
			<-ctx.Done() // does not answer
			return ctx.Err()
		}
		return nil
	}
	hosts := []string{"ant", "bee", "cat"}

	g := weir.NewGroup(context.Background(), 1, weir.KeepGoing())
	for _, host := range hosts {
		g.Go(func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, 2*time.Millisecond)
			defer cancel()
			return ask(ctx, host)
		})
	}
	fmt.Println(g.Wait())
	// Output: task 1: context deadline exceeded
}

// If the wait in the queue shall count, too, the program computes the deadline before Go,
// and makes the context inside the task.
func ExampleGroup_Go_deadline() {
	g := weir.NewGroup(context.Background(), 1, weir.KeepGoing())
	deadline := time.Now().Add(time.Millisecond)
	g.Go(func(ctx context.Context) error {
		ctx, cancel := context.WithDeadline(ctx, deadline)
		defer cancel()
		<-ctx.Done() // until then the next task is in the queue
		return nil
	})
	g.Go(func(ctx context.Context) error {
		ctx, cancel := context.WithDeadline(ctx, deadline)
		defer cancel()
		return ctx.Err() // it is late as it starts
	})
	fmt.Println(g.Wait())
	// Output: task 1: context deadline exceeded
}

// The context that the group is made from has the time-out for all tasks together: what
// is still queued when it ends never starts.
func ExampleNewGroup_timeout() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Millisecond)
	defer cancel()

	g := weir.NewGroup(ctx, 1)
	g.Go(func(ctx context.Context) error {
		<-ctx.Done() // takes too long
		return ctx.Err()
	})
	g.Go(func(context.Context) error {
		fmt.Println("never printed")
		return nil
	})
	fmt.Println(g.Wait())
	// Output: context deadline exceeded
}

// A future's task gets the context that was given to Async: its time-out counts from
// there, and if it passes in the queue, the task never starts.
func ExampleAsync_timeout() {
	pool := weir.New(1)
	defer pool.Close()
	busy := make(chan struct{})
	defer close(busy)
	if err := pool.Submit(func() { <-busy }); err != nil {
		fmt.Println(err)
		return
	}

	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Millisecond)
	defer cancel()
	f := weir.Async(ctx, pool, func(context.Context) (string, error) { return "never", nil })
	_, err := f.Get(context.Background())
	fmt.Println(err)
	// Output: context deadline exceeded
}

func TestATimeoutInsideATaskCountsFromItsStart(t *testing.T) {
	check.Bubble(t, "limit 1", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 1, weir.KeepGoing())
		begun := time.Now()
		for range 3 {
			g.Go(func(ctx context.Context) error {
				ctx, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				<-ctx.Done()
				return ctx.Err()
			})
		}
		check.Error(t, g.Wait(), context.DeadlineExceeded)
		check.Equal(t, "time of three tasks, one after the other", time.Since(begun), 3*time.Second)
	})
}

// A context made from a task's is the task's, too: a task that waits for a group made
// from it lends its place.
func TestATaskThatWaitsWithATimeoutLendsItsPlace(t *testing.T) {
	derive := map[string]func(context.Context) (context.Context, context.CancelFunc){
		"timeout": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Hour)
		},
		"deadline of a value's context": func(ctx context.Context) (context.Context, context.CancelFunc) {
			type key struct{}
			return context.WithDeadline(context.WithValue(ctx, key{}, "value"), time.Now().Add(time.Hour))
		},
	}
	for name, with := range derive {
		check.Bubble(t, name, func(t *testing.T) {
			pool := weir.New(1)
			defer pool.Close()
			begun, reached := time.Now(), 0
			var descend func(ctx context.Context, depth int) error
			descend = func(ctx context.Context, depth int) error {
				reached = depth
				if depth == 10 {
					return nil
				}
				ctx, cancel := with(ctx)
				defer cancel()
				below := pool.Group(ctx)
				below.Go(func(ctx context.Context) error { return descend(ctx, depth+1) })
				return below.Wait()
			}
			g := pool.Group(t.Context())
			g.Go(func(ctx context.Context) error { return descend(ctx, 1) })
			check.OK(t, g.Wait())
			check.Equal(t, "depth", reached, 10)
			check.Equal(t, "time", time.Since(begun), 0)
		})
	}
}

// The subtasks end with the time-out, also those that have not started.
func TestATimeoutEndsTheSubtasksOfItsTask(t *testing.T) {
	check.Bubble(t, "limit 1", func(t *testing.T) {
		pool := weir.New(1)
		defer pool.Close()
		started := 0
		g := pool.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			limited, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			below := pool.Group(limited)
			for range 3 {
				below.Go(func(ctx context.Context) error {
					started++
					return untilCancelled(ctx)
				})
			}
			check.Error(t, below.Wait(), context.DeadlineExceeded)
			return ctx.Err() // the task itself has all the time
		})
		check.OK(t, g.Wait())
		check.Equal(t, "subtasks started", started, 1)
	})
}
