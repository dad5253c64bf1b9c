package reuse_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

// orders lets a test say when and how each Open ends.
type orders struct{ ends chan func() error }

func byOrder() (orders, func(*config)) {
	o := orders{make(chan func() error)}
	return o, func(c *config) {
		open := c.Open
		c.Open = func(ctx context.Context) (*thing, error) {
			end := <-o.ends
			if end != nil {
				if err := end(); err != nil {
					return nil, err
				}
			}
			return open(ctx)
		}
	}
}

func (o orders) succeed() { o.ends <- nil; synctest.Wait() }

func (o orders) fail(how func() error) { o.ends <- how; synctest.Wait() }

func errorKept() error { return errKept }

func TestAnObjectOpenedForAUserThatHasLeftServesTheNext(t *testing.T) {
	check.Bubble(t, "becomes idle", func(t *testing.T) {
		open, set := byOrder()
		k, f := keeping(t, 1, set)
		a := asks(t, k)
		a.cancel(errKept)
		a.failed(t, errKept) // at once, though Open runs on
		check.Equal(t, "opening", k.Stats().Opening, 1)
		open.succeed()
		check.Equal(t, "idle", k.Stats().Idle, 1)
		k.Close()
		f.settled(1)
	})
	check.Bubble(t, "goes to the next", func(t *testing.T) {
		open, set := byOrder()
		k, f := keeping(t, 1, set)
		a, b := asks(t, k), asks(t, k)
		a.cancel(errKept)
		a.failed(t, errKept)
		b.waits(t)
		open.succeed()
		b.served(t).Put()
		k.Close()
		f.settled(1)
	})
	check.Bubble(t, "fails: the next gets one of his own", func(t *testing.T) {
		open, set := byOrder()
		k, f := keeping(t, 1, set)
		a, b := asks(t, k), asks(t, k)
		a.cancel(nil)
		a.failed(t, context.Canceled)
		open.fail(errorKept)
		b.waits(t)
		check.Equal(t, "opening", k.Stats().Opening, 1)
		open.succeed()
		b.served(t).Put()
		k.Close()
		f.settled(1)
	})
}

func TestTheUserThatAnOpenWasBegunForGetsItsError(t *testing.T) {
	check.Bubble(t, "each his own, in order", func(t *testing.T) {
		fails := make(chan struct{})
		k, f := keeping(t, 4, func(c *config) {
			c.Open = func(ctx context.Context) (*thing, error) {
				<-fails
				return nil, ctx.Value(key{}).(error)
			}
		})
		var users [12]*asker
		for i := range users {
			users[i] = &asker{over: make(chan struct{})}
			go func() {
				defer close(users[i].over)
				ctx := context.WithValue(t.Context(), key{}, error(numbered(i)))
				users[i].lease, users[i].err = k.Get(ctx)
			}()
			synctest.Wait()
		}
		for i := range users {
			fails <- struct{}{}
			synctest.Wait()
			answered := 0
			for j, u := range users {
				if u.answered() {
					check.Error(t, u.err, numbered(j))
					answered++
				}
			}
			check.Equal(t, "answered", answered, i+1)
		}
		check.Equal(t, "failed", k.Stats().Failed, 12)
		k.Close()
		f.settled(4)
	})
	check.Bubble(t, "not to a user that has taken it over", func(t *testing.T) {
		ends := map[any]chan error{1: make(chan error), 2: make(chan error)}
		k, f := keeping(t, 3, func(c *config) {
			open := c.Open
			c.Open = func(ctx context.Context) (*thing, error) {
				if err := <-ends[ctx.Value(key{})]; err != nil {
					return nil, err
				}
				return open(ctx)
			}
		})
		var users [3]asker
		for _, i := range []int{1, 2} {
			users[i].over = make(chan struct{})
			go func() {
				defer close(users[i].over)
				users[i].lease, users[i].err = k.Get(context.WithValue(t.Context(), key{}, i))
			}()
			synctest.Wait()
		}
		ends[2] <- nil // the second user's object is open: it goes to the first user
		l := users[1].served(t)
		users[2].waits(t)
		check.Equal(t, "opening", k.Stats().Opening, 1) // the second user has the first's now: no third is begun
		ends[1] <- errKept                              // what the second user has got in return
		users[2].waits(t)
		ends[2] <- nil // its own again
		users[2].served(t).Put()
		l.Put()
		k.Close()
		f.settled(3)
	})
	check.Bubble(t, "not to a user that has got another object", func(t *testing.T) {
		open, set := byOrder()
		k, f := keeping(t, 2, set)
		a := asks(t, k)
		open.succeed()
		l := a.served(t)
		b := asks(t, k)
		l.Put()
		l = b.served(t)
		c := asks(t, k)
		open.fail(errorKept)
		c.waits(t)
		open.succeed()
		c.served(t).Put()
		l.Put()
		k.Close()
		f.settled(2)
	})
}

