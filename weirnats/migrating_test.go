package weirnats_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
)

// The examples of docs/migrating.md that need a queue. A test of the root module, which reads this file, holds the page to them.

var (
	mails      = []Mail{{To: "ann@example.org"}, {To: "bob@example.org"}}
	errAddress = errors.New("no such address")
)

func Example_fromRiver() {
	dir, remove := folder()
	defer remove()
	ctx, cancel := context.WithCancel(context.Background())
	deliver := func(m Mail) error {
		fmt.Println("to", m.To)
		return errAddress
	}
	report := func(err error) {
		fmt.Println(err)
		cancel()
	}
	run := func() error {
		queue, err := weirnats.Open[Mail](ctx, "mail", weirnats.Dir(dir))
		if err != nil {
			return err
		}
		defer queue.Close()
		m := mails[0]
		if err := queue.Put(ctx, m, weirnats.ID("welcome "+m.To)); err != nil { // durable when it returns
			return err
		}

		pool := weir.New(100, weir.OnError(report))
		defer pool.Close()
		return queue.Serve(ctx, pool, func(ctx context.Context, m Mail) error {
			if err := deliver(m); errors.Is(err, errAddress) {
				return weir.Permanent(err) // to the dead letters
			} else if err != nil {
				return err // to be tried again
			}
			return nil
		})
	}
	fmt.Println(run())

	ctx = context.Background()
	queue, err := weirnats.Open[Mail](ctx, "mail", weirnats.Dir(dir), weirnats.RunLimit(time.Minute), weirnats.Grace(8*time.Second),
		weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 25, Wait: time.Second, MostWait: time.Hour, Panics: true})))
	check(err)
	n, err := queue.PutAll(ctx, mails, nil)
	fmt.Println(n, err)
	err = queue.Put(ctx, mails[0], weirnats.After(time.Hour))
	check(err)
	for letter, err := range queue.Dead(ctx) {
		check(err)
		err = queue.Replay(ctx, letter.ID)
		check(err)
	}
	stats, err := queue.Stats(ctx)
	fmt.Println(stats.Waiting, stats.Dead, err)
	err = queue.Close()
	fmt.Println(err)
	// Output:
	// to ann@example.org
	// weirnats: try 1, the last of message "welcome ann@example.org" of queue mail: no such address
	// <nil>
	// 2 <nil>
	// 3 0 <nil>
	// <nil>
}

func Example_fromAsynq() {
	dir, remove := folder()
	defer remove()
	ctx, cancel := context.WithCancel(context.Background())
	send := func(ctx context.Context, m Mail) error {
		if weirnats.Attempt(ctx).Number == 1 {
			return errors.New("busy")
		}
		fmt.Println("to", m.To, "on try", weirnats.Attempt(ctx).Number)
		cancel()
		return nil
	}
	report := func(err error) { fmt.Println(err) }
	run := func() error {
		urgent, err := weirnats.Open[Mail](ctx, "urgent", weirnats.Dir(dir), weirnats.Window(time.Hour),
			weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 6, Wait: time.Millisecond})))
		if err != nil {
			return err
		}
		defer urgent.Close()
		bulk, err := weirnats.Open[Mail](ctx, "bulk", weirnats.Dir(dir))
		if err != nil {
			return err
		}
		defer bulk.Close()
		err = bulk.Put(ctx, mails[0], weirnats.After(time.Hour))
		check(err)
		err = urgent.Put(ctx, mails[0], weirnats.ID("reset 7"))
		check(err)
		err = urgent.TryPut(ctx, mails[1], weirnats.ID("reset 7")) // is dropped
		check(err)

		pool := weir.New(10) // at once in this process
		defer pool.Close()
		g := weir.NewGroup(ctx, 2)
		urgently, slowly := pool.Lane(10, weir.Share(6), weir.OnError(report)), pool.Lane(10) // 6/7 and 1/7 of the time when both want it
		g.Go(func(ctx context.Context) error { return urgent.Serve(ctx, urgently, send) })
		g.Go(func(ctx context.Context) error { return bulk.Serve(ctx, slowly, send) })
		return g.Wait()
	}
	err := run()
	fmt.Println(err)
	// Output:
	// weirnats: try 1 of message "reset 7" of queue urgent: busy
	// to ann@example.org on try 2
	// context canceled
}

func Example_fromQueue() {
	dir, remove := folder()
	defer remove()
	ctx, cancel := context.WithCancel(context.Background())
	handle := func(_ context.Context, m Mail) error {
		fmt.Println("to", m.To)
		cancel()
		return nil
	}
	run := func() error {
		queue, err := weirnats.Open[Mail](ctx, "mail", weirnats.Dir(dir),
			weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 4, Wait: 100 * time.Millisecond, MostWait: 10 * time.Second})))
		if err != nil {
			return err
		}
		defer queue.Close()
		if err := queue.Put(ctx, mails[0]); err != nil {
			return err
		}
		pool := weir.New(5)
		defer pool.Close()
		return queue.Serve(ctx, pool, handle)
	}
	err := run()
	fmt.Println(err)

	ctx = context.Background()
	task := func(context.Context) error { fmt.Println("in memory"); return nil }
	pool := weir.New(5)
	err = pool.Go(ctx, task)
	pool.Resize(8)
	pool.Close()
	fmt.Println(err, pool.Stats().Finished)
	// Output:
	// to ann@example.org
	// <nil>
	// in memory
	// <nil> 1
}

func Example_fromJetStream() {
	dir, remove := folder()
	defer remove()
	ctx, cancel := context.WithCancel(context.Background())
	send := func(_ context.Context, m Mail) error {
		fmt.Println("to", m.To)
		cancel()
		return nil
	}
	run := func() error {
		queue, err := weirnats.Open[Mail](ctx, "mail", weirnats.Dir(dir), weirnats.Lease(30*time.Second), weirnats.MaxMessages(100_000), weirnats.DoubleAck())
		if err != nil {
			return err // a *weirnats.SettingsError if the queue exists with other settings
		}
		defer queue.Close()
		if err := queue.Put(ctx, mails[0], weirnats.ID("welcome 7")); err != nil {
			return err
		}
		pool := weir.New(64)
		defer pool.Close()
		return queue.Serve(ctx, pool, send)
	}
	err := run()
	fmt.Println(err)
	// Output:
	// to ann@example.org
	// <nil>
}
