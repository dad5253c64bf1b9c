package weir_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// expiresAfter checks that what calls return is ErrExpired, a second after they began.
func expiresAfter(t *testing.T, call func() error) func() {
	t.Helper()
	begun := time.Now()
	done := make(chan error, 1)
	go func() {
		err := call()
		if d := time.Since(begun); d < time.Second || d > time.Second+10*time.Millisecond {
			t.Errorf("it expired after %v", d)
		}
		done <- err
	}()
	return func() {
		t.Helper()
		check.Error(t, <-done, weir.ErrExpired)
	}
}

func TestATaskExpiresInTheQueue(t *testing.T) {
	for name, expires := range map[string]func(t *testing.T, p *weir.Pool) error{
		"of a group": func(t *testing.T, p *weir.Pool) error {
			g := p.Group(t.Context())
			g.Go(never(t))
			return g.Wait()
		},
		"of a group that keeps going": func(t *testing.T, p *weir.Pool) error {
			g := p.Group(t.Context(), weir.KeepGoing(), weir.Limit(1))
			g.Go(never(t))
			return g.Wait()
		},
		"of Results": func(t *testing.T, p *weir.Pool) error {
			r := weir.NewResults[int](p.Group(t.Context()))
			r.Go(func(context.Context) (int, error) { return 0, never(t)(nil) })
			_, err := r.Wait()
			return err
		},
		"of a future": func(t *testing.T, p *weir.Pool) error {
			_, err := weir.Async(t.Context(), p, func(context.Context) (int, error) { return 0, never(t)(nil) }).Get(t.Context())
			return err
		},
		"of Do": func(t *testing.T, p *weir.Pool) error { return p.Do(t.Context(), never(t)) },
		"of a group in a task of another pool": func(t *testing.T, p *weir.Pool) error {
			other := weir.New(1)
			defer other.Close()
			return other.Do(t.Context(), func(ctx context.Context) error {
				g := p.Group(ctx)
				g.Go(never(t))
				return g.Wait()
			})
		},
		"of Do in a task of another pool": func(t *testing.T, p *weir.Pool) error {
			other := weir.New(1)
			defer other.Close()
			return other.Do(t.Context(), func(ctx context.Context) error { return p.Do(ctx, never(t)) })
		},
	} {
		check.Bubble(t, name, func(t *testing.T) {
			p := weir.New(1, weir.ExpireAfter(time.Second), weir.OnError(func(err error) { t.Errorf("OnError got %v", err) }))
			v := block(t, p, 1)
			expiresAfter(t, func() error { return expires(t, p) })()
			check.Equal(t, "handed back", p.Stats().HandedBack, 1)
			check.Equal(t, "queued", p.Stats().Queued, 0)
			v.Open()
			p.Close()
			check.Equal(t, "finished", p.Stats().Finished, 1)
		})
	}
}

