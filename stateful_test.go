package weir_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// handle is a value of a worker's own, which must see one user at a time and one end.
type handle struct {
	shop *shop
	uses int
	used atomic.Bool
	gone atomic.Bool
}

// shop opens handles, and knows what became of them.
type shop struct {
	t    testing.TB
	open check.Gauge
	made atomic.Int64
}

func (s *shop) take() (*handle, error) {
	s.made.Add(1)
	s.open.Enter()
	return &handle{shop: s}, nil
}

func (s *shop) giveBack(h *handle) {
	if h.gone.Swap(true) {
		s.t.Error("a value was closed twice")
	}
	if h.used.Load() {
		s.t.Error("a value was closed in use")
	}
	s.open.Leave()
}

// use is called while the value is in use.
func (h *handle) use(f func()) {
	if h.used.Swap(true) {
		h.shop.t.Error("two use a value at once")
	}
	if h.gone.Load() {
		h.shop.t.Error("a closed value is used")
	}
	h.uses++ // which the race detector watches, too
	defer h.used.Store(false)
	f()
}

func (s *shop) pool(limit int, opts ...weir.Option) *weir.Stateful[*handle, func()] {
	return weir.NewStateful(limit, s.take, (*handle).use, s.giveBack, opts...)
}

// empty fails the test unless all that was opened is closed.
func (s *shop) empty() {
	s.t.Helper()
	check.Equal(s.t, "values left open", s.open.Now.Load(), 0)
}

func TestAWorkerKeepsItsValueFromCallToCall(t *testing.T) {
	s := shop{t: t}
	p := s.pool(2)
	for range 1000 {
		check.OK(t, p.Invoke(nothing))
	}
	p.Close()
	if made := s.made.Load(); made < 1 || made > 2 {
		t.Errorf("opened %d values, want 1 or 2", made)
	}
	s.empty()
}

func TestValuesAreOpenedWithTheFirstCallsAndClosedWithTheirWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{t: t}
		p := s.pool(3, weir.IdleTimeout(time.Second), weir.Prestart(2))
		synctest.Wait()
		check.Equal(t, "opened before the first call", s.made.Load(), 0)

		v := check.NewValve()
		for range 3 {
			check.OK(t, p.Invoke(v.Hold))
		}
		synctest.Wait()
		check.Equal(t, "open", s.open.Now.Load(), 3)
		v.Open()
		p.Wait()
		check.Equal(t, "open when idle", s.open.Now.Load(), 3)
		p.Resize(2)
		synctest.Wait()
		check.Equal(t, "open after Resize", s.open.Now.Load(), 2)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		check.Equal(t, "open after the idle timeout", s.open.Now.Load(), 0)
		check.OK(t, p.Call(t.Context(), nothing))
		check.Equal(t, "open again", s.open.Now.Load(), 1)
		p.Close()
		s.empty()
	})
}

func TestAValueIsReplacedAfterAPanicOrGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reported []any
		s := shop{t: t}
		p := s.pool(1, weir.OnPanic(func(p *weir.Panic) { reported = append(reported, p.Value) }))
		defer s.empty()
		defer p.Close()
		for i, task := range []func(){explode, runtime.Goexit} {
			check.OK(t, p.Invoke(task))
			p.Wait()
			check.Equal(t, "open", s.open.Now.Load(), 0)
			check.OK(t, p.Call(t.Context(), nothing))
			check.Equal(t, "opened", s.made.Load(), int64(2+2*i))

			err := p.Call(t.Context(), task)
			if i == 1 {
				check.Error(t, err, weir.ErrGoexit)
				continue
			}
			check.Error(t, err, errBoom)
			caught, ok := errors.AsType[*weir.Panic](err)
			if !ok || !strings.Contains(string(caught.Stack), "weir_test.explode") {
				t.Errorf("the panic's stack is not in %v", err)
			}
		}
		check.Equal(t, "reported", fmt.Sprint(reported), "[boom]")
	})
}

