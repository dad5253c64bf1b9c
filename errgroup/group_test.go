package errgroup_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/errgroup"
	"github.com/64ed045f/weir/internal/check"
)

// All that a program can name in x/sync's package. This does not compile if a
// signature here differs.
var (
	_ func(context.Context) (*errgroup.Group, context.Context) = errgroup.WithContext
	_ interface {
		Go(func() error)
		TryGo(func() error) bool
		SetLimit(int)
		Wait() error
	} = new(errgroup.Group)
)

func TestWaitReturnsTheFirstError(t *testing.T) {
	second := errors.New("second")
	for _, errs := range [][]error{
		{},
		{nil},
		{errBoom},
		{nil, errBoom},
		{errBoom, nil},
		{errBoom, nil, second},
		{nil, nil, errBoom, second, nil},
	} {
		for _, limit := range limits {
			g := limited(limit)
			check.OK(t, g.Wait())
			var first error
			for i, err := range errs {
				if first == nil {
					first = err
				}
				g.Go(func() error { return err })
				for range 2 { // also when nothing has been added since
					check.Equal(t, fmt.Sprintf("limit %d: Wait after %v", limit, errs[:i+1]), g.Wait(), first)
				}
			}
		}
	}
	check.Bubble(t, "of several that run at once", func(t *testing.T) {
		var g errgroup.Group
		for i := range 5 {
			g.Go(func() error {
				time.Sleep(time.Duration(5-i) * time.Second)
				return fmt.Errorf("function %d", i)
			})
		}
		check.Equal(t, "first", g.Wait().Error(), "function 4")
		check.Equal(t, "first, again", g.Wait().Error(), "function 4")
	})
}

func TestTheContextEndsWithTheFirstErrorOrWithWait(t *testing.T) {
	type key struct{}
	parent := context.WithValue(context.Background(), key{}, "inherited")
	for _, add := range []struct {
		name string
		run  func(g *errgroup.Group, f func() error)
	}{
		{"Go", (*errgroup.Group).Go},
		{"TryGo", func(g *errgroup.Group, f func() error) {
			if !g.TryGo(f) {
				t.Error("TryGo refused")
			}
		}},
	} {
		for _, limit := range limits {
			for _, test := range []struct {
				errs               []error
				first, ctxErr, end error // what Wait returns, the context's error before that, and its cause in the end
			}{
				{nil, nil, nil, context.Canceled},
				{[]error{nil}, nil, nil, context.Canceled},
				{[]error{errBoom}, errBoom, context.Canceled, errBoom},
				{[]error{nil, errBoom, nil}, errBoom, context.Canceled, errBoom},
			} {
				check.Bubble(t, fmt.Sprintf("%s/limit=%d/%v", add.name, limit, test.errs), func(t *testing.T) {
					g, ctx := errgroup.WithContext(parent)
					g.SetLimit(limit)
					check.Equal(t, "value", ctx.Value(key{}), any("inherited"))
					for _, err := range test.errs {
						add.run(g, func() error { return err })
						synctest.Wait()
					}
					check.Equal(t, "error before Wait", ctx.Err(), test.ctxErr)
					check.Equal(t, "Wait", g.Wait(), test.first)
					check.Equal(t, "error after Wait", ctx.Err(), context.Canceled)
					check.Equal(t, "cause", context.Cause(ctx), test.end)
				})
			}
		}
	}
	check.Bubble(t, "functions may wait for it", func(t *testing.T) {
		g, ctx := errgroup.WithContext(t.Context())
		for range 10 {
			g.Go(func() error {
				<-ctx.Done()
				return ctx.Err()
			})
		}
		g.Go(fail)
		check.Equal(t, "first", g.Wait(), errBoom)
		// It stays as it is, and so does the error.
		g.Go(func() error {
			check.Equal(t, "cause", context.Cause(ctx), errBoom)
			return errors.New("too late")
		})
		check.Equal(t, "first", g.Wait(), errBoom)
	})
	check.Bubble(t, "a parent that ends cancels no function", func(t *testing.T) {
		parent, cancel := context.WithCancelCause(t.Context())
		g, ctx := errgroup.WithContext(parent)
		cancel(errBoom)
		check.Equal(t, "cause", context.Cause(ctx), errBoom)
		ran := false
		g.Go(func() error { ran = true; return nil })
		check.OK(t, g.Wait())
		check.Equal(t, "ran", ran, true)
	})
}

func TestWaitWaitsForEveryFunction(t *testing.T) {
	for _, limit := range limits {
		check.Bubble(t, fmt.Sprintf("limit=%d", limit), func(t *testing.T) {
			g := limited(limit)
			v := check.NewValve()
			n := 5
			if limit > 0 {
				n = min(n, limit)
			}
			for range n {
				g.Go(v.Try)
			}
			returned := make(chan error, 3)
			for range cap(returned) {
				go func() { returned <- g.Wait() }()
			}
			for range n {
				synctest.Wait()
				check.Equal(t, "Waits that returned", len(returned), 0)
				v.LetOne()
			}
			for range cap(returned) {
				check.OK(t, <-returned)
			}
			check.Equal(t, "ended", int(v.Ended.Load()), n)
		})
	}
	check.Bubble(t, "also for those that a function adds", func(t *testing.T) {
		var g errgroup.Group
		var mu sync.Mutex
		ran := 0
		var tree func(depth int) func() error
		tree = func(depth int) func() error {
			return func() error {
				time.Sleep(time.Second)
				mu.Lock()
				ran++
				mu.Unlock()
				if depth > 0 {
					g.Go(tree(depth - 1))
					g.Go(tree(depth - 1))
				}
				return nil
			}
		}
		for range 3 {
			ran = 0
			g.Go(tree(7))
			check.OK(t, g.Wait())
			check.Equal(t, "ran", ran, 1<<8-1)
		}
	})
}

func TestANilFunctionPanicsAtTheCall(t *testing.T) {
	const message = "errgroup: function must not be nil, got nil"
	for _, limit := range []int{-1, 0, 2} {
		g := limited(limit)
		check.Equal(t, "Go", check.Caught(func() { g.Go(nil) }), any(message))
		check.Equal(t, "TryGo", check.Caught(func() { g.TryGo(nil) }), any(message))
		g.SetLimit(1) // no place was lost
		check.Equal(t, "TryGo", g.TryGo(succeed), true)
		check.OK(t, g.Wait())
	}
}
