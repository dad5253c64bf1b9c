package weir_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
)

func Example_fromAnts() {
	ctx := context.Background()
	handle := func(p *weir.Panic) { fmt.Println("a panic:", p.Value) }
	tasks := []func(){
		func() { fmt.Println("one") },
		func() { panic("two") },
	}
	run := func() error {
		pool := weir.New(64, weir.Queue(0), weir.OnPanic(handle))
		defer pool.Close()
		for _, task := range tasks {
			if err := pool.Submit(task); err != nil {
				return err // weir.ErrClosed
			}
		}
		pool.Wait() // the pool stays open
		return nil
	}
	fmt.Println(run())

	task := func() { fmt.Println("three") }
	pool := weir.New(64, weir.Queue(0))
	fmt.Println(pool.SubmitContext(ctx, task), pool.TrySubmit(task))
	pool.Resize(16)
	pool.Wait()
	fmt.Println(pool.Stats().Limit, pool.Group(ctx).Wait())
	unrun, err := pool.Shutdown(ctx)
	fmt.Println(len(unrun), err)

	pool = weir.New(weir.Unbounded)
	pool.Resize(16)
	fmt.Println("limit", pool.Stats().Limit)
	pool.Close()
	pool = weir.New(1, weir.MaxWaiting(10), weir.IdleTimeout(time.Minute))
	pool.Close()
	pool = weir.New(50, weir.Queue(0))
	pool.Close()

	thumbnail := func(path string) { fmt.Println(path) }
	thumbnails := weir.NewFunc(8, thumbnail)
	path := "a.png"
	fmt.Println(thumbnails.Invoke(path))
	thumbnails.Close()

	pool = weir.New(8)
	fetch := func(context.Context) (string, error) { return "a page", nil }
	f := weir.Async(ctx, pool, fetch)
	page, err := f.Get(ctx)
	fmt.Println(page, err)
	pool.Close()

	done := make(chan struct{})
	task = func() { close(done) }
	fmt.Println(weir.Default().Submit(task))
	<-done
	// Unordered output:
	// one
	// a panic: two
	// <nil>
	// three
	// three
	// <nil> <nil>
	// 16 <nil>
	// 0 <nil>
	// limit 16
	// a.png
	// <nil>
	// a page <nil>
	// <nil>
}

func Example_fromAntsOptions() {
	var lines strings.Builder
	logger := log.New(&lines, "", 0)
	options := []weir.Option{
		weir.Prestart(64),
		weir.IdleTimeout(math.MaxInt64),
		weir.OnPanic(func(p *weir.Panic) { logger.Printf("%v", p) }),
	}
	pool := weir.New(64, options...)
	fmt.Println("workers:", pool.Stats().Workers)
	fmt.Println(pool.Submit(func() { panic("no disk") }))
	pool.Close()
	report := lines.String()
	fmt.Println(strings.Contains(report, "no disk"), strings.Contains(report, "migrating_pools_test.go"))
	// Output:
	// workers: 64
	// <nil>
	// true true
}

func Example_fromPond() {
	ctx := context.Background()
	run := func() error {
		pool := weir.New(64, weir.Queue(weir.Unbounded))
		defer pool.Close()

		g := pool.Group(ctx, weir.Limit(8))
		for _, host := range hosts {
			g.Go(func(ctx context.Context) error { return ping(ctx, host) })
		}
		return g.Wait()
	}
	fmt.Println(run())

	pool := weir.New(8, weir.Queue(1000), weir.CrashOnPanic(), weir.OnError(func(err error) { fmt.Println("reported:", err) }))
	g := pool.Group(ctx)
	task := func(context.Context) error { return errTimeout }
	g.Go(task)
	fmt.Println(g.Wait())
	accepted := pool.Go(ctx, task)
	pool.Close()
	fmt.Println(accepted)

	pool = weir.New(8)
	g = pool.Group(ctx, weir.PanicsAsErrors())
	g.Go(func(context.Context) error { panic(errTimeout) })
	fmt.Println(errors.Is(g.Wait(), errTimeout))

	fetch := func(context.Context) (string, error) { return "a page", nil }
	f := weir.Async(ctx, pool, fetch)
	<-f.Done()
	page, err := f.Get(ctx)
	fmt.Println(page, err)

	pages := weir.NewResults[string](pool.Group(ctx))
	pages.Go(fetch)
	found, err := pages.Wait()
	fmt.Println(found, err)
	pages.Go(fetch)
	for page, err := range pages.All() {
		fmt.Println(page, err)
	}
	pages.Go(fetch)
	for page, err := range pages.Ordered() {
		fmt.Println(page, err)
	}
	pages.Go(fetch)
	fmt.Println(pages.First())
	pool.Close()
	// Output:
	// task 1: bee: timeout
	// task 0: timeout
	// reported: timeout
	// <nil>
	// true
	// a page <nil>
	// [a page] <nil>
	// a page <nil>
	// a page <nil>
	// a page <nil>
}

