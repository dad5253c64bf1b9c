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
	"weak"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// A cancelled task's context always gives the same reason: it and a context made from
// it agree, even if the contexts above have ended since for another reason.
func TestATasksErrAndCauseAgree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		parent, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		g := p.Group(parent)
		g.Go(func(ctx context.Context) error {
			v := check.NewValve()
			inner := p.Group(ctx)
			inner.Go(func(ctx context.Context) error {
				v.Hold()
				child, stop := context.WithCancel(ctx)
				defer stop()
				for _, c := range []context.Context{ctx, child} {
					check.Equal(t, "Err", c.Err(), context.Canceled)
					check.Equal(t, "Cause", context.Cause(c), errBoom)
				}
				return nil
			})
			synctest.Wait()
			inner.Cancel(errBoom)
			<-parent.Done()
			synctest.Wait()
			v.Open()
			check.Error(t, inner.Wait(), errBoom)
			return nil
		})
		check.Error(t, g.Wait(), context.DeadlineExceeded)
	})
}

// What Err has returned once holds, also while the cancellation comes down only slowly,
// past many others, and a goroutine asks for Done in between.
func TestATasksErrNeverGoesBackToNil(t *testing.T) {
	p := weir.New(3)
	defer p.Close()
	many := check.Scale(5000, 2000)
	flips := 0
	for range 10 {
		ready := make(chan struct{})
		g := p.Group(context.Background()) // of which no scope has a standard context before a task asks for one
		g.Go(func(ctx context.Context) error {
			stops := make([]context.CancelFunc, many)
			for i := range stops {
				_, stops[i] = context.WithCancel(ctx)
			}
			middle := p.Group(ctx)
			middle.Go(func(ctx context.Context) error {
				ctx.Done()
				inner := p.Group(ctx)
				inner.Go(func(ctx context.Context) error {
					close(ready)
					for ctx.Err() == nil {
						runtime.Gosched()
					}
					done := ctx.Done()
					if ctx.Err() == nil {
						flips++
					}
					<-done
					return nil
				})
				return inner.Wait()
			})
			err := middle.Wait()
			for _, stop := range stops {
				stop()
			}
			return err
		})
		<-ready
		g.Cancel(errBoom)
		check.Error(t, g.Wait(), errBoom)
	}
	check.Equal(t, "errors that became nil", flips, 0)
}

// A deferred Cancel, after Wait, begins nothing that the task's context would hold
// until the task ends.
func TestATaskHoldsNoGroupThatItCancelledAfterWait(t *testing.T) {
	p := weir.New(2)
	defer p.Close()
	check.OK(t, run(p, func(ctx context.Context) error {
		groups := make([]weak.Pointer[weir.Group], 200)
		for i := range groups {
			g := p.Group(ctx)
			groups[i] = weak.Make(g)
			g.Go(succeed)
			check.OK(t, g.Wait())
			g.Cancel(nil)
		}
		runtime.GC()
		held := 0
		for _, g := range groups {
			if g.Value() != nil {
				held++
			}
		}
		if held > 20 { // workers may still know some
			t.Errorf("%d of %d groups are held", held, len(groups))
		}
		return ctx.Err()
	}))
}

// Printing a task's context shows where it comes from, and reads nothing that others
// change meanwhile: the race detector checks that.
func TestATasksContextCanBePrintedAtAnyTime(t *testing.T) {
	p := weir.New(4)
	defer p.Close()
	check.Error(t, run(p, func(ctx context.Context) error {
		g := p.Group(ctx)
		g.Go(func(ctx context.Context) error {
			before := fmt.Sprint(ctx)
			for range 100 {
				check.Equal(t, "printed", fmt.Sprint(ctx), before)
			}
			ctx.Done()
			check.Equal(t, "printed after Done", fmt.Sprint(ctx), before)
			return nil
		})
		g.Go(func(ctx context.Context) error {
			ctx.Done()
			return errBoom
		})
		return g.Wait()
	}), errBoom)
}

// foreign is a context of a type that the standard library does not know.
type foreign struct {
	context.Context
	done chan struct{}
}

func (f *foreign) Done() <-chan struct{} { return f.done }

