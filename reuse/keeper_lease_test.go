package reuse_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

const leaseOver = "reuse: lease must not be used after Put, Discard or Detach"

// gone returns a function that tells whether the collector has taken p.
func gone[T any](p *T) func() bool {
	w := weak.Make(p)
	return func() bool { runtime.GC(); return w.Value() == nil }
}

func TestALeaseThatIsOverPanicsAndChangesNothing(t *testing.T) {
	uses := map[string]func(reuse.Lease[*thing]){
		"Value":   func(l reuse.Lease[*thing]) { l.Value() },
		"Put":     func(l reuse.Lease[*thing]) { l.Put() },
		"Discard": func(l reuse.Lease[*thing]) { l.Discard() },
		"Detach":  func(l reuse.Lease[*thing]) { l.Detach() },
	}
	for how, end := range uses {
		if how == "Value" {
			continue
		}
		for again, use := range uses {
			t.Run(again+" after "+how, func(t *testing.T) {
				k, f := keeping(t, 1)
				old := got(t, k)
				if how == "Detach" {
					f.taken.Add(1)
					f.exist.Leave()
				}
				end(old)
				check.Panics(t, leaseOver, func() { use(old) })
				// Nor when another has the object, or its place.
				now := got(t, k)
				check.Panics(t, leaseOver, func() { use(old) })
				check.Equal(t, "leased", k.Stats().Leased, 1)
				f.use(now.Value(), 1)
				f.use(now.Value(), -1)
				now.Put()
				check.Panics(t, leaseOver, func() { use(old) })
				check.Equal(t, "idle", k.Stats().Idle, 1)
				k.Close()
				check.Panics(t, leaseOver, func() { use(old) })
				f.settled(1)
			})
		}
	}
	for name, use := range uses {
		t.Run(name+" of the zero value", func(t *testing.T) {
			check.Panics(t, "reuse: lease must come from a Keeper, got the zero value", func() { use(reuse.Lease[*thing]{}) })
		})
	}
}

func TestOfTwoThatEndALeaseAtOnceOneDoes(t *testing.T) {
	k, f := keeping(t, 1)
	for range check.Scale(2000, 200) {
		l := got(t, k)
		var failed atomic.Int32
		over := make(chan struct{}, 2)
		for _, end := range []func(){l.Put, l.Discard} {
			go func() {
				if value := check.Caught(end); value != nil {
					check.Equal[any](t, "panic", value, leaseOver)
					failed.Add(1)
				}
				over <- struct{}{}
			}()
		}
		<-over
		<-over
		check.Equal(t, "panics", failed.Load(), 1)
	}
	k.Close()
	f.settled(1)
}

func TestADetachedObjectIsTheCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, f := keeping(t, 1)
		l := got(t, k)
		next := asks(t, k)
		next.waits(t)
		f.taken.Add(1)
		f.exist.Leave()
		o := l.Detach()
		check.Equal(t, "object", o.number, 1)
		l = next.served(t) // the place is free
		check.Equal(t, "object", l.Value().number, 2)
		l.Put()
		k.Close()
		check.Equal(t, "closed", o.closed.Load(), 0)
		f.settled(1)
	})
}

func TestADiscardedObjectIsClosedAndReplacedIfAUserWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, f := keeping(t, 1)
		got(t, k).Discard()
		synctest.Wait()
		check.Equal(t, "opened without a waiter", k.Stats().Opening+k.Stats().Idle, 0)
		l := got(t, k)
		a := asks(t, k)
		l.Discard()
		l = a.served(t)
		check.Equal(t, "object", l.Value().number, 3)
		l.Put()
		k.Close()
		f.settled(1)
	})
}

func TestALeaseThatIsOverKeepsNoObjectAlive(t *testing.T) {
	k, _ := keeping(t, 1)
	l := got(t, k)
	isGone := gone(l.Value())
	l.Discard()
	k.Close()
	if !check.Tries(100, isGone) {
		t.Error("the object is still there")
	}
	check.Panics(t, leaseOver, l.Put)
}
