package weirnats_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
)

// The tests of this file run programs that end when they are told to, as those do that are deployed anew.

func init() { //nolint:gochecknoinits // it adds programs to those that tests start
	children["deployed"] = childDeployed
	children["busy"] = childBusy
	children["long"] = childLong
}

// told is done when the process is told to end.
func told() (ctx context.Context, stop func()) {
	return signal.NotifyContext(context.Background(), os.Interrupt)
}

func tell(t *testing.T, c *child) {
	t.Helper()
	noError(t, c.Process.Signal(os.Interrupt))
}

// childDeployed waits until no other process has the folder open, then puts and serves until it is told to end.
func childDeployed() error {
	p, err := openProgram()
	for errors.Is(err, weirnats.ErrInUse) {
		time.Sleep(time.Millisecond)
		p, err = openProgram()
	}
	if err != nil {
		return err
	}
	ctx, stop := told()
	defer stop()
	fmt.Println("ready")
	putters := weir.NewGroup(context.Background(), 4)
	if !is(os.Getenv(childDir), noMore) {
		for i := range 4 {
			putters.Go(func(context.Context) error {
				for j := 0; ctx.Err() == nil; j++ {
					id := fmt.Sprint(os.Getpid(), "-", i, "-", j)
					if p.Put(ctx, id, weirnats.ID(id)) != nil {
						continue
					}
					if err := p.put.add(id); err != nil {
						return err
					}
					breathe(j)
				}
				return nil
			})
		}
	}
	return errors.Join(p.serve(ctx), putters.Wait(), p.Close())
}

// A program with an embedded server is replaced by the next one again and again, while it puts and serves. Nothing is lost, and nothing is done twice.
func TestAProgramThatIsReplacedLosesNothing(t *testing.T) {
	needsTime(t)
	t.Parallel()
	inBothWays(t, func(t *testing.T, setUp func(dir string)) {
		dir := t.TempDir()
		setUp(dir)
		c := start(t, "deployed", dir, "")
		replace := func() {
			next := begin(t, "deployed", dir, "")
			time.Sleep(rand.N(50 * time.Millisecond))
			tell(t, c)
			noError(t, c.Wait())
			next.ready(t)
			c = next
		}
		for over := after(faultsFor()); !over(); {
			time.Sleep(rand.N(200 * time.Millisecond))
			replace()
		}
		say(t, dir, noMore)
		replace()
		allDone(t, dir)
		tell(t, c)
		noError(t, c.Wait())
		equal(t, "messages that were done again", account(t, dir), 0)
	})
}

const busyGrace = 300 * time.Millisecond

// busyOptions let a message be tried once.
func busyOptions() []weirnats.Option {
	return []weirnats.Option{weirnats.Grace(busyGrace), weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 1}))}
}

// childBusy is ready when all places are busy with what ends only with its context. It ends when it is told to.
func childBusy() error {
	p, err := openProgram(busyOptions()...)
	if err != nil {
		return err
	}
	ctx, stop := told()
	defer stop()
	var running atomic.Int32
	return errors.Join(p.Serve(ctx, p.pool, func(ctx context.Context, _ string) error {
		if running.Add(1) == childPlaces {
			fmt.Println("ready")
		}
		<-ctx.Done()
		return ctx.Err()
	}), p.Close())
}