func (f *foreign) Err() error {
	select {
	case <-f.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// A context of the user's own type, or around one, has ended for the group as soon as it has itself: not when a
// goroutine of the standard library has passed that on.
func TestAGroupAsksAContextThatTheStandardLibraryDoesNotKnow(t *testing.T) {
	p := weir.New(2)
	defer p.Close()
	type key struct{}
	for name, around := range map[string]func(context.Context) context.Context{
		"itself":      func(ctx context.Context) context.Context { return ctx },
		"with values": func(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			for range 200 {
				f := &foreign{t.Context(), make(chan struct{})}
				g := p.Group(around(f))
				g.Go(succeed)
				close(f.done)
				g.Go(func(context.Context) error {
					t.Error("a task starts after the end of the context")
					return nil
				})
				check.Equal(t, "TryGo", g.TryGo(succeed), false)
				check.Error(t, g.Wait(), context.DeadlineExceeded)

				f = &foreign{t.Context(), make(chan struct{})}
				g = p.Group(around(f))
				g.Go(succeed)
				for g.Context().Err() == nil && p.Stats().Running > 0 {
					runtime.Gosched()
				}
				close(f.done)
				check.Error(t, g.Wait(), context.DeadlineExceeded)
			}
		})
	}
}

// Whatever it takes to cancel the contexts made from a group's: a task that sees its own done finds the groups cancelled, and no
// other task starts.
func TestNoTaskStartsWhenDoneIsClosed(t *testing.T) {
	p := weir.New(2)
	defer p.Close()
	late := func(context.Context) error {
		t.Error("a task has started after the end of the context")
		return nil
	}
	for name, group := range map[string]*weir.Group{
		"of its own workers": weir.NewGroup(context.Background(), 1),
		"on a pool":          p.Group(context.Background(), weir.Limit(1)),
	} {
		t.Run(name, func(t *testing.T) {
			for range check.Scale(50_000, 5000) { // each makes the cancellation longer
				_, cancel := context.WithCancel(group.Context())
				defer cancel()
			}
			begun := make(chan struct{})
			group.Go(func(ctx context.Context) error {
				inner := p.Group(ctx)
				inner.Go(succeed)
				close(begun)
				<-ctx.Done()
				if group.TryGo(late) || name == "on a pool" && inner.TryGo(late) {
					t.Error("a cancelled group accepts a task")
				}
				return inner.Wait()
			})
			<-begun
			group.Cancel(nil)
			check.Error(t, group.Wait(), context.Canceled)
		})
	}
}

// The contexts that are made from one learn of its end one after the other. A group that takes no task any more is done even so: a
// loop that gives it tasks until then would take thousands of items in vain.
func TestAGroupThatTakesNoTaskIsDone(t *testing.T) {
	p := weir.New(2, weir.Queue(weir.Unbounded))
	defer p.Close()
	type use = func(g *weir.Group) error
	groups := map[string]func(ctx context.Context, use use, opts ...weir.GroupOption) error{
		"its own workers": func(ctx context.Context, use use, opts ...weir.GroupOption) error {
			if len(opts) > 0 {
				return use(weir.NewGroup(ctx, 2, weir.Queue(2)))
			}
			return use(weir.NewGroup(ctx, 2, weir.Queue(weir.Unbounded)))
		},
		"a pool": func(ctx context.Context, use use, opts ...weir.GroupOption) error {
			return use(p.Group(ctx, opts...))
		},
		"a task": func(ctx context.Context, use use, opts ...weir.GroupOption) error {
			outer := p.Group(ctx)
			outer.Go(func(ctx context.Context) error { return use(p.Group(ctx, opts...)) })
			return outer.Wait()
		},
	}
	for kind, parent := range slowContexts {
		for where, group := range groups {
			t.Run("a context "+kind+", a group of "+where, func(t *testing.T) {
				ctx, end := parent(t.Context(), t)
				begun := check.NewValve()
				go func() {
					begun.Hold()
					end(context.Canceled)
				}()
				given, ran := 0, atomic.Int64{}
				check.Error(t, group(ctx, func(g *weir.Group) error {
					g.Context()
					begun.Open()
					for g.Context().Err() == nil {
						given++
						g.Go(func(context.Context) error {
							ran.Add(1)
							return nil
						})
					}
					return g.Wait()
				}, weir.Limit(2)), context.Canceled)
				if vain := given - int(ran.Load()); vain > 6 { // those that run or wait, the next one, and the one that is turned away
					t.Errorf("%d tasks were given in vain", vain)
				}
			})
		}
	}
}

// slowContexts make contexts of which those made from them learn late, or not at all, that they have ended.
var slowContexts = map[string]func(from context.Context, t *testing.T) (ctx context.Context, end context.CancelCauseFunc){
	"of the standard library": slowContext,
	"with values": func(from context.Context, t *testing.T) (context.Context, context.CancelCauseFunc) {
		ctx, end := slowContext(from, t)
		return context.WithValue(ctx, slowKey{}, 1), end
	},
	"of another type": func(from context.Context, t *testing.T) (context.Context, context.CancelCauseFunc) {
		ctx, end := slowContext(from, t)
		return wrappedContext{ctx}, end
	},
	"of another type, without values": func(from context.Context, t *testing.T) (context.Context, context.CancelCauseFunc) {
		ctx, end := slowContext(from, t)
		return foreignContext{ctx}, end
	},
	"never done": func(from context.Context, _ *testing.T) (context.Context, context.CancelCauseFunc) {
		ctx := &endless{Context: from}
		return context.WithValue(ctx, slowKey{}, 1), func(error) { ctx.ended.Store(true) }
	},
}

type (
	slowKey        struct{}
	wrappedContext struct{ context.Context }
)

// slowContext has many others made from it, which the standard library tells one after the other.
func slowContext(from context.Context, t *testing.T) (context.Context, context.CancelCauseFunc) {
	ctx, end := context.WithCancelCause(from)
	for range check.Size(1000, 1000, 5000) {
		_, stop := context.WithCancel(ctx)
		t.Cleanup(stop)
	}
	return ctx, end
}

// endless is a context that ends without closing its Done.
type endless struct {
	context.Context
	ended atomic.Bool
}

func (e *endless) Err() error {
	if e.ended.Load() {
		return context.Canceled
	}
	return nil
}

// The end of the context that a group was made from counts before what a task returns afterwards, and none starts any more.
func TestAGroupKnowsThatItsContextHasEnded(t *testing.T) {
	p, other := weir.New(4), weir.New(4)
	defer p.Close()
	defer other.Close()
	cause := errors.New("the end")
	groups := map[string]func(ctx context.Context) *weir.Group{
		"its own workers": func(ctx context.Context) *weir.Group { return weir.NewGroup(ctx, 2) },
		"the pool":        func(ctx context.Context) *weir.Group { return p.Group(ctx, weir.Limit(2)) },
		"another pool":    func(ctx context.Context) *weir.Group { return other.Group(ctx, weir.Limit(2)) },
	}
	for kind, slow := range slowContexts {
		for where, group := range groups {
			for _, inTask := range []bool{false, true} {
				for _, returns := range []error{nil, errBoom} {
					for _, asked := range []bool{false, true} {
						name := fmt.Sprintf("a context %s, a group of %s, in a task %v, the task returns %v, asked %v", kind, where, inTask, returns, asked)
						look := func(from context.Context) error {
							ctx, end := slow(from, t)
							g := group(ctx)
							if asked {
								g.Context()
							}
							g.Go(func(context.Context) error {
								go end(cause)
								for ctx.Err() == nil {
									runtime.Gosched()
								}
								if g.TryGo(func(context.Context) error { return nil }) {
									t.Error(name + ": a task is accepted")
								}
								g.Go(func(context.Context) error { t.Error(name + ": a task starts"); return nil })
								return returns
							})
							if err := g.Wait(); err != context.Cause(ctx) { //nolint:errorlint // as is
								t.Errorf("%s: Wait returns %v", name, err)
							}
							return nil
						}
						if !inTask {
							check.OK(t, look(t.Context()))
							continue
						}
						outer := p.Group(t.Context())
						outer.Go(look)
						check.OK(t, outer.Wait())
					}
				}
			}
		}
	}
}

// A context of the user's own is not looked into: others may change it meanwhile.
func TestATasksContextPrintsNoneOfItsParentsFields(t *testing.T) {
	type custom struct {
		context.Context
		secret int
	}
	g := weir.NewGroup(&custom{context.Background(), 42}, 1)
	g.Go(func(ctx context.Context) error {
		check.Equal(t, "the task's context", fmt.Sprint(ctx), "*weir_test.custom.Task")
		return nil
	})
	check.OK(t, g.Wait())
}

// A scope is cancelled before what is made from it, and its standard context after that.
func TestAContextThatHasEndedHasItsCause(t *testing.T) {
	cause := errors.New("cause")
	for range check.Scale(50, 10) {
		p := weir.New(2)
		g := p.Group(context.Background()) // of which no scope has a standard context before a task asks for one
		ready := make(chan struct{})
		g.Go(func(ctx context.Context) error {
			done := ctx.Done()
			var below [500]*weir.Group
			for i := range below {
				below[i] = p.Group(ctx)
				_ = below[i].Context().Done() // it is in the list, with a standard context
			}
			close(ready)
			for ctx.Err() == nil {
				runtime.Gosched()
			}
			if got := context.Cause(ctx); !errors.Is(got, cause) {
				t.Errorf("the context has ended, and its cause is %v", got)
			}
			<-done
			for _, g := range below {
				_ = g.Wait()
			}
			return nil
		})
		<-ready
		g.Cancel(cause)
		check.Error(t, g.Wait(), cause)
		p.Close()
	}
}

// A task that sees its group cancelled, or the context above ended, finds that its own groups are: they take no more tasks, and Wait says so. Many contexts,
// or groups, that end with that of the group delay what comes after.
func TestATaskThatSeesTheEndFindsItsGroupsCancelled(t *testing.T) {
	nothing := func(context.Context) error { return nil }
	done := func(ctx context.Context) { <-ctx.Done() }
	err := func(ctx context.Context) {
		for ctx.Err() == nil {
			runtime.Gosched()
		}
	}
	for name, c := range map[string]struct {
		sees   func(ctx context.Context)
		parent bool // that ends, not the group
		asked  bool // for the context of the inner group before
		later  bool // the inner group is made when the end was seen, by a task of another one
		groups bool // delay it, not contexts
	}{
		"Done":                             {sees: done},
		"Err":                              {sees: err, groups: true},
		"Done of the parent":               {sees: done, parent: true},
		"Done of the parent, asked before": {sees: done, parent: true, asked: true},
		"Done, and the group comes later":  {sees: done, later: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := weir.New(4)
			defer p.Close()
			parent, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			ready := make(chan struct{})
			look := func(ctx context.Context) error {
				for range 5000 {
					if c.groups {
						g := p.Group(ctx)
						g.Go(nothing)
						defer g.Wait() //nolint:errcheck // the last one tells
					} else {
						_, stop := context.WithCancel(ctx)
						defer stop()
					}
				}
				inner := p.Group(ctx)
				inner.Go(nothing)
				if c.asked {
					inner.Context()
				}
				close(ready)
				c.sees(ctx)
				if c.later {
					inner = p.Group(ctx)
				} else {
					check.Equal(t, "TryGo", inner.TryGo(nothing), false)
				}
				inner.Go(func(context.Context) error { t.Error("a task of a cancelled group ran"); return nil })
				check.Error(t, inner.Wait(), errBoom)
				return nil
			}
			g := p.Group(parent)
			g.Go(func(ctx context.Context) error {
				if !c.later {
					return look(ctx)
				}
				for range 5000 {
					_, stop := context.WithCancel(ctx)
					defer stop()
				}
				between := p.Group(ctx)
				between.Go(look)
				return between.Wait()
			})
			<-ready
			if c.parent {
				cancel(errBoom)
			} else {
				g.Cancel(errBoom)
			}
			check.Error(t, g.Wait(), errBoom)
		})
	}
}

