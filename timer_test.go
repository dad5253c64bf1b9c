package weir_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// runLog notes what runs, and when.
type runLog struct {
	begin time.Time
	lines []string
}

func (l *runLog) note(name string) func(context.Context) {
	return func(context.Context) { l.lines = append(l.lines, fmt.Sprintf("%s %v", name, time.Since(l.begin))) }
}

func newRunLog() *runLog { return &runLog{begin: time.Now()} }

func TestTimersRunTheirTasksWhenTheyAreDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		l := newRunLog()
		p.After(3*time.Second, l.note("c"))
		a := p.After(time.Second, l.note("a"))
		p.At(time.Now().Add(2*time.Second), l.note("b"))
		p.At(time.Now().Add(-time.Hour), l.note("past"))
		p.After(-1, l.note("now"))
		check.Equal(t, "next", a.Next(), l.begin.Add(time.Second))
		rest(p, time.Hour)
		check.Equal(t, "ran", fmt.Sprint(l.lines), "[past 0s now 0s a 1s b 2s c 3s]")
		check.Equal(t, "next of one that has run", a.Next(), time.Time{})
		check.Equal(t, "stopped one that has run", a.Stop(), false)
		check.Equal(t, "was pending", a.Reset(time.Second), false)
		rest(p, time.Minute)
		check.Equal(t, "ran in the end", l.lines[len(l.lines)-1], "a 1h0m1s")
	})
}

func TestATimerThatIsStoppedDoesNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		l := newRunLog()
		undue := p.After(time.Second, l.note("undue"))
		check.Equal(t, "stopped", undue.Stop(), true)
		check.Equal(t, "stopped again", undue.Stop(), false)
		v := block(t, p, 1)
		queued := p.After(0, l.note("queued"))
		sleep(time.Second)
		check.Equal(t, "stopped in the queue", queued.Stop(), true)
		moved := p.After(time.Second, l.note("moved"))
		check.Equal(t, "was pending", moved.Reset(time.Minute), true)
		v.Open()
		p.Wait()
		rest(p, time.Hour)
		check.Equal(t, "ran", fmt.Sprint(l.lines), "[moved 1m1s]")
		if s := p.Stats(); s.Queued != 0 || s.Running != 0 {
			t.Errorf("left: %+v", s)
		}
	})
}

func TestEveryRunsAgainAndNeverTwiceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(4)
		defer p.Close()
		l := newRunLog()
		var running check.Gauge
		n := 0
		x := p.Every(time.Second, func(ctx context.Context) {
			running.Enter()
			defer running.Leave()
			l.note("tick")(ctx)
			if n++; n == 2 {
				time.Sleep(2500 * time.Millisecond) // misses two
			}
		})
		rest(p, 6*time.Second+1)
		check.Equal(t, "ran", fmt.Sprint(l.lines), "[tick 1s tick 2s tick 5s tick 6s]")
		check.Equal(t, "missed", x.Missed(), 2)
		check.Equal(t, "at once", running.Peak.Load(), 1)
		p.Pause()
		sleep(10 * time.Second)
		check.Equal(t, "missed in a pause, of ten, but the one that is queued", x.Missed(), 2+9)
		p.Resume()
		synctest.Wait()
		check.Equal(t, "ran", l.lines[len(l.lines)-1], "tick 16.000000001s")
		x.Reset(time.Minute)
		rest(p, 3*time.Minute)
		check.Equal(t, "ran", fmt.Sprint(l.lines[len(l.lines)-2:]), "[tick 2m16.000000001s tick 3m16.000000001s]")
		check.Equal(t, "stopped", x.Stop(), true)
		n = len(l.lines)
		rest(p, time.Hour)
		check.Equal(t, "ran after Stop", len(l.lines)-n, 0)
	})
}

func TestEveryGoesOnAfterAPanicAndMayStopItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		panics := 0
		p := weir.New(1, weir.OnPanic(func(*weir.Panic) { panics++ }), weir.OnError(func(error) {}))
		defer p.Close()
		n := 0
		own := make(chan *weir.Timer, 1)
		own <- p.Every(time.Second, func(context.Context) {
			switch n++; n {
			case 1:
				panic("no")
			case 2:
				runtime.Goexit()
			case 4:
				(<-own).Stop()
			}
		})
		rest(p, time.Hour)
		check.Equal(t, "runs", n, 4)
		check.Equal(t, "panics", panics, 1)
	})
}

