package reuse_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
)

func TestGoroutinesThatTakeTurnsShareTheirObjects(t *testing.T) {
	for users := 1; users <= 4; users++ {
		synctest.Test(t, func(t *testing.T) {
			k, f := keeping(t, 100, func(c *config) {
				open := c.Open
				c.Open = func(ctx context.Context) (*thing, error) {
					time.Sleep(time.Second)
					return open(ctx)
				}
			})
			var all sync.WaitGroup
			for range users {
				all.Go(func() {
					for range 2000 {
						check.OK(t, k.Use(t.Context(), func(*thing) error { time.Sleep(time.Millisecond); return nil }))
					}
				})
				time.Sleep(time.Second + time.Millisecond/2) // the next finds the object in use
			}
			all.Wait()
			k.Close()
			f.settled(100)
			if n := f.opened.Load(); n > int64(users) {
				t.Errorf("%d objects were opened for %d users", n, users)
			}
		})
	}
}

func TestANewUserTakesOverAnOpenWithoutAUser(t *testing.T) {
	check.Bubble(t, "each a different one, in any order", func(t *testing.T) {
		open, set := byOrder()
		k, f := keeping(t, 9, set)
		left := []*asker{asks(t, k), asks(t, k), asks(t, k), asks(t, k)}
		for _, i := range []int{2, 0, 3, 1} {
			left[i].cancel(errKept)
			left[i].failed(t, errKept)
		}
		open.succeed() // one from the middle
		leases := []lease{got(t, k)}
		came := []*asker{asks(t, k), asks(t, k), asks(t, k)}
		check.Equal(t, "opening", k.Stats().Opening, 3)
		came = append(came, asks(t, k))
		check.Equal(t, "opening", k.Stats().Opening, 4)
		for _, a := range came {
			open.succeed()
			leases = append(leases, a.served(t))
		}
		for _, l := range leases {
			l.Put()
		}
		k.Close()
		f.settled(5)
	})
	check.Bubble(t, "and learns nothing of its failure", func(t *testing.T) {
		open, set := byOrder()
		k, f := keeping(t, 2, set)
		a := asks(t, k)
		a.cancel(errKept)
		a.failed(t, errKept)
		b := asks(t, k)
		check.Equal(t, "opening", k.Stats().Opening, 1)
		open.fail(errorKept)
		b.waits(t)
		check.Equal(t, "opening", k.Stats().Opening, 1)
		open.fail(errorKept) // that was its own
		b.failed(t, errKept)
		k.Close()
		f.settled(2)
	})
	check.Bubble(t, "also from TryGet", func(t *testing.T) {
		open, set := byOrder()
		k, f := keeping(t, 2, set)
		_, _ = k.TryGet()
		a := asks(t, k)
		check.Equal(t, "opening", k.Stats().Opening, 1)
		open.succeed()
		a.served(t).Put()
		k.Close()
		f.settled(1)
	})
	check.Bubble(t, "also what is kept ready, which is replaced", func(t *testing.T) {
		open, set := byOrder()
		k, f := keeping(t, 2, set, func(c *config) { c.MinIdle = 1 })
		a := asks(t, k)
		check.Equal(t, "opening", k.Stats().Opening, 2)
		open.succeed()
		l := a.served(t)
		open.succeed()
		check.Equal(t, "idle", k.Stats().Idle, 1)
		l.Put()
		k.Close()
		f.settled(2)
	})
	check.Bubble(t, "but not from before a Reset", func(t *testing.T) {
		open, set := byOrder()
		k, f := keeping(t, 3, set)
		a := asks(t, k)
		a.cancel(errKept)
		a.failed(t, errKept)
		k.Reset()
		b := asks(t, k)
		check.Equal(t, "opening", k.Stats().Opening, 2)
		open.succeed()
		b.waits(t)
		open.succeed()
		b.served(t).Put()
		k.Close()
		f.settled(2)
	})
}