// Wait learns that the context ended that the group was made from, while the tasks of others have all workers.
func TestWaitLearnsOfTheEndOfTheParentWhileWorkersAreBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, parent := range map[string]func() (context.Context, context.CancelFunc){
			"standard": func() (context.Context, context.CancelFunc) { return context.WithTimeout(t.Context(), time.Second) },
			"own": func() (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				return foreignContext{ctx}, cancel
			},
			"of a task that is over": func() (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				var of context.Context
				above := weir.NewGroup(ctx, 1)
				above.Go(func(ctx context.Context) error { of = ctx; return nil })
				synctest.Wait()
				return of, func() { cancel(); _ = above.Wait() }
			},
		} {
			p := weir.New(1)
			v := check.NewValve()
			check.Error(t, p.Submit(v.Hold), nil)
			ctx, cancel := parent()
			g := p.Group(ctx)
			g.Go(func(context.Context) error { t.Errorf("%s: a task of a cancelled group ran", name); return nil })
			begun := time.Now()
			check.Error(t, g.Wait(), context.DeadlineExceeded)
			check.Equal(t, name, time.Since(begun), time.Second)
			v.Open()
			cancel()
			p.Close()
		}
	})
}

// foreignContext is one that the standard library does not know as its own.
type foreignContext struct{ context.Context }