func Example_fromPondParts() {
	ctx := context.Background()
	task := func(context.Context) error { return errTimeout }
	pool := weir.New(64)

	g := pool.Group(ctx, weir.Limit(8))
	g.Resize(4)
	failed := g.Context().Done()
	fmt.Println(g.TryGo(task))
	<-failed
	fmt.Println(g.Wait())

	errStopped := errors.New("stopped")
	g.Cancel(errStopped)
	g.Go(task)
	fmt.Println(g.Wait())

	go pool.Close()
	pool.Close()

	pool = weir.New(weir.Unbounded)
	lane := pool.Lane(weir.Unbounded)
	pool.Resize(weir.Unbounded)
	fmt.Println(pool.Stats().Limit == weir.Unbounded, lane.Stats().Limit == weir.Unbounded)
	pool.Close()

	fetch := func(context.Context) (string, error) { return "a page", nil }
	page, err := weir.Async(ctx, weir.Default(), fetch).Get(ctx)
	fmt.Println(page, err)
	fmt.Println(weir.Default().Group(ctx).Wait())
	// Output:
	// true
	// task 0: timeout
	// stopped
	// true true
	// a page <nil>
	// <nil>
}

func Example_fromPondSubpool() {
	ctx := context.Background()
	pool := weir.New(64)
	lane := pool.Lane(8)
	lane.Resize(4)
	task := func() { fmt.Println("in a lane") }
	err := lane.TrySubmit(task)
	fmt.Println(err, lane.Group(ctx).Wait())
	fmt.Println(pool.Lane(8, weir.Queue(weir.Unbounded)).Group(ctx).Wait())
	lane.Close()
	fmt.Println(lane.Submit(task))
	pool.Close()
	// Unordered output:
	// in a lane
	// <nil> <nil>
	// <nil>
	// weir: pool is closed
}

func Example_fromPondNonBlocking() {
	ctx := context.Background()
	done := make(chan struct{})

	pool := weir.New(1, weir.Queue(0), weir.MaxWaiting(0))
	fmt.Println(pool.Submit(func() { <-done }))
	fmt.Println(pool.Submit(func() {}))
	_, err := weir.Async(ctx, pool, func(context.Context) (string, error) { return "a page", nil }).Get(ctx)
	fmt.Println(err)
	g := pool.Group(ctx)
	g.Go(func(context.Context) error { return nil })
	fmt.Println(g.Wait())
	fmt.Println("accepted", pool.Stats().Accepted, "and rejected", pool.Stats().Rejected)
	close(done)
	pool.Close()
	// Output:
	// <nil>
	// weir: pool is full
	// weir: pool is full
	// task 0: weir: pool is full
	// accepted 1 and rejected 3
}

func Example_fromPondContext() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})

	pool := weir.New(1, weir.Queue(0))
	context.AfterFunc(ctx, pool.Close)
	fmt.Println(pool.Submit(func() { <-done }))
	cancel()
	g := pool.Group(ctx)
	g.Go(func(context.Context) error { return nil })
	fmt.Println(g.Wait())
	fmt.Println(pool.Submit(func() {})) // which waits for room until the pool closes
	close(done)
	pool.Close()
	// Output:
	// <nil>
	// context canceled
	// weir: pool is closed
}

