package weir_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestALaneKeepsItsValuesForTheNextWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{t: t}
		p := weir.New(1)
		l := s.pool(3, weir.On(p), weir.IdleTimeout(time.Second))
		for range 1000 {
			check.OK(t, l.Call(t.Context(), nothing))
			check.OK(t, p.Do(t.Context(), succeed)) // by the worker that the lane has had
		}
		check.Equal(t, "opened", s.made.Load(), 1)

		p.Resize(2)
		v := check.NewValve()
		for range 3 {
			check.OK(t, l.Invoke(v.Hold))
		}
		synctest.Wait()
		check.Equal(t, "open on two places", s.open.Now.Load(), 2)
		v.Open()
		l.Wait()
		time.Sleep(600 * time.Millisecond)
		check.OK(t, l.Call(t.Context(), nothing)) // with one of the two
		time.Sleep(600 * time.Millisecond)
		check.Equal(t, "open when one is idle for longer than the timeout", s.open.Now.Load(), 1)
		time.Sleep(time.Second)
		check.Equal(t, "open when both are", s.open.Now.Load(), 0)
		check.OK(t, l.Call(t.Context(), nothing))
		check.Equal(t, "open again", s.open.Now.Load(), 1)
		p.Close()
		s.empty()
		noWorkers(t)
	})
}

func TestResizeOfALaneClosesValuesThatAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{t: t}
		p := weir.New(4)
		l := s.pool(4, weir.On(p))
		v := check.NewValve()
		for range 4 {
			check.OK(t, l.Invoke(v.Hold))
		}
		synctest.Wait()
		l.Resize(3) // one too many is in use
		v.Open()
		l.Wait()
		synctest.Wait()
		check.Equal(t, "open", s.open.Now.Load(), 3)
		l.Resize(1)
		synctest.Wait()
		check.Equal(t, "open after Resize", s.open.Now.Load(), 1)
		l.Close()
		s.empty()
		p.Close()
	})
}

// Of a lane, all values are closed when Close of it, or of its pool, or of the pool above that, returns.
func TestCloseWaitsUntilTheValuesOfLanesAreClosed(t *testing.T) {
	ends := map[string]func(top *weir.Pool, l *weir.Stateful[*handle, func()], ctx context.Context) error{
		"Close of the lane": func(_ *weir.Pool, l *weir.Stateful[*handle, func()], _ context.Context) error { l.Close(); return nil },
		"Shutdown of the lane": func(_ *weir.Pool, l *weir.Stateful[*handle, func()], ctx context.Context) error {
			_, err := l.Shutdown(ctx)
			return err
		},
		"Close of the pool": func(p *weir.Pool, _ *weir.Stateful[*handle, func()], _ context.Context) error { p.Close(); return nil },
		"Shutdown of the pool": func(p *weir.Pool, _ *weir.Stateful[*handle, func()], ctx context.Context) error {
			_, err := p.Shutdown(ctx)
			return err
		},
	}
	for name, end := range ends {
		check.Bubble(t, name, func(t *testing.T) {
			s := shop{t: t}
			p := weir.New(3)
			l := weir.NewStateful(3, s.take, (*handle).use, func(h *handle) {
				time.Sleep(time.Second)
				s.giveBack(h)
			}, weir.On(p.Lane(3)), weir.Name("kept"))
			for range 3 {
				check.OK(t, l.Invoke(func() { time.Sleep(time.Millisecond) }))
			}
			l.Wait()
			check.Equal(t, "kept", s.open.Now.Load(), 3)
			check.OK(t, end(p, l, t.Context()))
			s.empty()
			check.OK(t, end(p, l, t.Context()))
			p.Close()
		})
		check.Bubble(t, name+" for less time", func(t *testing.T) {
			s := shop{t: t}
			p := weir.New(3)
			l := weir.NewStateful(3, s.take, (*handle).use, func(h *handle) {
				time.Sleep(time.Second)
				s.giveBack(h)
			}, weir.On(p))
			check.OK(t, l.Call(t.Context(), nothing))
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			if err := end(p, l, ctx); err != nil {
				check.Error(t, err, context.DeadlineExceeded)
				check.Equal(t, "open", s.open.Now.Load(), 1)
			}
			p.Close()
			s.empty()
		})
	}
}

func TestShutdownReturnsTheArgumentsOfAStatefulLaneAsFunctions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{t: t}
		p := weir.New(1)
		l := s.pool(1, weir.On(p))
		check.OK(t, l.Call(t.Context(), nothing)) // whose value is kept
		v := block(t, p, 1)
		ran := 0
		for range 3 {
			check.OK(t, l.Invoke(func() { ran++ }))
		}
		called := make(chan error, 1)
		go func() { called <- l.Call(t.Context(), nothing) }()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		unrun, err := p.Shutdown(ctx)
		check.Error(t, err, context.Canceled)
		check.Error(t, <-called, weir.ErrClosed)
		synctest.Wait()
		s.empty()
		for _, task := range unrun {
			task()
		}
		check.Equal(t, "ran", ran, 3)
		s.empty()
		v.Open()
		p.Close()
	})
}