func TestTimersOfAPoolThatEnds(t *testing.T) {
	for _, name := range []string{"Close", "Shutdown", "Shutdown too late"} {
		check.Bubble(t, name, func(t *testing.T) {
			var told []error
			p := weir.New(1, weir.OnError(func(err error) { told = append(told, err) }))
			l := newRunLog()
			lane := p.Lane(1)
			lane.After(time.Hour, l.note("lane"))
			p.After(2*time.Hour, l.note("second"))
			p.At(time.Now().Add(time.Hour), l.note("first"))
			p.Every(3*time.Hour, l.note("third"))
			stopped := p.After(time.Hour, l.note("stopped"))
			stopped.Stop()
			v := block(t, p, 1)
			check.OK(t, lane.Submit(func() { l.note("queued in the lane")(t.Context()) }))
			check.OK(t, p.Submit(func() { l.note("queued")(t.Context()) }))
			var unrun []func()
			var err error
			switch name {
			case "Close":
				v.Open()
				p.Close()
				check.Equal(t, "told", fmt.Sprint(told), "[weir: pool closed, timers dropped: 3]")
			case "Shutdown":
				v.Open()
				unrun, err = p.Shutdown(t.Context())
				check.OK(t, err)
			default:
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				unrun, err = p.Shutdown(ctx)
				check.Error(t, err, context.Canceled)
				v.Open()
			}
			for _, task := range unrun {
				task()
			}
			p.Close()
			want := map[string]string{"Close": "[queued 0s queued in the lane 0s]"}[name]
			if want == "" {
				want = "[queued 0s queued in the lane 0s first 0s lane 0s second 0s]"
			}
			check.Equal(t, "ran", fmt.Sprint(l.lines), want)
			n := len(told)
			x := p.After(0, nothingWith)
			synctest.Wait() // the handler may be called by several goroutines at once
			p.Every(1, nothingWith)
			synctest.Wait()
			check.Equal(t, "told on a closed pool", len(told)-n, 2)
			check.Error(t, told[n], weir.ErrClosed)
			check.Equal(t, "pending", x.Reset(1) || x.Stop() || !x.Next().IsZero(), false)
			sleep(24 * time.Hour)
		})
	}
}

func nothingWith(context.Context) {}

// sleep sleeps in a bubble, and waits for what others do then.
func sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// rest is sleep, and orders the caller after the tasks of p.
func rest(p *weir.Pool, d time.Duration) {
	sleep(d)
	p.Wait()
}

func TestATaskOfATimerHasAContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		var cause error
		p.After(time.Second, func(ctx context.Context) {
			g := p.Group(ctx)
			g.Go(succeed)
			check.OK(t, g.Wait())
			<-ctx.Done()
			cause = context.Cause(ctx)
		})
		sleep(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.Shutdown(ctx)
		check.Error(t, err, context.DeadlineExceeded)
		p.Close()
		check.Error(t, cause, weir.ErrClosed)
	})
}

func TestWhatIsDueWaitsForRoomInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Queue(1))
		defer p.Close()
		l := newRunLog()
		v := block(t, p, 1)
		for i := range 5 {
			p.After(time.Duration(i), l.note(fmt.Sprint(i)))
		}
		sleep(time.Second)
		check.Equal(t, "queued and waiting", fmt.Sprint(p.Stats().Queued, p.Stats().Waiting), "1 1")
		v.Open()
		synctest.Wait()
		check.Equal(t, "ran", fmt.Sprint(l.lines), "[0 1s 1 1s 2 1s 3 1s 4 1s]")
	})
	synctest.Test(t, func(t *testing.T) {
		var told []error
		p := weir.New(1, weir.Queue(0), weir.MaxWaiting(0), weir.OnError(func(err error) { told = append(told, err) }))
		defer p.Close()
		v := block(t, p, 1)
		p.After(0, nothingWith)
		sleep(time.Second)
		v.Open()
		check.Equal(t, "told", len(told), 1)
		check.Error(t, told[0], weir.ErrFull)
	})
	synctest.Test(t, func(t *testing.T) { // of both clocks
		p := weir.New(1, weir.Queue(0))
		defer p.Close()
		l := newRunLog()
		v := block(t, p, 1)
		p.After(time.Second, l.note("waits for room"))
		p.After(4*time.Minute, l.note("d"))
		p.At(time.Now().Add(3*time.Minute), l.note("c"))
		p.After(time.Minute, l.note("a"))
		p.At(time.Now().Add(time.Minute), l.note("b"))
		sleep(time.Hour)
		v.Open()
		rest(p, time.Second)
		check.Equal(t, "ran", fmt.Sprint(l.lines), "[waits for room 1h0m0s a 1h0m0s b 1h0m0s c 1h0m0s d 1h0m0s]")
	})
}