func TestExpiredTasksWithoutACallerGoToOnError(t *testing.T) {
	dropped := func(t *testing.T, give func(onError weir.Option) (label string, arg any, end func())) {
		got := make(chan error, 1)
		begun := time.Now()
		label, arg, end := give(weir.OnError(func(err error) { got <- err }))
		err := <-got
		check.Equal(t, "time", time.Since(begun).Round(10*time.Millisecond), time.Second)
		check.Error(t, err, weir.ErrExpired)
		d, ok := errors.AsType[*weir.DroppedError](err)
		if !ok {
			t.Fatalf("it got %v", err)
		}
		check.Equal(t, "label", d.Label, label)
		if task, ok := d.Arg.(func()); ok {
			task()
		} else {
			check.Equal(t, "argument", d.Arg, arg)
		}
		end()
	}
	blocking := func(v *check.Valve) func(int) {
		return func(arg int) {
			if arg != 1 {
				t.Errorf("it was called with %d", arg)
			}
			v.Hold()
		}
	}
	check.Bubble(t, "Submit", func(t *testing.T) {
		dropped(t, func(onError weir.Option) (string, any, func()) {
			p := weir.New(1, weir.ExpireAfter(time.Second), onError)
			v := block(t, p, 1)
			given := false
			check.OK(t, p.Submit(func() { given = true }))
			return "", nil, func() { check.Equal(t, "the task is given back", given, true); v.Open(); p.Close() }
		})
	})
	check.Bubble(t, "Go", func(t *testing.T) {
		dropped(t, func(onError weir.Option) (string, any, func()) {
			p := weir.New(1, weir.ExpireAfter(time.Second), onError)
			v := block(t, p, 1)
			check.OK(t, p.Go(weir.Label(t.Context(), "labelled"), never(t)))
			return "labelled", nil, func() { v.Open(); p.Close() }
		})
	})
	check.Bubble(t, "Invoke", func(t *testing.T) {
		dropped(t, func(onError weir.Option) (string, any, func()) {
			v := check.NewValve()
			p := weir.NewFunc(1, blocking(v), weir.ExpireAfter(time.Second), onError)
			check.OK(t, p.Invoke(1))
			synctest.Wait()
			check.OK(t, p.Invoke(2))
			return "", 2, func() { v.Open(); p.Close() }
		})
	})
	check.Bubble(t, "Invoke of a Stateful", func(t *testing.T) {
		dropped(t, func(onError weir.Option) (string, any, func()) {
			v := check.NewValve()
			use := blocking(v)
			p := weir.NewStateful(1, func() (int, error) { return 0, nil }, func(_, arg int) { use(arg) }, nil, weir.ExpireAfter(time.Second), onError)
			check.OK(t, p.Invoke(1))
			synctest.Wait()
			expires := expiresAfter(t, func() error { return p.Call(t.Context(), 3) })
			check.OK(t, p.Invoke(2))
			expires()
			return "", 2, func() { v.Open(); p.Close() }
		})
	})
}

// A worker that comes to a task before the timer does finds out itself.
func TestAWorkerDoesNotRunAnExpiredTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got errorsOf
		p := weir.New(1, weir.ExpireAfter(time.Second), weir.OnError(got.add))
		check.OK(t, p.Submit(func() { time.Sleep(time.Second + 700*time.Microsecond) }))
		synctest.Wait()
		ran := false
		for range 2 { // the timer is set for a millisecond after the first
			check.OK(t, p.Submit(func() { t.Error("it has run") }))
			time.Sleep(500 * time.Microsecond)
		}
		check.OK(t, p.Submit(func() { ran = true }))
		p.Close()
		check.Equal(t, "errors", strings.Count(got.String(), weir.ErrExpired.Error()), 2)
		check.Equal(t, "the last has run", ran, true)
		check.Equal(t, "handed back", p.Stats().HandedBack, 2)
	})
}

// A handler that ends its goroutine, or panics, loses no other task.
func TestExpiryGoesOnAfterAHandlerThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		p := weir.New(1, weir.ExpireAfter(time.Second), weir.OnError(func(error) {
			if calls.Add(1)%2 == 0 {
				panic("handler")
			}
			runtime.Goexit()
		}))
		v := block(t, p, 1)
		for range 5 {
			check.OK(t, p.Submit(nothing))
		}
		time.Sleep(2 * time.Second)
		check.Equal(t, "calls", calls.Load(), 5)
		check.OK(t, p.Submit(nothing))
		time.Sleep(2 * time.Second)
		check.Equal(t, "calls after another task", calls.Load(), 6)
		v.Open()
		p.Close()
	})
}

// Close and Wait return when the handler has.
func TestCloseWaitsForTheHandlerOfAnExpiredTask(t *testing.T) {
	for name, wait := range map[string]func(*weir.Pool){"Close": (*weir.Pool).Close, "Wait": (*weir.Pool).Wait} {
		check.Bubble(t, name, func(t *testing.T) {
			ended := false
			p := weir.New(1, weir.ExpireAfter(time.Second), weir.OnError(func(error) {
				time.Sleep(time.Minute)
				ended = true
			}))
			v := block(t, p, 1)
			check.OK(t, p.Submit(nothing))
			time.Sleep(2 * time.Second)
			v.Open()
			wait(p)
			check.Equal(t, "the handler has returned", ended, true)
			p.Close()
		})
	}
}

func TestTasksExpireInAPauseAndMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got errorsOf
		p := weir.New(1, weir.Queue(2), weir.ExpireAfter(time.Second), weir.OnError(got.add))
		p.Pause()
		for range 2 {
			check.OK(t, p.Submit(func() { t.Error("it has run") }))
		}
		begun := time.Now()
		ran := false
		check.OK(t, p.Submit(func() { ran = true }))
		check.Equal(t, "waited for room", time.Since(begun).Round(10*time.Millisecond), time.Second)
		synctest.Wait()
		check.Equal(t, "errors", strings.Count(got.String(), weir.ErrExpired.Error()), 2)
		p.Resume()
		p.Close()
		check.Equal(t, "the last has run", ran, true)
	})
}

// Subtasks are not queued: they wait for as long as it takes.
func TestSubtasksDoNotExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.ExpireAfter(time.Second))
		g := p.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			inner := p.Group(ctx)
			for range 3 {
				inner.Go(func(context.Context) error { time.Sleep(time.Minute); return nil })
			}
			return inner.Wait()
		})
		check.OK(t, g.Wait())
		p.Close()
	})
}

func TestTasksExpireOnceOrRunInTime(t *testing.T) {
	const after = 2 * time.Millisecond
	var ran, dropped, late atomic.Int64
	p := weir.New(2, weir.Queue(64), weir.ExpireAfter(after), weir.OnError(func(err error) {
		if !errors.Is(err, weir.ErrExpired) {
			t.Error(err)
		}
		dropped.Add(1)
	}))
	n := check.Scale(3000, 300)
	var submitters sync.WaitGroup
	for s := range 4 {
		submitters.Go(func() {
			dice := rand.New(rand.NewPCG(uint64(s), 0))
			for range n {
				long := time.Duration(dice.IntN(200)) * time.Microsecond
				if dice.IntN(200) == 0 {
					long = 2 * after
				}
				check.OK(t, p.Submit(func() {
					ran.Add(1)
					for begun := time.Now(); time.Since(begun) < long; {
						runtime.Gosched()
					}
				}))
				if dice.IntN(50) == 0 {
					if err := p.Do(t.Context(), func(context.Context) error { return nil }); err != nil {
						check.Error(t, err, weir.ErrExpired)
						late.Add(1)
					}
				}
			}
		})
	}
	submitters.Wait()
	p.Close()
	check.Equal(t, "tasks", ran.Load()+dropped.Load(), int64(4*n))
	check.Equal(t, "handed back", int64(p.Stats().HandedBack), dropped.Load()+late.Load())
	t.Logf("%d ran, %d expired", ran.Load(), dropped.Load())
}

// The timer does not keep a pool that is not used.
func TestAPoolThatMayExpireTasksBecomesGarbage(t *testing.T) {
	p := weir.New(1, weir.ExpireAfter(time.Hour), weir.IdleTimeout(0))
	for range 10 {
		check.OK(t, p.Submit(nothing))
	}
	p.Wait()
	gone := weak.Make(p)
	if !check.Tries(100, func() bool { runtime.GC(); return gone.Value() == nil }) {
		t.Error("it is kept")
	}
}

// The handler of one task keeps no other from being told, nor a group from ending.
func TestASlowHandlerHoldsUpNothingElse(t *testing.T) {
	check.Bubble(t, "on the timer's goroutine", func(t *testing.T) {
		p := weir.New(1, weir.ExpireAfter(time.Second), weir.OnError(func(error) { time.Sleep(time.Hour) }))
		v := block(t, p, 1)
		check.OK(t, p.Submit(nothing))
		expiresAfter(t, func() error { return p.Do(t.Context(), never(t)) })()
		expiresAfter(t, func() error { return p.Do(t.Context(), never(t)) })()
		v.Open()
		p.Close()
	})
	check.Bubble(t, "on a worker, after a task of a group", func(t *testing.T) {
		begun := time.Now()
		p := weir.New(1, weir.ExpireAfter(time.Second), weir.OnError(func(error) { time.Sleep(time.Hour) }))
		g := p.Group(t.Context())
		g.Go(func(context.Context) error { time.Sleep(time.Second + 700*time.Microsecond); return nil })
		synctest.Wait()
		for range 2 { // the second is that of the worker, as the timer is set for a millisecond after the first
			check.OK(t, p.Submit(nothing))
			time.Sleep(500 * time.Microsecond)
		}
		check.OK(t, g.Wait())
		check.Equal(t, "time", time.Since(begun).Round(10*time.Millisecond), time.Second)
		time.Sleep(time.Minute)
		s := p.Stats()
		check.Equal(t, "finished", s.Finished, 1)
		check.Equal(t, "running", s.Running, 1) // the handler, as a part of the task
		p.Close()
		check.Equal(t, "handed back", p.Stats().HandedBack, 2)
		check.Equal(t, "finished in the end", p.Stats().Finished, 1)
	})
}

