package weir_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/64ed045f/weir"
)

func Example_fromTargetQueues() {
	ctx := context.Background()
	send := func() { fmt.Println("a mail") }
	index := func() { fmt.Println("an index") }
	run := func() error {
		pool := weir.New(8) // the target
		defer pool.Close()

		mails := pool.Lane(1, weir.Name("mail"))               // a serial queue
		search := pool.Lane(weir.Unbounded, weir.Priority(-1)) // a concurrent one, of a lower QoS
		for range 2 {
			if err := mails.Submit(send); err != nil {
				return err
			}
		}
		mails.Wait()
		return search.Submit(index)
	}
	fmt.Println(run())

	pool := weir.New(8)
	mails := pool.Lane(1, weir.Share(3))
	urgent := mails.Lane(1)
	task := func() { fmt.Println("in a lane of a lane") }
	mails.Pause()
	err := urgent.Submit(task)
	mails.Resume()
	urgent.Wait()
	fmt.Println(err)

	check := func(context.Context) error { return errTimeout }
	within := func(ctx context.Context) error {
		return mails.Do(ctx, check) // in the place that it has
	}
	err = mails.Do(ctx, within)
	fmt.Println(err)
	fmt.Println(pool.After(time.Hour, func(context.Context) { send() }).Stop())
	pool.Close()
	// Unordered output:
	// true
	// a mail
	// a mail
	// <nil>
	// an index
	// in a lane of a lane
	// <nil>
	// timeout
}

func Example_fromLimitedParallelism() {
	ctx := context.Background()
	fetch := func(context.Context) (string, error) { return "a page", nil }
	run := func() error {
		pool := weir.New(8)
		defer pool.Close()

		images := pool.Lane(6) // 8 places, of which images may have 6,
		feeds := pool.Lane(6)  // and so may feeds: when both want them, each gets half of the time

		files := pool.Lane(1)
		write := func(context.Context) error { return nil }

		g := images.Group(ctx)
		for _, host := range hosts {
			g.Go(func(ctx context.Context) error { return ping(ctx, host) })
		}
		f := weir.Async(ctx, feeds, fetch)
		page, err := f.Get(ctx)
		fmt.Println(page)
		return errors.Join(err, files.Do(ctx, write), g.Wait())
	}
	fmt.Println(run())

	report := func(err error) { fmt.Println("reported:", err) }
	databases := weir.New(100, weir.OnError(report))
	task := func(context.Context) error { return errTimeout }
	err := databases.Go(ctx, task)
	databases.Wait()
	fmt.Println(err)
	err = databases.Do(ctx, task)
	fmt.Println(err)
	databases.Close()
	// Output:
	// a page
	// task 1: bee: timeout
	// reported: timeout
	// <nil>
	// timeout
}

func Example_fromByHand() {
	type message struct{ to string }
	ctx := context.Background()
	send := func(context.Context) error { return errTimeout }
	deliver := func(_ context.Context, m message) error { return fmt.Errorf("to %s: %w", m.to, errTimeout) }
	report := func(err error) { fmt.Println(err) }

	pool := weir.New(8, weir.OnError(report), weir.ExpireAfter(time.Minute))
	fmt.Println("accepted:", pool.Go(context.WithoutCancel(ctx), send) == nil)
	pool.Wait()

	accounts := weir.NewKeyed[string](pool, 1)
	account, task := "bee", func() { fmt.Println("in order") }
	err := accounts.Submit(account, task)
	pool.Close()
	fmt.Println(err)

	deliveries := weir.NewFuncContext(8, deliver, weir.OnError(report))
	m := message{"bee"}
	err = deliveries.Go(ctx, m)
	deliveries.Close()
	fmt.Println(err)

	folders := map[string][]string{"/": {"/bin", "/usr"}, "/usr": {"/usr/lib"}}
	g := weir.NewGroup(ctx, 8, weir.Queue(weir.Unbounded))
	var visit func(folder string) error
	visit = func(folder string) error {
		for _, inner := range folders[folder] {
			g.Go(func(context.Context) error { return visit(inner) })
		}
		fmt.Println(folder)
		return nil
	}
	g.Go(func(context.Context) error { return visit("/") })
	fmt.Println(g.Wait())
	// Unordered output:
	// accepted: true
	// timeout
	// in order
	// <nil>
	// to bee: timeout
	// <nil>
	// /
	// /bin
	// /usr
	// /usr/lib
	// <nil>
}