// TestTimersDoWhatAListDoes compares random timers with a list that is looked through each nanosecond.
func TestTimersDoWhatAListDoes(t *testing.T) {
	type reference struct {
		timer  *weir.Timer
		due    int // -1 if it is not pending
		every  int
		ran    atomic.Int32
		should int32
	}
	for seed := range uint64(check.Scale(60, 10)) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			p := weir.New(weir.Unbounded, weir.OnError(func(error) {}))
			defer p.Close()
			begin, now := time.Now(), 0
			var all []*reference
			for range 200 {
				switch x := r.IntN(10); {
				case x < 3 || len(all) == 0:
					d := r.IntN(50) + 1
					x := &reference{due: now + d}
					run := func(context.Context) { x.ran.Add(1) }
					switch r.IntN(3) {
					case 0:
						x.timer = p.After(time.Duration(d), run)
					case 1:
						x.timer = p.At(begin.Add(time.Duration(now+d)), run)
					default:
						x.every = d
						x.timer = p.Every(time.Duration(d), run)
					}
					all = append(all, x)
				case x < 5:
					x := all[r.IntN(len(all))]
					check.Equal(t, "stopped", x.timer.Stop(), x.due >= 0)
					x.due = -1
				case x < 7:
					x, d := all[r.IntN(len(all))], r.IntN(50)+1
					check.Equal(t, "was pending", x.timer.Reset(time.Duration(d)), x.due >= 0)
					if x.due = now + d; x.every > 0 {
						x.every = d
					}
				default:
					until := now + r.IntN(20)
					for now < until {
						now++
						for _, x := range all {
							if x.due == now {
								x.should++
								if x.due = -1; x.every > 0 {
									x.due = now + x.every
								}
							}
						}
					}
					rest(p, time.Until(begin.Add(time.Duration(now))))
				}
				for i, x := range all {
					next := time.Time{}
					if x.due >= 0 {
						next = begin.Add(time.Duration(x.due))
					}
					if x.ran.Load() != x.should || !x.timer.Next().Equal(next) {
						t.Fatalf("seed %d, timer %d at %d: ran %d times, want %d; next %v, want %v", seed, i, now, x.ran.Load(), x.should, x.timer.Next(), next)
					}
				}
			}
		})
	}
}

func TestManyTimersAreSmall(t *testing.T) {
	n := check.Scale(100_000, 20_000)
	p := weir.New(2, weir.OnError(func(err error) {
		if e, ok := errors.AsType[*weir.TimersError](err); !ok || e.Dropped != n/2 {
			t.Errorf("told: %v", err)
		}
	}))
	list := make([]*weir.Timer, n)
	before := heap()
	begin := time.Now()
	for i := range list {
		list[i] = p.After(time.Hour+time.Duration(rand.IntN(1e9)), nothingWith)
	}
	set := time.Since(begin)
	if each := (heap() - before) / uint64(n); each > 200 && !check.Race {
		t.Errorf("a timer takes %d bytes", each)
	}
	rand.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
	begin = time.Now()
	for _, x := range list[:n/2] {
		x.Stop()
	}
	stop := time.Since(begin)
	begin = time.Now()
	p.Close()
	t.Logf("set %v, stop %v, Close %v each; %d bytes", set/time.Duration(n), stop/time.Duration(n/2), time.Since(begin)/time.Duration(n), (heap()-before)/uint64(n))
	runtime.KeepAlive(list)
}

