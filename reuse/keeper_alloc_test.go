//go:build !race

package reuse_test

import (
	"context"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

// The race detector allocates where the program does not: hence the build tag.
func TestToLeaseAnIdleObjectAndToWaitForOneAllocatesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for name, change := range map[string]func(*config){
		"plain": func(*config) {},
		"timed": func(c *config) {
			c.IdleTimeout, c.Lifetime, c.CheckAfter = time.Hour, time.Hour, time.Hour
			c.Check = func(context.Context, *thing) error { return nil }
		},
	} {
		k, _ := keeping(t, 1, change)
		var l lease
		for what, op := range map[string]func(){
			"Get": func() { l, _ = k.Get(ctx); l.Put() },
			"Value": func() {
				l, _ = k.Get(ctx)
				_ = l.Value()
				l.Put()
			},
			"TryGet": func() { l, _ = k.TryGet(); l.Put() },
			"Use":    func() { check.OK(t, k.Use(ctx, func(*thing) error { return nil })) },
		} {
			check.OK(t, k.Use(ctx, func(*thing) error { return nil })) // it is open
			check.Equal(t, name+" "+what, testing.AllocsPerRun(check.Scale(5000, 500), op), 0)
		}

		// Waiting: two users hand one object to each other.
		asked, answered := make(chan struct{}), make(chan reuse.Lease[*thing])
		go func() {
			defer close(answered)
			for range asked {
				mine, err := k.Get(ctx)
				check.OK(t, err)
				answered <- mine
			}
		}()
		l, _ = k.Get(ctx)
		check.Equal(t, name+" waiting", testing.AllocsPerRun(check.Scale(5000, 500), func() {
			asked <- struct{}{}
			check.Tries(1<<20, func() bool { return k.Stats().Waiting == 1 })
			l.Put()
			l = <-answered
		}), 0)
		close(asked)
		<-answered
		l.Put()
		k.Close()
	}
}
