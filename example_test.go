package weir_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
)

func ExampleNew() {
	pool := weir.New(4, weir.Queue(100), weir.Name("thumbnails"))

	for _, name := range []string{"a.png", "b.png", "c.png"} {
		if err := pool.Submit(func() { fmt.Println("made", name) }); err != nil {
			log.Print(err) // the pool is closed
		}
	}

	pool.Close() // runs what was accepted, then returns
	// Unordered output:
	// made a.png
	// made b.png
	// made c.png
}

func ExamplePool_Submit() {
	pool := weir.New(1)
	pool.Close()

	err := pool.Submit(func() { fmt.Println("never runs") })
	fmt.Println(errors.Is(err, weir.ErrClosed), err)
	// Output: true weir: pool is closed
}

func ExamplePool_SubmitContext() {
	pool := weir.New(1, weir.Queue(0))
	release := make(chan struct{})
	if err := pool.Submit(func() { <-release }); err != nil {
		log.Fatal(err)
	}

	// The only worker is busy: wait for it no longer than the request may take.
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	err := pool.SubmitContext(ctx, func() { fmt.Println("never runs") })
	fmt.Println(err)

	close(release)
	pool.Close()
	// Output: context deadline exceeded
}

func ExamplePool_Do() {
	pool := weir.New(2)
	defer pool.Close()

	// Work that cannot leave its goroutine, under the same limit as the pool's tasks.
	err := pool.Do(context.Background(), func(ctx context.Context) error {
		fmt.Println("here")
		return ctx.Err()
	})
	fmt.Println(err)
	// Output:
	// here
	// <nil>
}

func ExamplePool_TrySubmit() {
	pool := weir.New(1, weir.Queue(2))
	release := make(chan struct{})

	accepted, dropped := 0, 0
	for range 10 {
		switch err := pool.TrySubmit(func() { <-release }); {
		case err == nil:
			accepted++ // one that runs, two that wait
		case errors.Is(err, weir.ErrFull):
			dropped++
		default:
			log.Fatal(err)
		}
	}
	fmt.Println(accepted, "accepted,", dropped, "dropped")

	close(release)
	pool.Close()
	// Output: 3 accepted, 7 dropped
}

func ExamplePool_Wait() {
	pool := weir.New(4)
	defer pool.Close()

	var sum atomic.Int64
	for batch := range 2 {
		for i := range 100 {
			if err := pool.Submit(func() { sum.Add(int64(i)) }); err != nil {
				panic(err)
			}
		}
		pool.Wait() // the pool stays open
		fmt.Println("batch", batch, "sum", sum.Load())
	}
	// Output:
	// batch 0 sum 4950
	// batch 1 sum 9900
}