func TestTimersUnderStressRunOnceOrAreStopped(t *testing.T) {
	p := weir.New(4)
	var ran, stopped, all atomic.Int64
	var w [4]func()
	for i := range w {
		w[i] = func() {
			r := rand.New(rand.NewPCG(uint64(i), 2))
			var mine []*weir.Timer
			for range check.Scale(20_000, 2000) {
				all.Add(1)
				mine = append(mine, p.After(time.Duration(r.IntN(2000))*time.Microsecond, func(context.Context) { ran.Add(1) }))
				if r.IntN(2) == 0 {
					j := r.IntN(len(mine))
					if mine[j].Stop() {
						stopped.Add(1)
					}
					mine = slices.Delete(mine, j, j+1)
				}
			}
		}
	}
	var done sync.WaitGroup
	for _, work := range w {
		done.Go(work)
	}
	done.Wait()
	unrun, err := p.Shutdown(t.Context())
	check.OK(t, err)
	check.Equal(t, "run, stopped or handed back", ran.Load()+stopped.Load()+int64(len(unrun)), all.Load())
}

func TestATimerThatIsSetAnewOverlapsNoRunAndLeavesNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(4)
		defer p.Close()
		var g check.Gauge
		x := p.Every(time.Second, func(context.Context) {
			g.Enter()
			defer g.Leave()
			time.Sleep(10 * time.Second)
		})
		sleep(1500 * time.Millisecond)
		check.Equal(t, "stopped", x.Stop(), true)
		x.Reset(time.Second)
		sleep(time.Minute)
		x.Stop()
		check.Equal(t, "at once", g.Peak.Load(), 1)
	})
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		v := block(t, p, 1)
		l := newRunLog()
		x := p.After(0, l.note("x"))
		for range 4 {
			sleep(time.Second)
			x.Reset(time.Second)
		}
		sleep(time.Minute)
		check.Equal(t, "stopped in the queue", x.Stop(), true)
		for i := range 5 {
			p.After(time.Second, l.note(fmt.Sprint(i)))
		}
		sleep(2 * time.Second)
		v.Open()
		p.Wait()
		check.Equal(t, "ran", fmt.Sprint(l.lines), "[0 1m6s 1 1m6s 2 1m6s 3 1m6s 4 1m6s]")
	})
}

func TestHandlersOfTimersMayExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Queue(0), weir.MaxWaiting(0), weir.OnError(func(error) { runtime.Goexit() }))
		v := block(t, p, 1)
		p.After(0, nothingWith)
		sleep(time.Second)
		v.Open()
		p.Wait()
		ran := false
		p.After(0, func(context.Context) { ran = true })
		rest(p, time.Second)
		check.Equal(t, "ran", ran, true)
		p.After(time.Hour, nothingWith)
		p.Close()
		check.Equal(t, "closed", p.Stats().Closed, true)
		told := 0
		l := p.Lane(1, weir.OnError(func(error) { told++ }))
		l.After(time.Hour, nothingWith)
		synctest.Wait()
		check.Equal(t, "told", told, 1)
	})
}

// refusesSlowly returns a pool that refuses all tasks until v is opened, and whose handler of errors is busy until going is closed, and counts.
func refusesSlowly(t *testing.T) (p *weir.Pool, v *check.Valve, going chan struct{}, told *int) {
	going, told = make(chan struct{}), new(int)
	p = weir.New(1, weir.Queue(0), weir.MaxWaiting(0), weir.OnError(func(error) {
		<-going
		*told++
	}))
	return p, block(t, p, 1), going, told
}

func TestASlowHandlerOfErrorsHoldsUpNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, v, going, told := refusesSlowly(t)
		for range 10 {
			p.After(0, nothingWith) // is dropped
		}
		sleep(time.Second)
		v.Open()
		p.Wait()
		runs := 0
		p.After(1500*time.Millisecond, func(context.Context) { runs++ })
		x := p.Every(time.Second, func(context.Context) { runs++ })
		rest(p, 10*time.Second+time.Millisecond)
		check.Equal(t, "runs while the handler is busy", runs, 11)
		check.Equal(t, "missed", x.Missed(), 0)
		x.Stop()

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		_, err := p.Shutdown(ctx)
		check.OK(t, err)
		check.Equal(t, "Shutdown waits for the handler", time.Since(begin), time.Second)
		go func() {
			time.Sleep(time.Second)
			close(going)
		}()
		p.Close()
		check.Equal(t, "told when Close returns", *told, 10)
	})
}