func (foreignContext) Value(any) any { return nil }

// earlyContext is one whose Done is closed before Err says so, as a program's own may be. The standard library panics where it makes another one from it, so Hedge is not here.
type earlyContext struct {
	context.Context
	done chan struct{}
}

func (c earlyContext) Done() <-chan struct{} { return c.done }

func TestACallThatGivesUpIsNoSuccess(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context, full *weir.Pool) error{
		"SubmitContext": func(ctx context.Context, full *weir.Pool) error { return full.SubmitContext(ctx, func() {}) },
		"Do": func(ctx context.Context, full *weir.Pool) error {
			return full.Do(ctx, func(context.Context) error { return nil })
		},
		"WaitContext": func(ctx context.Context, full *weir.Pool) error { return full.WaitContext(ctx) },
		"Async": func(ctx context.Context, full *weir.Pool) error {
			_, err := weir.Async(ctx, full, func(context.Context) (int, error) { return 1, nil }).Get(ctx)
			return err
		},
		"Get": func(ctx context.Context, _ *weir.Pool) error {
			p := weir.New(1)
			defer p.Close()
			_, err := weir.Async(context.Background(), p, func(context.Context) (int, error) { time.Sleep(time.Minute); return 1, nil }).Get(ctx)
			return err
		},
		"Once": func(ctx context.Context, full *weir.Pool) error {
			_, err := weir.NewOnce[int, int](full).Do(ctx, 1, func(context.Context) (int, error) { return 1, nil })
			return err
		},
		"Rate": func(ctx context.Context, _ *weir.Pool) error {
			r := weir.Rate(1, time.Hour, 1)
			return errors.Join(r.Wait(context.Background()), r.Wait(ctx))
		},
		"Stateful": func(ctx context.Context, _ *weir.Pool) error {
			p := weir.NewStateful(1, func() (int, error) { return 0, nil }, func(int, int) { time.Sleep(time.Minute) }, nil)
			defer p.Close()
			return errors.Join(p.Invoke(1), p.Call(ctx, 2))
		},
		"Group.Wait": func(ctx context.Context, _ *weir.Pool) error {
			p := weir.New(1)
			defer p.Close()
			var busy sync.WaitGroup
			busy.Add(1)
			defer busy.Done()
			err := p.Submit(busy.Wait)
			g := p.Group(context.WithValue(ctx, key{}, 1)) // else it is the standard library that panics
			g.Go(func(context.Context) error { return nil })
			return errors.Join(err, g.Wait())
		},
		"Shutdown": func(ctx context.Context, full *weir.Pool) error {
			_, err := full.Shutdown(ctx)
			if s, ok := errors.AsType[*weir.ShutdownError](err); ok {
				return s.Cause
			}
			return err
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			full := weir.New(1, weir.Queue(0))
			defer full.Close()
			check.OK(t, full.Submit(func() { time.Sleep(time.Minute) }))
			synctest.Wait()
			ctx := earlyContext{t.Context(), make(chan struct{})}
			time.AfterFunc(time.Second, func() { close(ctx.done) })
			if err := call(ctx, full); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: error is %v", name, err)
			}
		})
	}
}