func TestASubmitterLearnsThatAValueCouldNotBeOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := true
		var told []*weir.OpenError
		var used []int
		p := weir.NewStateful(1, func() (string, error) {
			if fails {
				return "", errBoom
			}
			return "value", nil
		}, func(_ string, arg int) { used = append(used, arg) }, nil,
			weir.Name("handles"), weir.OnOpenError(func(err *weir.OpenError) { told = append(told, err) }))
		defer p.Close()

		err := p.Call(t.Context(), 1)
		check.Error(t, err, errBoom)
		check.Equal(t, "error", err.Error(), "weir: worker of pool handles could not open its value: boom")
		check.OK(t, p.Invoke(2))
		check.OK(t, p.InvokeContext(t.Context(), 3))
		check.OK(t, p.TryInvoke(4))
		p.Wait()
		var args []any
		for _, err := range told {
			check.Error(t, err, errBoom)
			args = append(args, err.Arg)
		}
		check.Equal(t, "arguments", fmt.Sprint(args), "[2 3 4]")
		stats := p.Stats()
		check.Equal(t, "handed back", stats.HandedBack, 4)
		check.Equal(t, "finished", stats.Finished, 0)

		fails = false
		check.OK(t, p.Call(t.Context(), 5))
		check.Equal(t, "used", fmt.Sprint(used), "[5]")
	})
}

func TestAnOpenErrorThatNoCallReturnsIsLogged(t *testing.T) {
	out := check.Log(t)
	p := weir.NewStateful(1, func() (int, error) { return 0, errBoom }, func(int, int) {}, nil)
	check.OK(t, p.Invoke(1))
	p.Close()
	if got := out.String(); !strings.Contains(got, "weir: worker could not open its value") || !strings.Contains(got, "boom") {
		t.Errorf("logged %q", got)
	}
}

// Open and close may panic or exit: neither a worker nor a value is lost.
func TestOpenAndCloseMayPanicOrExit(t *testing.T) {
	for name, fault := range map[string]func(){"panic": explode, "Goexit": runtime.Goexit} {
		check.Bubble(t, "open/"+name, func(t *testing.T) {
			s, opens := shop{t: t}, 0
			p := weir.NewStateful(1, func() (*handle, error) {
				if opens++; opens < 3 {
					fault()
				}
				return s.take()
			}, (*handle).use, s.giveBack, weir.OnPanic(func(*weir.Panic) {}))
			err := p.Call(t.Context(), nothing)
			if failed, ok := errors.AsType[*weir.OpenError](err); name == "Goexit" && (!ok || !errors.Is(failed.Err, weir.ErrGoexit)) || err == nil {
				t.Errorf("got error %v of an open that ended by a %s", err, name)
			}
			check.OK(t, p.Invoke(nothing))
			check.OK(t, p.Call(t.Context(), nothing))
			p.Close()
			s.empty()
		})
		check.Bubble(t, "close/"+name, func(t *testing.T) {
			s, panics := shop{t: t}, 0
			p := weir.NewStateful(1, s.take, (*handle).use, func(h *handle) {
				s.giveBack(h)
				fault()
			}, weir.OnPanic(func(*weir.Panic) { panics++ }), weir.IdleTimeout(0))
			for range 3 {
				check.OK(t, p.Call(t.Context(), nothing)) // and the worker ends
				synctest.Wait()
			}
			check.Error(t, p.Call(t.Context(), runtime.Goexit), weir.ErrGoexit)
			check.OK(t, p.Call(t.Context(), nothing))
			p.Close()
			s.empty()
			if name == "panic" {
				check.Equal(t, "panics of close", panics, 5)
			}
		})
	}
}

func TestThereAreNeverMoreValuesThanTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{t: t}
		p := weir.NewStateful(2, s.take, (*handle).use, func(h *handle) {
			time.Sleep(time.Second)
			s.giveBack(h)
		}, weir.IdleTimeout(time.Minute))
		v := check.NewValve()
		for range 2 {
			check.OK(t, p.Invoke(v.Hold))
		}
		synctest.Wait()
		v.Open()
		time.Sleep(time.Minute + time.Second/2)
		check.Equal(t, "still closing", s.open.Now.Load(), 2)
		begin := time.Now()
		for range 2 {
			check.OK(t, p.Invoke(nothing))
		}
		p.Wait()
		check.Equal(t, "waited", time.Since(begin), time.Second/2)
		p.Close()
		check.Equal(t, "at once", s.open.Peak.Load(), 2)
		s.empty()
	})
}

func TestRaisingTheLimitLetsAWorkerOpenWhileAnotherCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, closing := shop{t: t}, make(chan struct{})
		p := weir.NewStateful(1, s.take, (*handle).use, func(h *handle) {
			<-closing
			s.giveBack(h)
		}, weir.IdleTimeout(0))
		check.OK(t, p.Invoke(nothing))
		synctest.Wait()
		var ran atomic.Bool
		check.OK(t, p.Invoke(func() { ran.Store(true) }))
		synctest.Wait()
		check.Equal(t, "ran at limit 1", ran.Load(), false)
		p.Resize(2)
		synctest.Wait()
		check.Equal(t, "ran at limit 2", ran.Load(), true)
		close(closing)
		p.Close()
		s.empty()
	})
}

func TestAWorkerThatOpensDelaysNoOtherWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{t: t}
		opening := make(chan struct{})
		var begun atomic.Bool
		p := weir.NewStateful(2, func() (*handle, error) {
			if !begun.Swap(true) {
				<-opening
			}
			return s.take()
		}, (*handle).use, s.giveBack)
		var ran atomic.Int64
		for range 5 {
			check.OK(t, p.Invoke(func() { ran.Add(1) }))
		}
		synctest.Wait()
		check.Equal(t, "ran", ran.Load(), 4)
		close(opening)
		p.Close()
		check.Equal(t, "ran", ran.Load(), 5)
		s.empty()
	})
}

func TestCloseWaitsUntilAllValuesAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{t: t}
		p := weir.NewStateful(3, s.take, (*handle).use, func(h *handle) {
			time.Sleep(time.Second)
			s.giveBack(h)
		})
		for range 3 {
			check.OK(t, p.Invoke(func() { time.Sleep(time.Millisecond) }))
		}
		p.Close()
		s.empty()
	})
}

func TestCallIsWithdrawnWhileQueuedAndWaitedForOnceItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{t: t}
		p := s.pool(1)
		ctx, cancel := context.WithCancelCause(t.Context())
		v := check.NewValve()
		var callers sync.WaitGroup
		returned := false
		callers.Go(func() {
			check.OK(t, p.Call(ctx, v.Hold))
			returned = true
		})
		synctest.Wait()
		callers.Go(func() {
			check.Error(t, p.Call(ctx, func() { t.Error("called") }), errBoom)
		})
		synctest.Wait()
		cancel(errBoom)
		synctest.Wait()
		check.Equal(t, "returned while it runs", returned, false)
		v.Open()
		callers.Wait()
		check.Error(t, p.Call(ctx, func() { t.Error("called") }), errBoom)
		p.Close()
		check.Error(t, p.Call(t.Context(), func() { t.Error("called") }), weir.ErrClosed)
		s.empty()
	})
}

func TestCallIsWithdrawnWhileItsValueIsOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{t: t}
		opening := make(chan struct{})
		p := weir.NewStateful(1, func() (*handle, error) {
			<-opening
			return s.take()
		}, (*handle).use, s.giveBack)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errBoom)
		defer cancel()
		begin := time.Now()
		check.Error(t, p.Call(ctx, func() { t.Error("called") }), errBoom)
		check.Equal(t, "waited", time.Since(begin), time.Second)
		close(opening)
		check.OK(t, p.Call(t.Context(), nothing))
		check.Equal(t, "opened", s.made.Load(), 1)
		p.Close()
		s.empty()
		stats := p.Stats()
		check.Equal(t, "handed back", stats.HandedBack, 1)
		check.Equal(t, "finished", stats.Finished, 1)
	})
}