// All places are busy and 10 000 messages wait when the program is told to end.
func TestTheEndWithManyWaiting(t *testing.T) {
	t.Parallel()
	waiting := 10_000
	if testing.Short() {
		waiting = 1_000
	}
	dir := t.TempDir()
	again := func() *weirnats.Queue[string] {
		q, err := weirnats.Open[string](t.Context(), "work", append(slices.Clip(childOptions), append(busyOptions(), weirnats.Dir(filepath.Join(dir, "queues")))...)...)
		noError(t, err)
		return q
	}
	q := again()
	_, err := q.PutAll(t.Context(), strings.Fields(strings.Repeat("mail ", waiting)), nil)
	noError(t, errors.Join(err, q.Close()))

	c := start(t, "busy", dir, "")
	begin := time.Now()
	tell(t, c)
	noError(t, c.Wait())
	if passed := time.Since(begin); passed < busyGrace || passed > busyGrace+5*time.Second {
		t.Errorf("the end took %v", passed)
	}

	q = again()
	defer func() { noError(t, q.Close()) }()
	s, err := q.Stats(t.Context())
	noError(t, err)
	equal(t, "messages", s.Messages, waiting)
	p := newPool(t, 16)
	var calls, second atomic.Int32
	stop := serve(t, q, p, func(ctx context.Context, _ string) error {
		calls.Add(1)
		if weirnats.Attempt(ctx).Number > 1 {
			second.Add(1)
		}
		return nil
	})
	drained(t, q)
	stop()
	equal(t, "calls", calls.Load(), int32(waiting))
	equal(t, "tries that counted", second.Load(), 0)
}

const longLease = 3 * time.Second

// childLong has a function that takes nearly as long as the lease, or several times as long.
func childLong() error {
	p, err := openProgram(weirnats.Lease(longLease))
	if err != nil {
		return err
	}
	fmt.Println("ready")
	return p.Serve(context.Background(), p.pool, func(ctx context.Context, id string) error {
		if err := p.begun.add(id); err != nil {
			return err
		}
		took := longLease * 28 / 30
		if strings.HasPrefix(id, "long") {
			took = longLease * 2
		}
		select {
		case <-time.After(took):
			return p.done.add(id)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

// A function that runs until just before the end of the lease, or for much longer, in two processes that serve one queue, is called once.
func TestNothingIsDeliveredTwiceWhileTriesRun(t *testing.T) {
	dir := t.TempDir()
	s := listen(t, t.TempDir())
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	q, err := weirnats.Open[string](t.Context(), "work", append(slices.Clip(childOptions), weirnats.Server(s.ClientURL()), weirnats.Lease(longLease))...)
	noError(t, err)
	defer q.Close()
	for range 2 {
		c := start(t, "long", dir, s.ClientURL())
		defer c.kill()
	}
	const n = 2 * childPlaces // each process has some of them, and all places are busy
	for i := range n {
		id := fmt.Sprint("short ", i)
		if i%2 == 0 {
			id = fmt.Sprint("long ", i)
		}
		noError(t, q.Put(t.Context(), id))
	}
	t.Parallel() // the tries run meanwhile, and keep no other test from running
	drained(t, q)
	for _, name := range []string{"begun", "done"} {
		all := lines(t, dir, name)
		equal(t, "messages that have "+name, len(all), n)
		for id, times := range all {
			equal(t, id+" has "+name, times, 1)
		}
	}
}

// A message that goes back at the end of Serve comes at once also if the program has started again meanwhile, and not when its old lease ends.
func TestWhatGoesBackComesAtOnceAfterARestart(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]weirnats.PutOption{"without a key": nil, "with a key": {weirnats.Key("a key")}} {
		t.Run(name, func(t *testing.T) {
			dir, p := t.TempDir(), newPool(t, 1)
			life := func(run func(ctx context.Context) error, until func(q *weirnats.Queue[string])) {
				q, err := weirnats.Open[string](t.Context(), "a", weirnats.Dir(dir), weirnats.Lease(time.Hour), weirnats.Grace(0), weirnats.Partitions(1), quiet)
				noError(t, err)
				stop := serve(t, q, p, func(ctx context.Context, _ string) error { return run(ctx) })
				until(q)
				stop()
				noError(t, q.Close())
			}
			begun := make(chan struct{})
			life(func(ctx context.Context) error {
				close(begun)
				<-ctx.Done()
				return ctx.Err()
			}, func(q *weirnats.Queue[string]) {
				noError(t, q.Put(t.Context(), "a", opts...))
				<-begun
			})
			life(func(ctx context.Context) error {
				equal(t, "try", weirnats.Attempt(ctx).Number, 1)
				return nil
			}, func(q *weirnats.Queue[string]) { drained(t, q) })
		})
	}
}