func TestWaitDoesNotWaitForTasksThatExpireLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		p := weir.New(1, weir.ExpireAfter(time.Second), weir.OnError(func(error) { time.Sleep(2 * time.Second) }))
		v := block(t, p, 1)
		check.OK(t, p.Submit(nothing))
		time.AfterFunc(time.Second/2, func() {
			for range 100 {
				check.OK(t, p.Submit(nothing))
			}
		})
		time.AfterFunc(2*time.Second, v.Open)
		p.Wait()
		check.Equal(t, "time", time.Since(begun).Round(10*time.Millisecond), 3*time.Second)
		p.Close()
	})
}

// The task of Go did not begin, so it has not called runtime.Goexit; and the value of a worker is not broken by the handler.
func TestAHandlerThatExitsOnAWorkerIsNoTaskThatDoes(t *testing.T) {
	late := func(give func()) {
		for range 2 {
			give()
			time.Sleep(500 * time.Microsecond)
		}
	}
	check.Bubble(t, "Go", func(t *testing.T) {
		var got errorsOf
		p := weir.New(1, weir.ExpireAfter(time.Second), weir.OnError(func(err error) {
			got.add(err)
			runtime.Goexit()
		}))
		check.OK(t, p.Submit(func() { time.Sleep(time.Second + 700*time.Microsecond) }))
		synctest.Wait()
		late(func() { check.OK(t, p.Go(t.Context(), never(t))) })
		p.Close()
		check.Equal(t, "errors", strings.Count(got.String(), weir.ErrExpired.Error()), len(got.list))
		check.Equal(t, "handed back", p.Stats().HandedBack, 2)
	})
	check.Bubble(t, "Stateful", func(t *testing.T) {
		closed := 0
		p := weir.NewStateful(1, func() (int, error) { return 0, nil }, func(int, int) { time.Sleep(time.Second + 700*time.Microsecond) },
			func(int) { closed++ }, weir.ExpireAfter(time.Second), weir.OnError(func(error) { runtime.Goexit() }))
		check.OK(t, p.Invoke(1))
		synctest.Wait()
		late(func() { check.OK(t, p.Invoke(2)) })
		p.Wait()
		check.Equal(t, "values closed", closed, 0)
		p.Close()
	})
}

// Also in a pool that has been there for decades.
func TestAnOldPoolTellsTimes(t *testing.T) {
	for _, years := range []int{1, 9, 10, 18, 19, 40, 100} {
		check.Bubble(t, fmt.Sprint(years), func(t *testing.T) {
			expires, plain := weir.New(1, weir.ExpireAfter(time.Second)), weir.New(1, weir.Measure(1))
			defer expires.Close()
			defer plain.Close()
			sleep(time.Duration(years) * 365 * 24 * time.Hour)
			_, err := weir.Async(t.Context(), expires, constant(1)).Get(t.Context())
			check.OK(t, err)
			for range 2 {
				check.OK(t, plain.Submit(func() { time.Sleep(time.Minute) }))
				check.OK(t, expires.Submit(func() { time.Sleep(time.Minute) })) // the second one expires
			}
			sleep(time.Second)
			check.Equal(t, "oldest", plain.Times().Oldest, time.Second)
			plain.Wait()
			expires.Wait()
			check.Equal(t, "waited", plain.Times().Wait.Quantile(1).Round(time.Minute), time.Minute)
			check.Equal(t, "expired", expires.Stats().HandedBack, 1)
		})
	}
}