func TestAKeptValueMayPanicOrExitWhenItIsClosed(t *testing.T) {
	for name, fail := range map[string]func(){"panic": func() { panic("stuck") }, "exit": runtime.Goexit} {
		check.Bubble(t, name, func(t *testing.T) {
			var panics atomic.Int32
			p := weir.New(2)
			l := weir.NewStateful(2, func() (int, error) { return 0, nil }, func(_ int, hold func()) { hold() }, func(int) { fail() },
				weir.On(p), weir.OnPanic(func(*weir.Panic) { panics.Add(1) }))
			v := check.NewValve()
			check.OK(t, l.Invoke(v.Hold))
			check.OK(t, l.Invoke(v.Hold))
			synctest.Wait()
			v.Open()
			l.Wait()
			p.Close()
			check.Equal(t, "panics", panics.Load(), map[string]int32{"panic": 2}[name])
			noWorkers(t)
		})
	}
}

// Nothing that was opened is left open, and no more than the limit is, however tasks end and lanes are resized.
func TestStatefulLanesUnderStressLoseNothing(t *testing.T) {
	s := shop{t: t}
	p := weir.New(4)
	l := s.pool(3, weir.On(p), weir.IdleTimeout(100*time.Microsecond), weir.OnPanic(func(*weir.Panic) {}))
	other := p.Lane(4)
	const calls = 2000
	var done sync.WaitGroup
	var ran atomic.Int64
	for c := range 4 {
		done.Go(func() {
			for i := range check.Scale(calls, calls/10) {
				switch (i + c) % 8 {
				case 0:
					err := l.Call(t.Context(), func() { ran.Add(1); panic("no") })
					if _, ok := errors.AsType[*weir.Panic](err); !ok {
						t.Errorf("Call returned %v", err)
					}
				case 1:
					check.OK(t, other.Submit(nothing))
					check.OK(t, p.Submit(nothing))
					fallthrough
				default:
					check.OK(t, l.Call(t.Context(), func() { ran.Add(1) }))
				}
				if c == 0 && i%64 == 0 {
					l.Resize(1 + i/64%3)
				}
			}
		})
	}
	done.Wait()
	check.Equal(t, "ran", ran.Load(), int64(4*check.Scale(calls, calls/10)))
	if peak := s.open.Peak.Load(); peak > 3 {
		t.Errorf("%d values were open, want at most 3", peak)
	}
	p.Close()
	s.empty()
	noWorkers(t)
}

func TestLanesLeaveTheListOfPoolsWithTheirPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name := fmt.Sprintf("%s %p", t.Name(), t)
		p := weir.New(1)
		check.OK(t, p.Lane(1, weir.Name(name)).Do(t.Context(), succeed))
		isListed := func() bool {
			for i := range weir.Pools() {
				if i.Name == name {
					return true
				}
			}
			return false
		}
		check.Equal(t, "listed", isListed(), true)
		p.Close()
		check.Equal(t, "listed when the pool is closed", isListed(), false)
	})
}

// The worker of a lane that closes its value runs on that of the pool, which must go on.
func TestGoexitOfAClosedValueLosesNoWorkerOfThePool(t *testing.T) {
	p := weir.New(1)
	defer p.Close()
	l := weir.NewStateful(1, func() (int, error) { return 0, nil }, func(int, int) {}, func(int) { runtime.Goexit() }, weir.On(p), weir.IdleTimeout(0))
	for i := range 100 {
		check.OK(t, l.Call(t.Context(), i))
		check.OK(t, p.Do(t.Context(), succeed))
	}
}

func TestAValueThatIsBeingOpenedCountsWhenALaneIsResized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{t: t}
		p := weir.New(2)
		slow := check.NewValve()
		l := weir.NewStateful(2, func() (*handle, error) {
			if s.made.Load() == 1 {
				slow.Hold()
			}
			return s.take()
		}, (*handle).use, s.giveBack, weir.On(p))
		v := check.NewValve()
		check.OK(t, l.Invoke(v.Hold))
		synctest.Wait()
		check.OK(t, l.Invoke(nothing)) // opens a second one
		synctest.Wait()
		v.Open()
		synctest.Wait() // the first one is kept
		l.Resize(1)
		slow.Open()
		l.Wait()
		synctest.Wait()
		check.Equal(t, "open", s.open.Now.Load(), 1)
		p.Close()
		s.empty()
	})
}

func TestPoolInfoResizesAStateful(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{t: t}
		name := fmt.Sprintf("%s %p", t.Name(), t)
		p := s.pool(1, weir.Name(name))
		defer p.Close()
		v := check.NewValve()
		check.OK(t, p.Invoke(v.Hold))
		check.OK(t, p.Invoke(v.Hold))
		synctest.Wait()
		for i := range weir.Pools() {
			if i.Name == name {
				i.Resize(2)
			}
		}
		synctest.Wait()
		check.Equal(t, "at once", s.open.Now.Load(), 2)
		v.Open()
	})
}

// A worker of the pool once closed the value that a lane did not keep, in its place. Meanwhile TrySubmit turned in circles.
func TestAValueThatIsNotKeptIsClosedInNoPlaceOfThePool(t *testing.T) {
	check.Within(time.Minute, func() {
		check.Bubble(t, "", func(t *testing.T) {
			p, closed := weir.New(1, weir.Queue(0)), new(atomic.Bool)
			s := weir.NewStateful(1, func() (int, error) { return 0, nil }, func(int, int) {}, func(int) { time.Sleep(time.Second); closed.Store(true) },
				weir.On(p), weir.IdleTimeout(0))
			check.OK(t, s.Invoke(1))
			synctest.Wait()
			check.OK(t, p.TrySubmit(func() {}))
			synctest.Wait()
			check.Equal(t, "tasks that have ended", p.Stats().Finished, 1)
			check.Equal(t, "closed", closed.Load(), false)
			p.Close()
			check.Equal(t, "closed", closed.Load(), true)
		})
	})
}
