package weir_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestAFutureKeepsNoTaskThatHasRun(t *testing.T) {
	p := weir.New(1)
	defer p.Close()
	task, held := taskThatHolds()
	f := weir.Async(t.Context(), p, task)
	p.Wait()
	p.Wait() // the worker has nothing in hand any more
	runtime.GC()
	check.Equal(t, "what the task held is gone", held.Value() == nil, true)
	value, err := f.Get(t.Context())
	check.OK(t, err)
	check.Equal(t, "value", value, 0)
}

// watchedContext counts the calls that wait for its end.
type watchedContext struct {
	context.Context
	watchers atomic.Int32
}

// Value hides the context inside, which package context would handle itself.
func (c *watchedContext) Value(any) any { return nil }

func (c *watchedContext) AfterFunc(f func()) (stop func() bool) {
	c.watchers.Add(1)
	unwatch := context.AfterFunc(c.Context, f)
	return func() bool {
		stopped := unwatch()
		if stopped {
			c.watchers.Add(-1)
		}
		return stopped
	}
}

func TestAResolvedFutureLeavesNothingWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		parent, cancel := context.WithCancel(t.Context())
		defer cancel()
		ctx := &watchedContext{Context: parent}
		v := check.NewValve()
		var futures []*weir.Future[int]
		p.Pause()
		for i := range 5 {
			f := weir.Async(ctx, p, func(context.Context) (int, error) { v.Hold(); return i, nil })
			f.Done()
			f.Done()
			futures = append(futures, f)
		}
		check.Equal(t, "watchers", ctx.watchers.Load(), 5)
		p.Resume()
		synctest.Wait()
		check.Equal(t, "watchers, while two have begun", ctx.watchers.Load(), 3)
		v.Open()
		for i, f := range futures {
			value, err := f.Get(t.Context())
			check.OK(t, err)
			check.Equal(t, "value", value, i)
		}
		p.Wait()
		check.Equal(t, "watchers", ctx.watchers.Load(), 0)
		futures[0].Done()
		f := weir.Async(ctx, p, gives(1))
		p.Wait()
		f.Done()
		check.Equal(t, "watchers of what was resolved before", ctx.watchers.Load(), 0)
	})
	t.Run("though Done comes with the end", func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		parent, cancel := context.WithCancel(context.Background())
		defer cancel()
		ctx := &watchedContext{Context: parent}
		check.Within(time.Minute, func() {
			for range check.Scale(20_000, 1_000) {
				<-weir.Async(ctx, p, gives(1)).Done()
			}
		})
		p.Wait()
		check.Equal(t, "watchers", ctx.watchers.Load(), 0)
	})
}

func TestAFutureAllocatesItselfAndItsChannel(t *testing.T) {
	p := weir.New(2)
	defer p.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	task := gives(1)
	got := testing.AllocsPerRun(check.Scale(2000, 100), func() {
		_, err := weir.Async(ctx, p, task).Get(ctx)
		check.OK(t, err)
	})
	if got > 2 && !check.Race {
		t.Errorf("%.2f allocations", got)
	}
}

// BenchmarkFuture is the way from Async to the value, one at a time and with many
// under way at once.
func BenchmarkFuture(b *testing.B) {
	const limit, ahead = 64, 256
	ctx := context.Background()
	task := gives(1)
	type outcome struct {
		value int
		err   error
	}
	plain := func() <-chan outcome {
		c := make(chan outcome, 1)
		go func() {
			v, err := task(ctx)
			c <- outcome{v, err}
		}()
		return c
	}
	b.Run("lone/go and a channel", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			must((<-plain()).err)
		}
	})
	b.Run("lone/Async", func(b *testing.B) {
		p := weir.New(limit)
		defer p.Close()
		b.ReportAllocs()
		for b.Loop() {
			_, err := weir.Async(ctx, p, task).Get(ctx)
			must(err)
		}
	})
	b.Run("lone/Group", func(b *testing.B) {
		p := weir.New(limit)
		defer p.Close()
		b.ReportAllocs()
		for b.Loop() {
			g := p.Group(ctx)
			g.Go(succeed)
			must(g.Wait())
		}
	})
	b.Run("many/go and a channel", func(b *testing.B) {
		flying := make([]<-chan outcome, ahead)
		b.ReportAllocs()
		for i := range b.N {
			at := &flying[i%ahead]
			if *at != nil {
				must((<-*at).err)
			}
			*at = plain()
		}
	})
	b.Run("many/Async", func(b *testing.B) {
		p := weir.New(limit)
		defer p.Close()
		flying := make([]*weir.Future[int], ahead)
		b.ReportAllocs()
		for i := range b.N {
			at := &flying[i%ahead]
			if *at != nil {
				_, err := (*at).Get(ctx)
				must(err)
			}
			*at = weir.Async(ctx, p, task)
		}
	})
}