// Many that are refused while the handler is slow stop the timers at last, so that their reports do not fill the memory.
func TestReportsOfTimersThatAreNotMadeHaveABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, v, going, told := refusesSlowly(t)
		const tasks = 10_000
		for range tasks {
			p.After(time.Second, nothingWith)
		}
		sleep(time.Minute)
		check.Equal(t, "timers that wait", p.Stats().Timers > tasks/2, true)
		close(going)
		sleep(time.Minute)
		check.Equal(t, "told", *told, tasks)
		v.Open()
		p.Close()
	})
}

func TestAHandlerOfPanicsThatExitsDoesNotStopEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.OnPanic(func(*weir.Panic) { runtime.Goexit() }))
		x := p.Every(time.Second, func(context.Context) { panic(errBoom) })
		rest(p, 10*time.Second+time.Millisecond)
		check.Equal(t, "missed", x.Missed(), 0)
		check.Equal(t, "panicked", p.Stats().Panicked, 10)
		p.Close()
	})
}

// A handler that exits does not end the caller of After.
func TestAfterOnAClosedPoolReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.OnError(func(error) { runtime.Goexit() }))
		p.Close()
		check.Equal(t, "After ends its goroutine", check.Exits(func() { p.After(0, nothingWith) }), false)
	})
}

func TestStatsCountTimersAndTellOfARate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Rate(1, time.Minute, 1), weir.OnError(func(error) {}))
		nothing := func(context.Context) {}
		x := p.After(time.Hour, nothing)
		p.At(time.Now().Add(2*time.Hour), nothing)
		p.After(time.Second, nothing)
		every := p.Every(3*time.Hour, nothing)
		check.Equal(t, "timers", p.Stats().Timers, 4)
		rest(p, time.Second)
		check.Equal(t, "timers when one was due", p.Stats().Timers, 3)
		x.Stop()
		x.Stop()
		check.Equal(t, "when another was stopped", p.Stats().Timers, 2)
		every.Reset(time.Hour)
		check.Equal(t, "when one was set anew", p.Stats().Timers, 2)
		check.Equal(t, "a task that waits for its turn, of none", p.Stats().Throttled, false)
		check.OK(t, p.Submit(func() {}))
		synctest.Wait()
		s := p.Stats()
		check.Equal(t, "a task that waits for its turn", s.Throttled && s.Queued == 1 && s.Running == 0, true)
		time.Sleep(time.Minute)
		p.Wait()
		check.Equal(t, "when it had its turn", p.Stats().Throttled, false)
		p.Close()
		check.Equal(t, "timers of a closed pool", p.Stats().Timers, 0)
	})
}

func TestATimerCostsTheSameHoweverManyArePending(t *testing.T) {
	check.Flat(t, 2000, func(n int) (f, end func()) {
		p := weir.New(1, weir.OnError(func(error) {}))
		pending := make([]*weir.Timer, n)
		for i := range pending {
			pending[i] = p.After(time.Hour+time.Duration(rand.Int64N(int64(time.Hour))), func(context.Context) {})
		}
		return func() {
			for i := range 100 {
				x := p.After(time.Hour/2, func(context.Context) {}) // the first to be due
				x.Stop()
				pending[i*17].Reset(2 * time.Hour)
				p.Stats()
			}
		}, p.Close
	})
}

func TestResetOnAClosedPoolLosesNoQueuedRun(t *testing.T) {
	check.Bubble(t, "one that is queued", func(t *testing.T) {
		ran := false
		p := weir.New(1)
		open := make(chan struct{})
		must(p.Submit(func() { <-open }))
		x := p.After(0, func(context.Context) { ran = true })
		synctest.Wait()
		closed := make(chan struct{})
		go func() { p.Close(); close(closed) }()
		synctest.Wait()
		check.Equal(t, "prevented a run", x.Reset(time.Hour), false)
		close(open)
		<-closed
		check.Equal(t, "it has run", ran, true)
	})
}