// What goes wrong in open after its caller has left is no call's error, but a panic is reported.
func TestACallThatHasLeftLearnsNothingOfOpen(t *testing.T) {
	for name, tc := range map[string]struct {
		end      func() error
		reported int
	}{
		"error":  {func() error { return errBoom }, 0},
		"panic":  {func() error { panic(errBoom) }, 1},
		"Goexit": {func() error { runtime.Goexit(); return nil }, 0},
	} {
		check.Bubble(t, name, func(t *testing.T) {
			reported := 0
			p := weir.NewStateful(1, func() (int, error) {
				time.Sleep(2 * time.Second)
				return 0, tc.end()
			}, func(int, int) { t.Error("called") }, nil, weir.OnPanic(func(*weir.Panic) { reported++ }))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			check.Error(t, p.Call(ctx, 1), context.DeadlineExceeded)
			p.Close()
			check.Equal(t, "reported", reported, tc.reported)
		})
	}
}

func TestWorkersWithoutValuesLeaveArgumentsToThoseWithOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const all = 1000
		opens, refused, used := 0, 0, 0
		var mu sync.Mutex
		p := weir.NewStateful(4, func() (int, error) {
			mu.Lock()
			defer mu.Unlock()
			if opens++; opens > 2 {
				return 0, errBoom
			}
			return 0, nil
		}, func(int, int) {
			time.Sleep(time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			used++
		}, nil, weir.OnOpenError(func(*weir.OpenError) {
			mu.Lock()
			defer mu.Unlock()
			refused++
		}))
		for i := range all {
			check.OK(t, p.Invoke(i))
		}
		begin := time.Now()
		p.Close()
		if took := time.Since(begin); took > 600*time.Millisecond {
			t.Errorf("took %v, while two workers do it in 500 ms", took)
		}
		check.Equal(t, "used or refused", used+refused, all)
		if refused > 30 {
			t.Errorf("%d of %d arguments were refused, though two workers had values", refused, all)
		}
	})
}

// A worker that rests after a failed open is not free. One that does not rest is free when the caller of Call learns of
// the failure.
func TestTryInvokeNeverWaitsForAWorkerThatCouldNotOpen(t *testing.T) {
	for name, fail := range map[string]func() error{
		"an error": func() error { return errBoom },
		"a panic":  func() error { panic(errBoom) },
		"an exit":  func() error { runtime.Goexit(); return nil },
	} {
		failing := false
		open := func() (int, error) {
			if failing {
				return 0, fail()
			}
			return 0, nil
		}
		call := func(_ int, task func()) { task() }
		check.Bubble(t, name+" while a worker has a value", func(t *testing.T) {
			failing = false
			p := weir.NewStateful(2, open, call, nil, weir.Queue(0))
			leave := make(chan struct{})
			check.OK(t, p.Invoke(func() { <-leave }))
			synctest.Wait()
			failing = true
			check.Within(time.Minute, func() {
				for range 3 {
					if err := p.Call(t.Context(), func() {}); err == nil {
						t.Error("the function was called")
					}
					check.Error(t, p.TryInvoke(func() {}), weir.ErrFull)
				}
			})
			close(leave)
			p.Close()
		})
		t.Run(name+" alone", func(t *testing.T) {
			failing = true
			for range check.Scale(1000, 100) {
				p := weir.NewStateful(1, open, call, nil, weir.Queue(0),
					weir.OnOpenError(func(*weir.OpenError) {}), weir.OnPanic(func(*weir.Panic) {}))
				if err := p.Call(t.Context(), func() {}); err == nil {
					t.Error("the function was called")
				}
				check.OK(t, p.TryInvoke(func() {}))
				p.Close()
			}
		})
	}
}

func TestShutdownReturnsArgumentsAndFailsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := check.NewValve()
		p := weir.NewStateful(1, func() (int, error) { return 0, nil }, func(int, int) { v.Hold() }, nil)
		check.OK(t, p.Invoke(1))
		synctest.Wait()
		var caller sync.WaitGroup
		check.OK(t, p.Invoke(2))
		caller.Go(func() { check.Error(t, p.Call(t.Context(), 3), weir.ErrClosed) })
		synctest.Wait()
		check.OK(t, p.Invoke(4))
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errBoom)
		unrun, err := p.Shutdown(ctx)
		check.Error(t, err, errBoom)
		check.Equal(t, "arguments", fmt.Sprint(unrun), "[2 4]")
		caller.Wait()
		v.Open()
		p.Close()
	})
}

func TestCallInATaskOfAnotherPoolKeepsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outer := weir.New(1)
		defer outer.Close()
		v := check.NewValve()
		p := weir.NewStateful(1, func() (int, error) { return 0, nil }, func(int, func()) { v.Hold() }, nil)
		defer p.Close()
		g := outer.Group(t.Context())
		g.Go(func(ctx context.Context) error { return p.Call(ctx, nothing) })
		synctest.Wait()
		ran := false
		check.OK(t, outer.Submit(func() { ran = true }))
		synctest.Wait()
		check.Equal(t, "ran in the caller's place", ran, false)
		v.Open()
		check.OK(t, g.Wait())
		outer.Wait()
		check.Equal(t, "ran after it", ran, true)
	})
}

func TestStatefulRefusesMisuse(t *testing.T) {
	open := func() (int, error) { return 0, nil }
	use := func(int, int) {}
	for want, f := range map[string]func(){
		"weir: function that opens must not be nil, got nil":                                         func() { weir.NewStateful(1, nil, use, nil) },
		"weir: function must not be nil, got nil":                                                    func() { weir.NewStateful[int, int](1, open, nil, nil) },
		"weir: limit must be at least 1, got 0":                                                      func() { weir.NewStateful(0, open, use, nil) },
		"weir: option of a pool must not be a group's, got Limit":                                    func() { weir.NewStateful(1, open, use, nil, weir.Limit(1)) },
		"weir: handler of errors must not be nil, got nil":                                           func() { weir.OnOpenError(nil) },
		"weir: option must fit a pool whose workers have no values, got OnOpenError":                 func() { weir.New(1, weir.OnOpenError(func(*weir.OpenError) {})) },
		"weir: context must not be nil, got nil":                                                     func() { _ = weir.NewStateful(1, open, use, nil).Call(nil, 1) }, //nolint:staticcheck // the misuse
		"weir: pool must be made by New, NewFunc, NewFuncContext or NewStateful, got the zero value": func() { new(weir.Stateful[int, int]).Resize(1) },
		"weir: limit must be at least 1, got -1":                                                     func() { weir.NewStateful(1, open, use, nil).Resize(-1) },
	} {
		check.Panics(t, want, f)
	}
	check.Panics(t, "weir: option must fit a pool whose workers have no values, got OnOpenError", func() {
		weir.NewGroup(t.Context(), 1, weir.OnOpenError(func(*weir.OpenError) {}))
	})
}