func ExamplePool_WaitContext() {
	pool := weir.New(1)
	release := make(chan struct{})
	if err := pool.Submit(func() { <-release }); err != nil {
		log.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	fmt.Println("in time:", pool.WaitContext(ctx))

	close(release)
	fmt.Println("later:", pool.WaitContext(context.Background()))
	pool.Close()
	// Output:
	// in time: context deadline exceeded
	// later: <nil>
}

func ExamplePool_Resize() {
	pool := weir.New(2)
	pool.Resize(16) // for the night
	fmt.Println(pool.Stats().Limit)
	pool.Close()
	// Output: 16
}

func ExamplePool_Pause() {
	pool := weir.New(1)

	pool.Pause()
	for i := range 3 {
		if err := pool.Submit(func() { fmt.Println("request", i) }); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("maintenance,", pool.Stats().Queued, "are queued")
	pool.Resume()

	pool.Close()
	// Output:
	// maintenance, 3 are queued
	// request 0
	// request 1
	// request 2
}

func ExamplePool_Resume() {
	pool := weir.New(1)
	pool.Pause()
	if err := pool.Submit(func() { fmt.Println("runs after Resume") }); err != nil {
		log.Fatal(err)
	}
	pool.Resume()
	pool.Close()
	// Output: runs after Resume
}

func ExamplePool_Close() {
	pool := weir.New(8)
	var sent atomic.Int32
	for range 100 {
		if err := pool.Submit(func() { sent.Add(1) }); err != nil {
			log.Fatal(err)
		}
	}
	pool.Close()
	fmt.Println(sent.Load(), "sent,", pool.Stats().Workers, "workers left")
	// Output: 100 sent, 0 workers left
}

func ExamplePool_Shutdown() {
	pool := weir.New(1)
	started, release := make(chan struct{}), make(chan struct{})
	tasks := []func(){
		func() { close(started); <-release },
		func() { fmt.Println("second") },
		func() { fmt.Println("third") },
	}
	for _, task := range tasks {
		if err := pool.Submit(task); err != nil {
			log.Fatal(err)
		}
	}
	<-started

	// Let tasks end for a while, then get back those that have not started.
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	unrun, err := pool.Shutdown(ctx)
	fmt.Println(len(unrun), "handed back:", err)
	for _, task := range unrun {
		task() // or keep them for another time
	}

	close(release)
	pool.Close()
	// Output:
	// 2 handed back: weir: pool shut down while 1 task runs: context deadline exceeded
	// second
	// third
}

func ExamplePool_Stats() {
	pool := weir.New(4)
	for range 10 {
		if err := pool.Submit(func() {}); err != nil {
			log.Fatal(err)
		}
	}
	pool.Close()

	s := pool.Stats()
	fmt.Printf("limit %d: %d accepted, %d finished, %d queued\n", s.Limit, s.Accepted, s.Finished, s.Queued)
	// Output: limit 4: 10 accepted, 10 finished, 0 queued
}

func ExamplePool_Times() {
	pool := weir.New(4, weir.Measure(1)) // every task
	for range 10 {
		if err := pool.Submit(func() {}); err != nil {
			log.Fatal(err)
		}
	}
	pool.Close()

	run := pool.Times().Run
	fmt.Println(run.Count(), "tasks, half of which take less than a second:", run.Quantile(0.5) < time.Second)
	// Output: 10 tasks, half of which take less than a second: true
}

func ExamplePool_Running() {
	pool := weir.New(4)
	pool.Running(0) // from here on all is known
	hangs := make(chan struct{})
	started := make(chan struct{})
	f := weir.Async(weir.Label(context.Background(), "order 7"), pool, func(context.Context) (int, error) {
		close(started)
		<-hangs
		return 0, nil
	})
	<-started

	for _, task := range pool.Running(0) { // in a program, a minute
		fmt.Println(task.Label, "hangs; its stack is", len(strings.Split(task.Stack(), "\n")) > 1)
	}
	close(hangs)
	_, _ = f.Get(context.Background())
	pool.Close()
	// Output: order 7 hangs; its stack is true
}

func ExampleLabel() {
	pool := weir.New(4)
	group := pool.Group(weir.Label(context.Background(), "order 7"))
	group.Go(func(context.Context) error { panic("out of stock") })
	defer func() {
		fmt.Println(recover().(*weir.Panic).Label)
		pool.Close()
	}()
	_ = group.Wait()
	// Output: order 7
}

func ExampleNewFunc() {
	var total atomic.Int64
	pool := weir.NewFunc(4, func(line string) {
		total.Add(int64(len(strings.Fields(line))))
	})
	for _, line := range []string{"to be or not to be", "that is the question"} {
		if err := pool.Invoke(line); err != nil {
			log.Fatal(err)
		}
	}
	pool.Close()
	fmt.Println(total.Load(), "words")
	// Output: 10 words
}

func ExampleFuncPool_Invoke() {
	pool := weir.NewFunc(2, func(id int) { fmt.Println("order", id) })
	for id := range 3 {
		if err := pool.Invoke(id); err != nil {
			log.Fatal(err)
		}
	}
	pool.Close()
	// Unordered output:
	// order 0
	// order 1
	// order 2
}

func ExampleFuncPool_InvokeContext() {
	pool := weir.NewFunc(2, func(id int) { fmt.Println("order", id) })
	ctx, cancel := context.WithCancelCause(context.Background())

	fmt.Println(pool.InvokeContext(ctx, 1))
	pool.Wait()
	cancel(errors.New("the customer has gone"))
	fmt.Println(pool.InvokeContext(ctx, 2))

	pool.Close()
	// Unordered output:
	// <nil>
	// order 1
	// the customer has gone
}

func ExampleFuncPool_TryInvoke() {
	release := make(chan struct{})
	pool := weir.NewFunc(1, func(int) { <-release }, weir.Queue(0))

	fmt.Println(pool.TryInvoke(1))
	fmt.Println(pool.TryInvoke(2))

	close(release)
	pool.Close()
	// Output:
	// <nil>
	// weir: pool is full
}

func ExampleFuncPool_Shutdown() {
	started, release := make(chan struct{}, 1), make(chan struct{})
	pool := weir.NewFunc(1, func(int) {
		started <- struct{}{}
		<-release
	})
	for id := range 4 {
		if err := pool.Invoke(id); err != nil {
			log.Fatal(err)
		}
	}
	<-started

	ctx, cancel := context.WithCancel(context.Background())
	cancel() // at once
	unrun, err := pool.Shutdown(ctx)
	fmt.Println(unrun, err)

	close(release)
	pool.Close()
	// Output: [1 2 3] weir: pool shut down while 1 task runs: context canceled
}

func ExampleNewGroup() {
	ctx := context.Background()
	sizes := make([]int, 3)
	words := []string{"a", "weir", "lets"}

	g := weir.NewGroup(ctx, 4, weir.Queue(10))
	for i, word := range words {
		g.Go(func(context.Context) error {
			sizes[i] = len(word) // each task has a place of its own
			return nil
		})
	}
	err := g.Wait()

	fmt.Println(sizes, err)
	// Output: [1 4 4] <nil>
}

func ExamplePool_Group() {
	pool := weir.New(8)
	defer pool.Close()

	// This request uses at most 2 of the 8 workers that all requests share.
	g := pool.Group(context.Background(), weir.Limit(2))
	for _, part := range []string{"head", "body", "tail"} {
		g.Go(func(context.Context) error {
			fmt.Println("copied", part)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		panic(err)
	}
	// Unordered output:
	// copied head
	// copied body
	// copied tail
}

func ExampleGroup_Go() {
	g := weir.NewGroup(context.Background(), 2)
	for _, name := range []string{"ant", "bee", "cat"} {
		g.Go(func(ctx context.Context) error {
			if name == "bee" {
				return errors.New("bee has flown away")
			}
			<-ctx.Done() // the others are cancelled by the first error, or never start
			return nil
		})
	}
	fmt.Println(g.Wait())
	// Output: task 1: bee has flown away
}

func ExampleGroup_TryGo() {
	g := weir.NewGroup(context.Background(), 1, weir.Queue(0))
	release := make(chan struct{})
	task := func(context.Context) error {
		<-release
		return nil
	}

	fmt.Println(g.TryGo(task), g.TryGo(task))

	close(release)
	fmt.Println(g.Wait())
	// Output:
	// true false
	// <nil>
}

func ExampleGroup_Wait() {
	g := weir.NewGroup(context.Background(), 2)
	for batch := range 3 {
		g.Go(func(context.Context) error {
			if batch == 1 {
				return errors.New("disk full")
			}
			return nil
		})
		fmt.Println("batch", batch, g.Wait()) // each begins anew
	}
	// Output:
	// batch 0 <nil>
	// batch 1 task 0: disk full
	// batch 2 <nil>
}

func ExampleGroup_Cancel() {
	g := weir.NewGroup(context.Background(), 4)
	g.Go(func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	})
	g.Cancel(errors.New("the user pressed Escape"))
	fmt.Println(g.Wait())
	// Output: the user pressed Escape
}

func ExampleGroup_Context() {
	g := weir.NewGroup(context.Background(), 1)
	ctx := g.Context()
	g.Go(func(context.Context) error { return errors.New("connection lost") })

	<-ctx.Done() // what serves the group may watch its context, too
	fmt.Println(context.Cause(ctx))
	fmt.Println(g.Wait())
	// Output:
	// task 0: connection lost
	// task 0: connection lost
}

func ExampleLimit() {
	pool := weir.New(8)
	defer pool.Close()
	g := pool.Group(context.Background(), weir.Limit(1))

	for i := range 3 {
		g.Go(func(context.Context) error {
			fmt.Println("one after the other:", i)
			return nil
		})
	}
	fmt.Println(g.Wait())
	// Output:
	// one after the other: 0
	// one after the other: 1
	// one after the other: 2
	// <nil>
}

// A group's limit may change while its tasks are added.
func ExampleGroup_Resize() {
	pool := weir.New(8)
	defer pool.Close()
	g := pool.Group(context.Background(), weir.Limit(1))

	release := make(chan struct{})
	wait := func(context.Context) error {
		<-release
		return nil
	}
	fmt.Println(g.TryGo(wait), g.TryGo(wait))
	g.Resize(2)
	fmt.Println(g.TryGo(wait), g.TryGo(wait))

	close(release)
	fmt.Println(g.Wait())
	// Output:
	// true false
	// true false
	// <nil>
}

func ExampleKeepGoing() {
	g := weir.NewGroup(context.Background(), 4, weir.KeepGoing())
	for _, host := range []string{"ant", "bee", "cat"} {
		g.Go(func(context.Context) error {
			if host == "ant" {
				return nil
			}
			return errors.New(host + " does not answer")
		})
	}
	fmt.Println(g.Wait())
	// Output:
	// task 1: bee does not answer
	// task 2: cat does not answer
}

func ExamplePanicsAsErrors() {
	g := weir.NewGroup(context.Background(), 4, weir.PanicsAsErrors())
	g.Go(func(context.Context) error {
		panic("no such user")
	})

	if p, ok := errors.AsType[*weir.Panic](g.Wait()); ok {
		fmt.Println(p.Value) // p.Stack says where
	}
	// Output: no such user
}

func ExampleOnPanic() {
	pool := weir.New(1, weir.Name("mail"), weir.OnPanic(func(p *weir.Panic) {
		fmt.Printf("a task of pool %q panicked: %v\n", p.Pool, p.Value)
	}))
	if err := pool.Submit(func() { panic("no such user") }); err != nil {
		log.Fatal(err)
	}
	if err := pool.Submit(func() { fmt.Println("the pool goes on") }); err != nil {
		log.Fatal(err)
	}
	pool.Close()
	// Output:
	// a task of pool "mail" panicked: no such user
	// the pool goes on
}

func ExampleTaskError() {
	files := []string{"a.txt", "b.txt"}
	g := weir.NewGroup(context.Background(), 1)
	for range files {
		g.Go(func(context.Context) error { return errors.New("permission denied") })
	}

	if failed, ok := errors.AsType[*weir.TaskError](g.Wait()); ok {
		fmt.Println(files[failed.Index], failed.Err)
	}
	// Output: a.txt permission denied
}

func ExampleDefault() {
	done := make(chan struct{})
	if err := weir.Default().Submit(func() { close(done) }); err != nil {
		log.Fatal(err)
	}
	<-done
	fmt.Println("done")
	// Output: done
}

func ExampleQueue() {
	// All tasks are accepted at once, and take memory until they have run.
	pool := weir.New(runtime.NumCPU(), weir.Queue(weir.Unbounded))
	var ran atomic.Int32
	for range 10_000 {
		if err := pool.TrySubmit(func() { ran.Add(1) }); err != nil {
			log.Fatal(err)
		}
	}
	pool.Close()
	fmt.Println(ran.Load())
	// Output: 10000
}

func ExampleMaxWaiting() {
	// With all workers busy, no submitter may wait: shed the load instead.
	pool := weir.New(1, weir.Queue(0), weir.MaxWaiting(0))
	release := make(chan struct{})
	task := func() { <-release }

	fmt.Println(pool.Submit(task))
	fmt.Println(pool.Submit(task))

	close(release)
	pool.Close()
	// Output:
	// <nil>
	// weir: pool is full
}

func ExamplePrestart() {
	pool := weir.New(8, weir.Prestart(4), weir.IdleTimeout(time.Minute))
	fmt.Println(pool.Stats().Workers, "workers are there already")
	pool.Close()
	// Output: 4 workers are there already
}
