package reuse_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

// A Get that has to wait, in addition to n that each wait for an object that is being opened.
func TestAWaitCostsTheSameHoweverManyWait(t *testing.T) {
	check.Flat(t, 500, func(n int) (f, end func()) {
		opened := make(chan struct{})
		k := reuse.NewKeeper(reuse.KeeperConfig[int]{
			Capacity: 2 * n,
			Open:     func(context.Context) (int, error) { <-opened; return 0, nil },
		})
		var users sync.WaitGroup
		for range n {
			users.Go(func() {
				if l, err := k.Get(t.Context()); err == nil {
					l.Put()
				}
			})
		}
		check.Until(t, "all wait", func() bool { return k.Stats().Waiting == n })
		return func() {
				for range 20 {
					ctx, cancel := context.WithCancel(t.Context())
					users.Go(func() {
						_, err := k.Get(ctx)
						check.Error(t, err, context.Canceled)
					})
					for k.Stats().Waiting == n {
						runtime.Gosched()
					}
					cancel()
					for k.Stats().Waiting > n {
						runtime.Gosched()
					}
				}
			}, func() {
				close(opened)
				users.Wait()
				k.Close()
			}
	})
}

func TestGetAndPutCostTheSameHoweverManyAreIdle(t *testing.T) {
	check.Flat(t, 250, func(n int) (f, end func()) {
		k := reuse.NewKeeper(reuse.KeeperConfig[int]{
			Capacity: n + 1, MinIdle: n,
			Open:           func(context.Context) (int, error) { return 0, nil },
			Lifetime:       time.Hour,
			IdleTimeout:    time.Hour,
			Heartbeat:      func(context.Context, int) error { return nil },
			HeartbeatEvery: time.Hour,
		})
		check.Until(t, "all are idle", func() bool { return k.Stats().Idle == n })
		first, err := k.Get(t.Context()) // has one more opened
		check.OK(t, err)
		check.Until(t, "all are idle", func() bool { return k.Stats().Idle == n })
		first.Put()
		return func() {
			for range 100 {
				l, err := k.Get(t.Context())
				check.OK(t, err)
				l.Put()
			}
		}, k.Close
	})
}

// Objects that come back from their checks when n warmer ones are idle.
func TestACheckCostsTheSameHoweverManyAreIdle(t *testing.T) {
	const late = 3000
	check.Flat(t, 250, func(n int) (f, end func()) {
		checks := make(chan struct{})
		k := reuse.NewKeeper(reuse.KeeperConfig[int]{
			Capacity: n + late,
			Open:     func(context.Context) (int, error) { return 0, nil },
			Check:    func(context.Context, int) error { <-checks; return nil },
		})
		leases := make([]reuse.Lease[int], n+late)
		for i := range leases {
			leases[i], _ = k.Get(t.Context())
		}
		for _, l := range leases[:late] {
			l.Put()
		}
		ctx, cancel := context.WithCancel(t.Context())
		var users sync.WaitGroup
		for range late {
			users.Go(func() { _, _ = k.Get(ctx) })
		}
		check.Until(t, "all are checked", func() bool { return k.Stats().Checking == late })
		cancel()
		users.Wait()
		for _, l := range leases[late:] {
			l.Put()
		}
		left := late
		return func() {
				left -= 100
				for range 100 {
					checks <- struct{}{}
				}
				for k.Stats().Checking > left {
					runtime.Gosched()
				}
			}, func() {
				close(checks)
				k.Close()
			}
	})
}