// A worker that cannot open its value rests while others have theirs, whatever way open fails; and the handler gets each argument that it has taken.
func TestMostArgumentsGoToWorkersThatHaveValues(t *testing.T) {
	for name, fails := range map[string]func() (int, error){
		"an error": func() (int, error) { return 0, errBoom },
		"a panic":  func() (int, error) { panic(errBoom) },
		"an exit":  func() (int, error) { runtime.Goexit(); return 0, nil },
	} {
		check.Bubble(t, name, func(t *testing.T) {
			var opened, used, failed atomic.Int64
			p := weir.NewStateful(4, func() (int, error) {
				if opened.Add(1) == 1 {
					return 1, nil
				}
				return fails()
			}, func(int, int) {
				used.Add(1)
				time.Sleep(time.Millisecond)
			}, nil, weir.OnPanic(func(*weir.Panic) { failed.Add(1) }), weir.OnOpenError(func(*weir.OpenError) { failed.Add(1) }))
			defer p.Close()
			const n = 1000
			for range n {
				check.OK(t, p.Invoke(1))
				synctest.Wait()
			}
			p.Wait()
			check.Equal(t, "used and told of", used.Load()+failed.Load(), n)
			if f := failed.Load(); f == 0 || f > n/10 {
				t.Errorf("%d of %d arguments had no value", f, n)
			}
		})
	}
}

// A handler gets an argument once, whatever it does itself.
func TestAHandlerOfOpenErrorsThatDoesNotReturnIsCalledOnce(t *testing.T) {
	for name, ends := range map[string]func(){"exits": runtime.Goexit, "panics": func() { panic(errBoom) }} {
		for how, open := range map[string]func() (int, error){
			"an error": func() (int, error) { return 0, errBoom },
			"an exit":  func() (int, error) { runtime.Goexit(); return 0, nil },
		} {
			check.Bubble(t, name+" after "+how, func(t *testing.T) {
				var told []error
				var panicked atomic.Int64
				p := weir.NewStateful(1, open, func(int, int) {}, nil, weir.OnPanic(func(*weir.Panic) { panicked.Add(1) }),
					weir.OnOpenError(func(err *weir.OpenError) {
						told = append(told, err)
						ends()
					}))
				check.OK(t, p.Invoke(1))
				p.Wait()
				p.Close()
				check.Equal(t, "told", len(told), 1)
				if how == "an error" {
					check.Error(t, told[0], errBoom)
				} else {
					check.Error(t, told[0], weir.ErrGoexit)
				}
				check.Equal(t, "its panic is one of a task", panicked.Load() == 1, name == "panics")
			})
		}
	}
}

// An argument for which open has failed takes no turn of a rate, and never counts as one that has run.
func TestAnArgumentWithoutAValueIsHandedBackHoweverOpenFails(t *testing.T) {
	for name, open := range map[string]func() (int, error){
		"an error": func() (int, error) { return 0, errBoom },
		"an exit":  func() (int, error) { runtime.Goexit(); return 0, nil },
	} {
		check.Bubble(t, name, func(t *testing.T) {
			p := weir.NewStateful(1, open, func(int, int) {}, nil, weir.Rate(1, time.Hour, 1))
			begin := time.Now()
			for i := range 3 {
				if err := p.Call(t.Context(), i); err == nil {
					t.Error("the function was called")
				}
			}
			check.Equal(t, "took", time.Since(begin), 0)
			p.Close()
			check.Equal(t, "handed back", p.Stats().HandedBack, 3)
			check.Equal(t, "finished", p.Stats().Finished, 0)
		})
	}
}

// Arguments that Shutdown has removed are not lost to a panic of its context.
func TestShutdownWhoseContextPanicsLosesNoArguments(t *testing.T) {
	for left := 1; left <= 6; left++ {
		check.Bubble(t, fmt.Sprint("at call ", left), func(t *testing.T) {
			used, leave := 0, make(chan struct{})
			p := weir.NewStateful(1, func() (int, error) { return 0, nil }, func(int, int) { used++; <-leave }, nil)
			for i := range 3 {
				check.OK(t, p.Invoke(i))
			}
			within, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			var unrun []int
			check.Caught(func() {
				unrun, _ = p.Shutdown(&check.BrokenContext{Context: within, Left: left, Ends: func() { panic(errBoom) }})
			})
			close(leave)
			p.Close()
			check.Equal(t, "used or returned", used+len(unrun), 3)
		})
	}
}