// The handler of errors gets the task itself, however far it had come: a program that saves what is left at its end needs it.
func TestATimersTaskThatWasQueuedIsHandedBackWithItself(t *testing.T) {
	for _, way := range []string{"Shutdown", "Shutdown, of a lane", "ExpireAfter"} {
		check.Bubble(t, way, func(t *testing.T) {
			var dropped []*weir.DroppedError
			opts := []weir.Option{weir.OnError(func(err error) {
				if d, ok := errors.AsType[*weir.DroppedError](err); ok {
					dropped = append(dropped, d)
				}
			})}
			if way == "ExpireAfter" {
				opts = append(opts, weir.ExpireAfter(time.Second))
			}
			p := weir.New(1, opts...)
			q := p
			if way == "Shutdown, of a lane" {
				q = p.Lane(1, opts...)
			}
			v := block(t, p, 1)
			l := newRunLog()
			q.After(time.Second, l.note("after"))
			q.At(time.Now().Add(2*time.Second), l.note("at"))
			every := q.Every(3*time.Second, l.note("every"))
			sleep(3 * time.Second)
			every.Stop() // its run is queued, and is not handed back
			want := weir.ErrExpired
			if way == "ExpireAfter" {
				sleep(time.Minute)
			} else {
				want = weir.ErrClosed
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				unrun, err := p.Shutdown(ctx)
				check.Error(t, err, context.Canceled)
				check.Equal(t, "unrun", len(unrun), 0)
			}
			v.Open()
			p.Close()
			for _, d := range dropped {
				check.Error(t, d, want)
				task, ok := d.Arg.(func(context.Context))
				check.Equal(t, "the handler got a task", ok, true)
				if ok {
					task(t.Context())
				}
			}
			lines := slices.Clone(l.lines)
			for i := range lines {
				lines[i], _, _ = strings.Cut(lines[i], " ")
			}
			check.Equal(t, "handed back", fmt.Sprint(lines), "[after at]")
		})
	}
	check.Bubble(t, "a panic has none", func(t *testing.T) {
		var got []any
		p := weir.New(1, weir.OnPanic(func(p *weir.Panic) { got = append(got, p.Arg) }))
		p.After(0, func(context.Context) { panic("of a task") })
		sleep(time.Second)
		p.Close()
		check.Equal(t, "Arg", fmt.Sprint(got), "[<nil>]")
	})
}

// Each Close returns when all is done: also when the report is made that another one has begun.
func TestEachCloseWaitsForTheReportOfTimersThatWereDropped(t *testing.T) {
	for _, lane := range []bool{false, true} {
		check.Bubble(t, fmt.Sprintf("lane=%t", lane), func(t *testing.T) {
			told := false
			p := weir.New(1, weir.OnError(func(error) {
				time.Sleep(time.Second)
				told = true
			}))
			of := p
			if lane {
				of = p.Lane(1)
			}
			of.After(time.Hour, func(context.Context) {})
			go p.Close()
			synctest.Wait()
			p.Close()
			check.Equal(t, "the dropped timer is reported", told, true)
		})
	}
}

// A handler that tries again, and learns that the pool is closed, tries again for that as well.
func TestAHandlerThatCallsAfterOnAClosedPoolIsNotCalledForThat(t *testing.T) {
	for _, pending := range []bool{false, true} {
		check.Bubble(t, fmt.Sprint("pending: ", pending), func(t *testing.T) {
			log := check.Log(t)
			var p *weir.Pool
			var calls atomic.Int32
			p = weir.New(1, weir.OnError(func(error) {
				if calls.Add(1) < 100 {
					p.After(0, nothingWith)
				}
			}))
			if pending {
				p.After(time.Hour, nothingWith)
			}
			p.Close()
			if !pending {
				p.After(0, nothingWith)
			}
			synctest.Wait()
			check.Equal(t, "calls of the handler", calls.Load(), 1)
			check.Equal(t, "logged", strings.Count(log.String(), weir.ErrClosed.Error()), 1)
		})
	}
}

// A pool with one timer left keeps no room for the many that it had, and does not look at the time of day for one that was stopped.
func TestTimersThatAreOverLeaveNothing(t *testing.T) {
	check.Bubble(t, "", func(t *testing.T) {
		p := weir.New(1, weir.Queue(weir.Unbounded))
		defer p.Close()
		p.Every(time.Hour, nothingWith)
		at := p.At(time.Now().Add(24*time.Hour), nothingWith)
		for range 10_000 {
			p.After(time.Minute, nothingWith)
		}
		at.Stop()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		timers := reflect.ValueOf(p).Elem().FieldByName("cut").Elem().FieldByName("timers").Elem()
		if steady, wall := timers.FieldByName("steady").Cap(), timers.FieldByName("wall").Len(); steady > 100 || wall > 0 {
			t.Errorf("room for %d timers, and %d by the time of day", steady, wall)
		}
	})
}