type key struct{}

type numbered int

func (n numbered) Error() string { return fmt.Sprint("user ", int(n)) }

func TestAnOpenThatFailsCostsNoCapacity(t *testing.T) {
	for name, how := range map[string]func() error{"error": errorKept, "panic": panicKept, "Goexit": exitKept} {
		check.Bubble(t, name, func(t *testing.T) {
			open, set := byOrder()
			var told panics
			k, f := keeping(t, 2, set, func(c *config) { c.Name, c.OnPanic = "kept", told.report })
			left := 0
			for range 5 {
				a := asks(t, k)
				open.fail(how)
				switch name {
				case "error":
					a.failed(t, errKept)
				case "Goexit":
					a.failed(t, weir.ErrGoexit)
				default:
					<-a.over
					wantKeptPanic(t, a.panicked)
				}
				// And when the user that it runs for has left.
				a, b := asks(t, k), asks(t, k)
				a.cancel(errKept)
				a.failed(t, errKept)
				b.cancel(errKept)
				b.failed(t, errKept)
				open.fail(how)
				open.fail(how)
				left += 2
			}
			check.Equal(t, "failed", k.Stats().Failed, 15)
			if name == "panic" {
				told.want(t, left)
			} else {
				told.want(t, 0)
			}
			a, b := asks(t, k), asks(t, k)
			open.succeed()
			open.succeed()
			a.served(t).Put()
			b.served(t).Put()
			k.Close()
			f.settled(2)
		})
	}
}

func TestTheContextOfOpenHasTheUsersValuesAndOutlivesTheUser(t *testing.T) {
	check.Bubble(t, "has the values of the user's and lives longer", func(t *testing.T) {
		var inside context.Context
		gate := make(chan struct{})
		k, f := keeping(t, 1, func(c *config) {
			open := c.Open
			c.Open = func(ctx context.Context) (*thing, error) {
				inside = ctx
				<-gate
				check.OK(t, ctx.Err())
				return open(ctx)
			}
		})
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, 7), time.Second)
		defer cancel()
		_, err := k.Get(ctx)
		check.Error(t, err, context.DeadlineExceeded)
		synctest.Wait()
		check.Equal[any](t, "value", inside.Value(key{}), 7)
		_, limited := inside.Deadline()
		check.Equal(t, "has a deadline", limited, false)
		close(gate)
		synctest.Wait()
		k.Close()
		synctest.Wait()
		check.OK(t, inside.Err()) // the object may depend on it
		f.settled(1)
	})
	check.Bubble(t, "is cancelled by Close", func(t *testing.T) {
		k, f := keeping(t, 1, func(c *config) {
			c.Open = func(ctx context.Context) (*thing, error) {
				<-ctx.Done()
				check.Error(t, context.Cause(ctx), reuse.ErrClosed)
				return nil, ctx.Err()
			}
		})
		a := asks(t, k)
		k.Close()
		a.failed(t, reuse.ErrClosed)
		f.settled(1)
	})
}

func TestOpenMayUseTheFullPoolOfATaskThatWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		onPool := func(ctx context.Context) error {
			g := p.Group(ctx)
			g.Go(func(context.Context) error { return nil })
			return g.Wait()
		}
		k := reuse.NewKeeper(reuse.KeeperConfig[int]{
			Capacity: 1,
			Open:     func(ctx context.Context) (int, error) { return 7, onPool(ctx) },
			Check:    func(ctx context.Context, _ int) error { return onPool(ctx) },
		})
		defer k.Close()
		g := p.Group(t.Context())
		for range 3 {
			g.Go(func(ctx context.Context) error {
				ctx, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				return k.Use(ctx, func(int) error { return nil })
			})
		}
		check.OK(t, g.Wait())
	})
}