func Example_fromWorkerpool() {
	ctx := context.Background()
	tasks := []func(){
		func() { fmt.Println("one") },
		func() { fmt.Println("two") },
	}
	run := func() error {
		pool := weir.New(8, weir.Queue(weir.Unbounded), weir.CrashOnPanic())
		for _, task := range tasks {
			if err := pool.Submit(task); err != nil {
				return err // weir.ErrClosed
			}
		}
		pool.Close() // when all have run
		return nil
	}
	fmt.Println(run())

	pool := weir.New(8, weir.Queue(weir.Unbounded))
	pool.Pause()
	for _, task := range tasks {
		if err := pool.Submit(task); err != nil {
			panic(err)
		}
	}
	fmt.Println(pool.Stats().Queued, "wait")
	pool.Resume()

	pauseUntil := func(ctx context.Context) {
		pool.Pause()
		context.AfterFunc(ctx, pool.Resume)
	}
	paused, resume := context.WithCancel(ctx)
	pauseUntil(paused)
	resume()
	task := func(context.Context) error { return errTimeout }
	err := pool.Do(ctx, task)
	fmt.Println(err)
	pool.Close()
	fmt.Println(pool.Do(ctx, task))

	pool = weir.New(1, weir.Queue(weir.Unbounded))
	busy, started := make(chan struct{}), make(chan struct{})
	tasks = append([]func(){func() { close(started); <-busy }}, tasks...)
	for _, task := range tasks {
		if err := pool.Submit(task); err != nil {
			panic(err)
		}
	}
	<-started
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	unrun, err := pool.Shutdown(ctx)
	fmt.Println(len(unrun), "handed back:", err)
	close(busy)
	pool.Close()
	// Unordered output:
	// one
	// two
	// <nil>
	// 2 wait
	// one
	// two
	// timeout
	// weir: pool is closed
	// 2 handed back: weir: pool shut down while 1 task runs: context canceled
}

func Example_fromPacer() {
	pool := weir.New(8, weir.Rate(1, time.Second, 1))
	fmt.Println(pool.Submit(func() { fmt.Println("at once") }))
	pool.Close()

	pool = weir.New(8)
	slow := pool.Lane(8, weir.Rate(1, time.Second, 1))
	fmt.Println(slow.Submit(func() { fmt.Println("in a lane") }))
	pool.Close()
	// Unordered output:
	// <nil>
	// at once
	// <nil>
	// in a lane
}

func Example_fromSingleflight() {
	pool := weir.New(8)
	defer pool.Close()
	ctx, key := context.Background(), "index"
	fetch := func(context.Context) (string, error) { return "a page", nil }

	run := func() error {
		pages := weir.NewOnce[string, string](pool, weir.KeepFor(time.Minute))
		page, err := pages.Do(ctx, key, fetch)
		if err != nil {
			return err
		}
		fmt.Println(page)
		return nil
	}
	fmt.Println(run())

	pages := weir.NewOnce[string, string](pool)
	page, err := pages.Do(ctx, key, func(ctx context.Context) (string, error) { return pages.Do(ctx, key, fetch) })
	fmt.Println(page, errors.Is(err, weir.ErrRecursive))
	pages.Forget(key)
	// Output:
	// a page
	// <nil>
	//  true
}

func Example_fromTunny() {
	type Frame struct {
		Number  int
		Encoded string
	}
	type encoder struct{ encoded int }
	openEncoder := func() (*encoder, error) { return new(encoder), nil }
	encode := func(e *encoder, frame *Frame) {
		e.encoded++
		frame.Encoded = fmt.Sprint("frame ", frame.Number)
	}
	var encoded atomic.Int64 // by one worker, or by two
	closeEncoder := func(e *encoder) { encoded.Add(int64(e.encoded)) }
	ctx := context.Background()

	encodeAlone := func(frame *Frame) { encode(new(encoder), frame) }
	pool := weir.NewFunc(8, encodeAlone)
	fmt.Println(pool.Invoke(&Frame{Number: 1}))
	pool.Close()

	run := func() error {
		encoders := weir.NewStateful(8, openEncoder, encode, closeEncoder)
		defer encoders.Close()

		frame := Frame{Number: 7}
		if err := encoders.Call(ctx, &frame); err != nil {
			return err
		}
		fmt.Println(frame.Encoded)

		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		encoders.Resize(4)
		fmt.Println(encoders.Call(ctx, &frame), encoders.Stats().Queued)

		cancel()
		fmt.Println(encoders.Call(ctx, &frame))
		encoders.Close()
		return encoders.Call(context.Background(), &frame)
	}
	fmt.Println(run(), encoded.Load())
	// Output:
	// <nil>
	// frame 7
	// <nil> 0
	// context canceled
	// weir: pool is closed 2
}
