package weir_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

// starts are the times at which tasks have begun.
type starts struct {
	begin time.Time
	mu    sync.Mutex
	at    []time.Duration
}

func newStarts() *starts { return &starts{begin: time.Now()} }

func (s *starts) note() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = append(s.at, time.Since(s.begin))
}

// even checks that the first burst tasks began at once, and then one in each of every.
func (s *starts) even(t *testing.T, n, burst int, every time.Duration) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	want := make([]time.Duration, n)
	for i := range want {
		want[i] = time.Duration(max(0, i-burst+1)) * every
	}
	slices.Sort(s.at)
	if !slices.Equal(s.at, want) {
		t.Errorf("tasks began at %v, want %v", s.at, want)
	}
}

const rateEvery = 100 * time.Millisecond

func newRate() *weir.RateLimit { return weir.Rate(10, time.Second, 3) }

// inTurn submits to one pool and to the other.
func inTurn(run func(), one, other *weir.Pool) (submit func()) {
	return func() {
		must(one.Submit(run))
		one, other = other, one
	}
}

func TestTasksOfAPoolBeginAtItsRate(t *testing.T) {
	for name, rated := range map[string]func(run func()) (submit func(), end func()){
		"pool": func(run func()) (func(), func()) {
			p := weir.New(4, newRate())
			return func() { must(p.Submit(run)) }, p.Close
		},
		"pool without a queue": func(run func()) (func(), func()) {
			p := weir.New(4, newRate(), weir.Queue(0))
			return func() { must(p.Submit(run)) }, p.Close
		},
		"pool with a short queue": func(run func()) (func(), func()) {
			p := weir.New(1, newRate(), weir.Queue(1))
			return func() { must(p.Submit(run)) }, p.Close
		},
		"lane": func(run func()) (func(), func()) {
			p := weir.New(4)
			l := p.Lane(2, newRate())
			return func() { must(l.Submit(run)) }, func() { l.Close(); p.Close() }
		},
		"pool and its lane that share one": func(run func()) (func(), func()) {
			r := newRate()
			p := weir.New(4, r)
			return inTurn(run, p, p.Lane(2, r)), p.Close
		},
		"pool and a lane of its lane": func(run func()) (func(), func()) {
			p := weir.New(4, newRate())
			return inTurn(run, p, p.Lane(2).Lane(2)), p.Close
		},
		"keys of a pool": func(run func()) (func(), func()) {
			p := weir.New(4, newRate())
			keys := weir.NewKeyed[int](p, 1)
			n := 0
			return func() { n++; must(keys.Submit(n%3, run)) }, p.Close
		},
		"lane of a Stateful": func(run func()) (func(), func()) {
			p := weir.New(4, newRate())
			l := weir.NewStateful(2, func() (int, error) { return 1, nil }, func(int, int) { run() }, nil, weir.On(p))
			return func() { must(l.Invoke(1)) }, p.Close
		},
		"FuncPool": func(run func()) (func(), func()) {
			p := weir.NewFunc(4, func(int) { run() }, newRate())
			return func() { must(p.Invoke(1)) }, p.Close
		},
		"Stateful": func(run func()) (func(), func()) {
			p := weir.NewStateful(4, func() (int, error) { return 1, nil }, func(int, int) { run() }, nil, newRate())
			return func() { must(p.Invoke(1)) }, p.Close
		},
		"Go": func(run func()) (func(), func()) {
			p := weir.New(4, newRate())
			return func() {
				must(p.Go(context.Background(), func(context.Context) error { run(); return nil }))
			}, p.Close
		},
		"timer": func(run func()) (func(), func()) {
			p := weir.New(4, newRate())
			return func() { p.After(0, func(context.Context) { run() }) }, func() { time.Sleep(time.Minute); p.Close() }
		},
		"group on it": func(run func()) (func(), func()) {
			p := weir.New(4, newRate())
			g := p.Group(context.Background())
			return func() { g.Go(func(context.Context) error { run(); return nil }) }, func() { must(g.Wait()); p.Close() }
		},
		"group": func(run func()) (func(), func()) {
			p := weir.New(4)
			g := p.Group(context.Background(), newRate())
			return func() { g.Go(func(context.Context) error { run(); return nil }) }, func() { must(g.Wait()); p.Close() }
		},
		"group with workers of its own": func(run func()) (func(), func()) {
			g := weir.NewGroup(context.Background(), 4, newRate())
			return func() { g.Go(func(context.Context) error { run(); return nil }) }, func() { must(g.Wait()) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n = 20
				s := newStarts()
				submit, end := rated(s.note)
				time.Sleep(time.Hour) // a rest, after which there is one burst
				s.begin = time.Now()
				for range n {
					submit()
				}
				end()
				s.even(t, n, 3, rateEvery)
			})
		})
	}
}

// A second burst comes only after a rest that is long enough for it.
func TestABurstComesAfterARestAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(4, newRate())
		defer p.Close()
		s := newStarts()
		for range 5 {
			must(p.Submit(s.note))
		}
		p.Wait()
		time.Sleep(2 * rateEvery)
		begin := time.Since(s.begin)
		for range 4 {
			must(p.Submit(s.note))
		}
		p.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		for i, want := range []time.Duration{begin, begin, begin + rateEvery, begin + 2*rateEvery} {
			if s.at[5+i] != want {
				t.Errorf("task %d began at %v, want %v", 5+i, s.at[5+i], want)
			}
		}
	})
}

func TestTheRateChangesWhileTasksWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := weir.Rate(1, time.Hour, 1)
		p := weir.New(4, r)
		defer p.Close()
		s := newStarts()
		for range 4 {
			must(p.Submit(s.note))
		}
		time.Sleep(time.Second)
		r.Set(10, time.Second, 1)
		p.Wait()
		if d := time.Since(s.begin); d < 1299*time.Millisecond || d > 1300*time.Millisecond {
			t.Errorf("the tasks took %v", d)
		}
	})
}

// What waits for its turn is in the queue: it counts there, can be handed back, and expires; Wait and Close wait for it.
func TestTasksThatWaitForTheirTurnAreQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(4, weir.Rate(1, time.Hour, 1), weir.Queue(3))
		for range 4 {
			must(p.Submit(func() {}))
			synctest.Wait() // the first has begun
		}
		if s := p.Stats(); s.Queued != 3 || s.Running != 0 {
			t.Errorf("%d are queued, %d run", s.Queued, s.Running)
		}
		if err := p.TrySubmit(func() {}); !errors.Is(err, weir.ErrFull) {
			t.Errorf("a full queue: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := p.WaitContext(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait does not wait for a turn: %v", err)
		}
		unrun, err := p.Shutdown(ctx)
		if len(unrun) != 3 || err == nil {
			t.Errorf("%d tasks are handed back, %v", len(unrun), err)
		}
		p.Close() // at once: nothing is left that waits for a turn
		if d := p.Stats(); d.Queued != 0 {
			t.Errorf("%d are left", d.Queued)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		var expired atomic.Int32
		p := weir.New(4, weir.Rate(1, time.Hour, 1), weir.ExpireAfter(time.Second), weir.OnError(func(error) { expired.Add(1) }))
		for range 5 {
			must(p.Submit(func() {}))
		}
		time.Sleep(time.Minute)
		if n := expired.Load(); n != 4 {
			t.Errorf("%d tasks have expired, want 4", n)
		}
		begin := time.Now()
		p.Close()
		if d := time.Since(begin); d > time.Second {
			t.Errorf("Close waits %v for tasks that have expired", d)
		}
	})
}

// Tasks of a cancelled group, and others that do not run, use no turn.
func TestTasksThatDoNotRunUseNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Rate(10, time.Second, 1))
		defer p.Close()
		release := make(chan struct{})
		must(p.Submit(func() { <-release }))
		g := p.Group(t.Context())
		for range 100 {
			g.Go(func(context.Context) error { return nil })
		}
		var at time.Duration
		begin := time.Now()
		must(p.Submit(func() { at = time.Since(begin) }))
		g.Cancel(nil)
		time.Sleep(time.Second)
		close(release)
		_ = g.Wait()
		p.Wait()
		if at != time.Second {
			t.Errorf("the task behind a cancelled group began at %v", at)
		}
	})
}

// Subtasks run in place of the task that waits for them, whose turn it was.
func TestSubtasksHaveNoTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Rate(1, time.Minute, 1))
		defer p.Close()
		begin := time.Now()
		for range 3 {
			must(p.Go(t.Context(), func(ctx context.Context) error {
				g := p.Group(ctx)
				for range 10 {
					g.Go(func(ctx context.Context) error {
						_, err := weir.Async(ctx, p, func(context.Context) (int, error) { return 1, nil }).Get(ctx)
						return err
					})
				}
				return g.Wait()
			}))
		}
		p.Wait()
		if d := time.Since(begin); d != 2*time.Minute {
			t.Errorf("three tasks took %v, want two minutes", d)
		}
	})
}

func TestWhatATaskWaitsForOnALaneOfItsPoolTakesNoTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		rate := weir.Rate(10, time.Second, 1)
		l := p.Lane(2, rate)
		keyed := weir.NewKeyed[int](l, 1)
		const tasks = 10
		gives := func(g *weir.Group) error {
			for range tasks {
				g.Go(succeed)
			}
			return g.Wait()
		}
		for name, c := range map[string]struct {
			run  func(ctx context.Context) error
			want time.Duration
		}{
			"a group":           {func(ctx context.Context) error { return gives(l.Group(ctx)) }, 0},
			"one with the rate": {func(ctx context.Context) error { return gives(l.Group(ctx, rate)) }, 900 * time.Millisecond},
			"that of a key":     {func(ctx context.Context) error { return gives(keyed.Group(ctx, 7)) }, 0},
			"Do": {func(ctx context.Context) error {
				for range tasks {
					check.OK(t, l.Do(ctx, succeed))
				}
				return nil
			}, 0},
			"Hedge": {func(ctx context.Context) error {
				for range tasks {
					_, err := weir.Hedge(ctx, l, time.Hour, func(context.Context) (int, error) { return 0, nil })
					check.OK(t, err)
				}
				return nil
			}, 0},
		} {
			time.Sleep(time.Second)
			begin := time.Now()
			check.OK(t, p.Do(t.Context(), c.run))
			check.Equal(t, name, time.Since(begin), c.want)
			hasItsPlaces(t, p, 2)
		}
	})
}

// So it is where a free worker has looked for a turn meanwhile, with the only permit of the lane or of one above it.
func TestWhatATaskWaitsForNeedsNoTurnWhereAWorkerFindsNone(t *testing.T) {
	run := func(context.Context) (int, error) { time.Sleep(time.Microsecond); return 1, nil }
	for name, waits := range map[string]func(ctx context.Context, p *weir.Pool){
		"group": func(ctx context.Context, p *weir.Pool) {
			g := p.Group(ctx)
			g.Go(succeed)
			check.OK(t, g.Wait())
		},
		"Do": func(ctx context.Context, p *weir.Pool) { check.OK(t, p.Do(ctx, succeed)) },
		"future": func(ctx context.Context, p *weir.Pool) {
			first, second := weir.Async(ctx, p, run), weir.Async(ctx, p, run)
			for _, f := range []*weir.Future[int]{second, first} {
				_, err := f.Get(ctx)
				check.OK(t, err)
			}
		},
	} {
		for depth := range 3 {
			check.Bubble(t, fmt.Sprint(name, " ", depth), func(t *testing.T) {
				p := weir.New(8)
				defer p.Close()
				rate := weir.Rate(1, time.Hour, 1)
				check.OK(t, rate.Wait(t.Context()))
				on := p
				for range depth {
					on = on.Lane(1)
				}
				on = on.Lane(1, rate)
				begin := time.Now()
				g := p.Group(t.Context())
				for range 4 {
					g.Go(func(ctx context.Context) error {
						for range 3 {
							waits(ctx, on)
						}
						return nil
					})
				}
				check.OK(t, g.Wait())
				check.Equal(t, "they wait for a turn", time.Since(begin) > time.Minute, false)
			})
		}
	}
}

// Subtasks that are cancelled before they run leave no turn behind.
func TestCancelledSubtasksMakeNoTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, newRate())
		s := newStarts()
		must(p.Go(t.Context(), func(ctx context.Context) error {
			s.note()
			g := p.Group(ctx)
			for range 50 {
				g.Go(func(context.Context) error { return io.EOF })
			}
			_ = g.Wait()
			g.Go(func(context.Context) error { return nil })
			g.Cancel(nil)
			_ = g.Wait()
			return nil
		}))
		for range 9 {
			must(p.Submit(s.note))
		}
		p.Close()
		s.even(t, 10, 3, rateEvery)
	})
}

func TestTryGoHasNoTurnAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 4, newRate(), weir.Limit(100))
		in := 0
		for range 10 {
			if g.TryGo(func(context.Context) error { return nil }) {
				in++
			}
		}
		must(g.Wait())
		if in != 3 {
			t.Errorf("%d tasks are accepted at once, want 3", in)
		}
	})
}

// A group that is cancelled while Go waits for a turn ends that, and leaves the turn to others.
func TestACancelledGroupLeavesItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := weir.Rate(1, time.Minute, 1)
		g := weir.NewGroup(t.Context(), 4, r)
		begin := time.Now()
		time.AfterFunc(time.Second, func() { g.Cancel(errors.New("enough")) })
		for range 10 {
			g.Go(func(context.Context) error { return nil })
		}
		if err := g.Wait(); err == nil || time.Since(begin) != time.Second {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		must(r.Wait(t.Context()))
		if d := time.Since(begin); d != time.Minute {
			t.Errorf("the next turn comes after %v", d)
		}
	})
}

// So does a task that has its turn, and finds no room until its group is cancelled, or its pool is closed.
func TestATaskThatFindsNoRoomLeavesItsTurn(t *testing.T) {
	for name, end := range map[string]func(*weir.Pool, *weir.Group){
		"cancelled": func(_ *weir.Pool, g *weir.Group) { g.Cancel(errBoom) },
		"closed":    func(p *weir.Pool, _ *weir.Group) { go p.Close() },
	} {
		check.Bubble(t, name, func(t *testing.T) {
			r := weir.Rate(1, time.Hour, 1)
			p := weir.New(1, weir.Queue(0))
			v := block(t, p, 1)
			g := p.Group(t.Context(), r)
			begin := time.Now()
			time.AfterFunc(time.Second, func() { end(p, g) })
			g.Go(succeed)
			v.Open()
			if g.Wait() == nil {
				t.Error("the task has run")
			}
			must(r.Wait(t.Context()))
			check.Equal(t, "time until the next turn", time.Since(begin), time.Second)
			p.Close()
		})
	}
}

// A task that waits for a turn keeps its place, but not in Blocking, nor between the calls of a loop.
func TestAWaitForATurnInATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := weir.Rate(1, time.Minute, 1)
		must(r.Wait(t.Context()))
		p := weir.New(1)
		defer p.Close()
		for name, c := range map[string]struct {
			wait func(ctx context.Context) error // in a task, except the loop
			want time.Duration                   // until another task begins
		}{
			"Wait":     {r.Wait, time.Minute},
			"Blocking": {func(ctx context.Context) (err error) { weir.Blocking(ctx, func() { err = r.Wait(ctx) }); return err }, 0},
			"a loop": {func(ctx context.Context) error {
				return par.Each(ctx, []int{1}, func(context.Context, int) error { return nil }, par.Rate(r), par.On(p))
			}, 0},
		} {
			begin := time.Now()
			var at time.Duration
			if name == "a loop" {
				go func() { must(c.wait(t.Context())) }()
			} else {
				must(p.Go(t.Context(), c.wait))
			}
			synctest.Wait()
			must(p.Submit(func() { at = time.Since(begin) }))
			synctest.Wait()
			time.Sleep(time.Minute)
			p.Wait()
			if d := time.Since(begin); at != c.want || d != time.Minute {
				t.Errorf("%s: another task began after %v, the turn came after %v", name, at, d)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a wait that ends early: %v", err)
		}
		if err := r.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a context that has ended: %v", err)
		}
	})
}

// Each try has a turn of its own, where the group has the rate or the retries, and where the pool has.
func TestTriesTakeTurns(t *testing.T) {
	rate := func() *weir.RateLimit { return weir.Rate(1, time.Minute, 1) }
	retry := weir.Retry(weir.RetryPolicy{Tries: 4, Wait: 1})
	fails := func(context.Context) error { return io.EOF }
	for name, run := range map[string]func(ctx context.Context){
		"group": func(ctx context.Context) {
			g := weir.NewGroup(ctx, 2, rate(), retry)
			g.Go(fails)
			_ = g.Wait()
		},
		"group on a pool that has the rate": func(ctx context.Context) {
			p := weir.New(2, rate())
			defer p.Close()
			g := p.Group(ctx, retry)
			g.Go(fails)
			_ = g.Wait()
		},
		"results": func(ctx context.Context) {
			r := weir.NewResults[int](weir.NewGroup(ctx, 2, rate(), retry))
			r.Go(func(ctx context.Context) (int, error) { return 0, fails(ctx) })
			_, _ = r.Wait()
		},
		"pool": func(ctx context.Context) {
			p := weir.New(2, rate(), retry, weir.OnError(func(error) {}))
			must(p.Go(ctx, fails))
			p.Close()
		},
		"FuncContext": func(ctx context.Context) {
			p := weir.NewFuncContext(2, func(ctx context.Context, _ int) error { return fails(ctx) }, rate(), retry, weir.OnError(func(error) {}))
			must(p.Go(ctx, 1))
			p.Close()
		},
		"future": func(ctx context.Context) {
			p := weir.New(2, rate(), retry)
			defer p.Close()
			_, _ = weir.Async(ctx, p, func(ctx context.Context) (int, error) { return 0, fails(ctx) }).Get(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				run(t.Context())
				if d := time.Since(begin); d != 3*time.Minute {
					t.Errorf("four tries took %v", d)
				}
			})
		})
	}
}

// On the machine's clock: 10⁵ tasks a second, and no more in any time than fit it.
func TestTheRateIsExact(t *testing.T) {
	const n, burst = 100_000, 2000
	p := weir.New(2, weir.Rate(n, time.Second, burst), weir.Queue(weir.Unbounded))
	defer p.Close()
	for range burst {
		must(p.Submit(func() {}))
	}
	p.Wait()
	begin := time.Now()
	for range n / 5 {
		must(p.Submit(func() {}))
	}
	p.Wait()
	d := time.Since(begin)
	if want := time.Second/5 - burst*time.Second/n; d < want-10*time.Millisecond {
		t.Errorf("%d tasks took %v, want at least %v", n/5, d, want)
	}
	t.Logf("%d tasks took %v", n/5, d)
}

func BenchmarkRate(b *testing.B) {
	for name, opts := range map[string][]weir.Option{"without": nil, "with": {weir.Rate(1e9, time.Second, 1e9)}} {
		b.Run(name, func(b *testing.B) {
			p := weir.New(64, opts...)
			for range b.N {
				must(p.Submit(nothing))
			}
			p.Wait()
			b.StopTimer()
			p.Close()
		})
	}
	b.Run("Wait", func(b *testing.B) {
		r := weir.Rate(1e9, time.Second, 1e9)
		for b.Loop() {
			must(r.Wait(b.Context()))
		}
	})
}

// Pools that hand over share the turns one by one, and none of them goes round without an end.
func TestPoolsWithoutQueuesShareARate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pools, tasks = 4, 5
		r := weir.Rate(10, time.Second, 1)
		s := newStarts()
		var all sync.WaitGroup
		for range pools {
			p := weir.New(2, r, weir.Queue(0))
			defer p.Close()
			for range tasks {
				all.Go(func() { must(p.Submit(s.note)) })
			}
		}
		all.Go(func() {
			for range tasks {
				must(r.Wait(t.Context()))
				s.note()
			}
		})
		all.Wait()
		time.Sleep(time.Second)
		s.even(t, (pools+1)*tasks, 1, rateEvery)
	})
}

// A turn that no place can use meanwhile is not kept besides those of the burst.
func TestNoTurnIsKeptWhereThereIsNoPlace(t *testing.T) {
	for name, holds := range map[string]func(t *testing.T) (p *weir.Pool, release func()){
		"pause": func(t *testing.T) (*weir.Pool, func()) {
			p := weir.New(8, newRate())
			for range 4 {
				must(p.Submit(func() {}))
			}
			synctest.Wait() // the last one waits for its turn
			p.Pause()
			return p, p.Resume
		},
		"a lane of a busy pool": func(t *testing.T) (*weir.Pool, func()) {
			p := weir.New(1)
			t.Cleanup(p.Close)
			l := p.Lane(8, newRate())
			for range 4 {
				must(l.Submit(func() {}))
			}
			synctest.Wait()
			release := make(chan struct{})
			must(p.Submit(func() { <-release }))
			return l, func() { close(release) }
		},
		"a rate that falls": func(t *testing.T) (*weir.Pool, func()) {
			r := weir.Rate(1e6, time.Second, 1)
			p := weir.New(8, r)
			for range 100 {
				must(p.Submit(func() {}))
			}
			p.Wait()
			r.Set(10, time.Second, 3)
			return p, func() {}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, release := holds(t)
				s := newStarts()
				for range 20 {
					must(p.Submit(s.note))
				}
				time.Sleep(time.Hour)
				release()
				p.Close()
				s.mu.Lock()
				defer s.mu.Unlock()
				at := map[time.Duration]int{}
				for _, d := range s.at {
					if at[d]++; at[d] > 3 {
						t.Errorf("%d tasks have begun at %v", at[d], d)
					}
				}
			})
		})
	}
}

// A task whose context has ended while it was queued uses no turn.
func TestTasksOfEndedContextsUseNoTurn(t *testing.T) {
	for name, submit := range map[string]func(ctx context.Context, p *weir.Pool, n int){
		"Go": func(ctx context.Context, p *weir.Pool, n int) {
			for range n {
				must(p.Go(ctx, func(context.Context) error { return nil }))
			}
		},
		"Async": func(ctx context.Context, p *weir.Pool, n int) {
			for range n {
				weir.Async(ctx, p, func(context.Context) (int, error) { return 1, nil })
			}
		},
		"group": func(ctx context.Context, p *weir.Pool, n int) {
			g := p.Group(ctx)
			for range n {
				g.Go(func(context.Context) error { return nil })
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := weir.New(2, weir.Rate(10, time.Second, 1), weir.OnError(func(error) {}))
				ctx, cancel := context.WithCancel(t.Context())
				must(p.Submit(func() {}))
				submit(ctx, p, 100)
				s := newStarts()
				for range 3 {
					must(p.Submit(s.note))
				}
				cancel()
				p.Close()
				s.mu.Lock()
				defer s.mu.Unlock()
				if want := []time.Duration{rateEvery, 2 * rateEvery, 3 * rateEvery}; !slices.Equal(s.at, want) {
					t.Errorf("the tasks behind them began at %v, want %v", s.at, want)
				}
			})
		})
	}
}

// Nor does a call of Do whose context ends as its turn comes.
func TestACallOfDoWhoseContextHasEndedUsesNoTurn(t *testing.T) {
	for range 20 {
		check.Bubble(t, "", func(t *testing.T) {
			r := weir.Rate(1, time.Hour, 10)
			p := weir.New(2, r)
			ctx, cancel := context.WithCancel(t.Context())
			var ran atomic.Int32
			var calls sync.WaitGroup
			for range 30 {
				calls.Go(func() {
					_ = p.Do(ctx, func(ctx context.Context) error { ran.Add(1); <-ctx.Done(); return nil })
				})
			}
			synctest.Wait()
			cancel()
			calls.Wait()
			p.Close()
			begin := time.Now()
			for range 10 - ran.Load() {
				check.OK(t, r.Wait(t.Context()))
			}
			check.Equal(t, "time until the turns that are left", time.Since(begin), 0)
		})
	}
}

func TestATurnCostsTheSameHoweverManyWait(t *testing.T) {
	check.Flat(t, 500, func(n int) (f, end func()) {
		r := weir.Rate(1, time.Hour, 1)
		check.OK(t, r.Wait(t.Context()))
		var all sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		for range n {
			all.Go(func() { check.Error(t, r.Wait(ctx), context.Canceled) })
		}
		p := weir.New(1, r, weir.Queue(weir.Unbounded))
		return func() {
				for range 50 {
					soon, stop := context.WithCancelCause(t.Context())
					g := p.Group(soon, r)
					go stop(errBoom)
					g.Go(succeed) // waits, and leaves
					check.Error(t, g.Wait(), errBoom)
					check.OK(t, p.Submit(func() {}))
					r.Set(1, time.Hour, 1)
				}
			}, func() {
				cancel()
				all.Wait()
				unrun, err := p.Shutdown(ctx)
				check.Equal(t, "tasks that wait", len(unrun) > 0, true)
				check.Error(t, err, context.Canceled)
			}
	})
}

// Tasks of a pool that wait for tokens do not keep a lane from getting one.
func TestALaneGetsTokensNextToABacklogOfItsPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(10, weir.Rate(100, time.Second, 1))
		defer p.Close()
		for range 300 {
			check.OK(t, p.Submit(func() {}))
		}
		sleep(100 * time.Millisecond)
		lane := p.Lane(10)
		begin := time.Now()
		check.OK(t, lane.Submit(func() {}))
		lane.Wait()
		if d := time.Since(begin); d > 50*time.Millisecond {
			t.Errorf("waits for %v, and a token comes each 10ms", d)
		}
	})
}

// Where now the place is scarce, now the token, a task costs the same however many keys wait.
func TestATaskOfARatedPoolCostsTheSameHoweverManyKeysWait(t *testing.T) {
	if check.Race {
		t.Skip("the race detector is slow")
	}
	const most = 3200
	perTask := func(keys int) time.Duration {
		took := time.Duration(math.MaxInt64)
		for range 3 {
			begin := time.Now()
			for range most / keys { // as long as with most keys: what else the machine does holds up both
				synctest.Test(t, func(t *testing.T) {
					p := weir.New(1, weir.Rate(1000, time.Second, 1))
					k := weir.NewKeyed[int](p, 1)
					for key := range keys {
						d := 100 * time.Microsecond
						if key%4 == 0 {
							d = 2500 * time.Microsecond
						}
						check.OK(t, k.Submit(key, func() { time.Sleep(d) }))
					}
					p.Close()
				})
			}
			took = min(took, time.Since(begin))
		}
		return took / most
	}
	few, many := perTask(200), perTask(most)
	t.Logf("200 keys: %v a task, %d keys: %v", few, most, many)
	if many > 4*few {
		t.Errorf("a task takes %v with 200 keys, %v with %d", few, many, most)
	}
}

// Keys get tokens in turn, whether a burst has come before or not, and whatever their tasks take.
func TestEachKeyGetsATokenInTurn(t *testing.T) {
	const keys = 100
	for _, c := range []struct{ limit, burst int }{{1, 1}, {4, 1}, {4, 50}, {1, 50}} {
		for _, long := range []time.Duration{50 * time.Microsecond, 1500 * time.Microsecond} {
			check.Bubble(t, fmt.Sprint("limit ", c.limit, " burst ", c.burst, " tasks of ", long), func(t *testing.T) {
				p := weir.New(c.limit, weir.Rate(1000, time.Second, c.burst))
				k := weir.NewKeyed[int](p, 1)
				var mu sync.Mutex
				first, last := map[int]time.Duration{}, time.Duration(0)
				begin := time.Now()
				for range 20 {
					for key := range keys {
						check.OK(t, k.Submit(key, func() {
							mu.Lock()
							if _, ran := first[key]; !ran {
								first[key] = time.Since(begin)
								last = max(last, first[key])
							}
							mu.Unlock()
							time.Sleep(long * time.Duration(1+key%2))
						}))
					}
				}
				p.Close()
				if most := 2 * keys * max(time.Millisecond, 3*long/2/time.Duration(c.limit)); last > most {
					t.Errorf("the last key had its first task after %v, want %v at most", last, most)
				}
			})
		}
	}
}

// A lane that had long tasks waits for tokens no longer than these took while others wanted the place.
func TestALaneThatHadLongTasksGetsTokens(t *testing.T) {
	for _, limit := range []int{1, 2, 8} {
		check.Bubble(t, fmt.Sprint("limit ", limit), func(t *testing.T) {
			p := weir.New(limit, weir.Rate(10, time.Second, limit))
			a, b := p.Lane(limit), p.Lane(limit)
			for range limit {
				check.OK(t, a.Submit(func() { time.Sleep(10 * time.Second) }))
			}
			for range 400 {
				check.OK(t, b.Submit(func() { time.Sleep(10 * time.Millisecond) }))
			}
			begin, waited := time.Now(), time.Duration(0)
			check.OK(t, a.Submit(func() { waited = time.Since(begin) }))
			p.Close()
			if waited > 21*time.Second {
				t.Errorf("it waited for %v: 10s until its tasks were over, and then", waited)
			}
		})
	}
}

// What a token has cost while tokens were scarce gives no lane a place for good.
func TestKeysTakeTurnsAgainWhenTokensArePlenty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := weir.Rate(1000, time.Second, 1)
		p := weir.New(1, r)
		k := weir.NewKeyed[int](p, 1)
		for range 50 {
			check.OK(t, k.Submit(1, func() {}))
			check.OK(t, k.Submit(2, func() {}))
		}
		sleep(time.Second)
		r.Set(1e6, time.Second, 1000)
		var ran, behind atomic.Int32
		for range 200 {
			check.OK(t, k.Submit(1, func() { time.Sleep(time.Millisecond); ran.Add(1) }))
		}
		sleep(50*time.Millisecond + time.Microsecond)
		at := ran.Load()
		check.OK(t, k.Submit(2, func() { behind.Store(ran.Load() - at) }))
		p.Close()
		if n := behind.Load(); n > 3 {
			t.Errorf("a key began after %d tasks of another one", n)
		}
	})
}

// A late timer makes up for tokens also where a lane waits for them.
func TestALaneGetsTheRateOfItsPool(t *testing.T) {
	if check.Race {
		t.Skip("the race detector is slow")
	}
	took := func(of func(*weir.Pool) *weir.Pool) float64 {
		p := weir.New(1, weir.Rate(5000, time.Second, 1), weir.Queue(weir.Unbounded))
		defer p.Close()
		on, begin := of(p), time.Now()
		for range 500 {
			check.OK(t, on.Submit(func() {}))
		}
		on.Wait()
		return time.Since(begin).Seconds()
	}
	best := 0.0
	for i := 0; i < 5 && best < 0.6; i++ {
		own := took(func(p *weir.Pool) *weir.Pool { return p })
		lane := took(func(p *weir.Pool) *weir.Pool { return p.Lane(1, weir.Queue(weir.Unbounded)) })
		best = max(best, own/lane)
	}
	if best < 0.6 {
		t.Errorf("a lane gets %.2f of what its pool gets", best)
	}
}

// A token that comes in time, while there is no place, makes up for nothing.
func TestATokenForWhichThereIsNoPlaceBringsTheNextNoEarlier(t *testing.T) {
	const every = 100 * time.Microsecond
	check.Bubble(t, "", func(t *testing.T) {
		p := weir.New(1)
		l := p.Lane(2, weir.Rate(1, every, 1))
		others := l.Lane(2, weir.Rate(1, time.Nanosecond, 1))
		var last time.Time
		for range 5 {
			check.OK(t, l.Submit(func() {
				if now := time.Now(); now.Sub(last) < every {
					t.Errorf("two tasks begin within %v", now.Sub(last))
				} else {
					last = now
				}
			}))
			check.OK(t, others.Submit(func() { time.Sleep(every + every/2) }))
		}
		p.Close()
	})
}

// A lane whose tasks wait for a token holds up no lane of its own that needs none, and its pool does not wait with it.
func TestALaneBelowOneThatWaitsForATokenHasPlaces(t *testing.T) {
	for _, limit := range []int{1, 4} {
		check.Bubble(t, fmt.Sprint("limit ", limit), func(t *testing.T) {
			p := weir.New(4, weir.Rate(1, time.Hour, 1))
			q := p.Lane(limit)
			free := q.Lane(4, weir.Queue(0), weir.Rate(1e9, time.Second, 1e9))
			for range 3 {
				check.OK(t, q.Submit(func() {}))
			}
			sleep(time.Minute)
			check.Equal(t, "the lane waits for a token", q.Stats().Throttled, true)
			check.Equal(t, "its pool waits for a token", p.Stats().Throttled, false)
			ran := false
			check.OK(t, free.TrySubmit(func() { ran = true }))
			rest(free, time.Minute)
			check.Equal(t, "ran", ran, true)
			p.Close()
		})
	}
}

// Tokens go to lanes by priority, and to a lane and to what its pool has queued itself in turn.
func TestTokensGoToLanesByPriority(t *testing.T) {
	for _, limit := range []int{1, 3} {
		check.Bubble(t, fmt.Sprint("limit ", limit), func(t *testing.T) {
			p := weir.New(limit, weir.Rate(1000, time.Second, 1))
			low, high, aside := p.Lane(limit), p.Lane(limit, weir.Priority(1)), p.Lane(limit)
			var ran [4]atomic.Int32
			submit := func(i int, p *weir.Pool) {
				for range 50 {
					check.OK(t, p.Submit(func() { time.Sleep(50 * time.Microsecond); ran[i].Add(1) }))
				}
			}
			submit(0, low)
			submit(1, p)
			submit(2, aside)
			sleep(10*time.Millisecond + time.Microsecond)
			submit(3, high)
			sleep(50 * time.Millisecond)
			if n := ran[3].Load(); n < 49 {
				t.Errorf("%d tasks of 50 with the highest priority have had the 50 tokens since they came", n)
			}
			sleep(60 * time.Millisecond)
			for i := range 3 {
				if n := ran[i].Load(); n < 20 || n > 26 {
					t.Errorf("%d of 70 tokens were for number %d of three", n, i)
				}
			}
			p.Close()
		})
	}
}

// A lane without tokens takes nothing from one that waits for some, and the other way round.
func TestALaneThatWaitsForATokenHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Rate(1, time.Second, 1))
		free := p.Lane(1, weir.Rate(1e9, time.Second, 1e9))
		rated := p.Lane(1, weir.Priority(1))
		begin := time.Now()
		at := make(chan time.Duration, 10)
		for range 3 {
			check.OK(t, rated.Submit(func() { at <- time.Since(begin) }))
		}
		for range 250 {
			check.OK(t, free.Submit(func() { time.Sleep(9900 * time.Microsecond) }))
		}
		free.Wait()
		if d := time.Since(begin); d > 2500*time.Millisecond {
			t.Errorf("tasks that need no token of the pool took %v", d)
		}
		p.Close()
		for last := <-at; len(at) > 0; {
			next := <-at
			if late := next - last - time.Second; late < 0 || late > 10*time.Millisecond {
				t.Errorf("a task began %v after its token", late)
			}
			last = next
		}
	})
}

// Where places are scarcer than tokens, lanes have their run time by share, whatever a burst has left.
func TestLanesOfARatedPoolShareItsRunTime(t *testing.T) {
	for _, burst := range []int{1, 100} {
		check.Bubble(t, fmt.Sprint("burst ", burst), func(t *testing.T) {
			p := weir.New(1, weir.Rate(1000, time.Second, burst))
			long, short := p.Lane(1), p.Lane(1, weir.Share(2))
			var took [2]time.Duration
			for range 1000 {
				for i, lane := range []*weir.Pool{long, short} {
					d := []time.Duration{10 * time.Millisecond, 2 * time.Millisecond}[i]
					check.OK(t, lane.Submit(func() { time.Sleep(d); took[i] += d }))
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			_, err := p.Shutdown(ctx)
			check.Error(t, err, context.DeadlineExceeded)
			p.Close()
			if ratio := took[1].Seconds() / took[0].Seconds(); ratio < 1.7 || ratio > 2.3 {
				t.Errorf("the lanes ran for %v, with shares of 1 and 2", took)
			}
		})
	}
}

// A lane that waits for a token, and whose place is taken meanwhile by another lane of its own pool, holds up no lane that has a place.
func TestATokenPassesALaneWithoutAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2, weir.Rate(1000, time.Second, 1))
		defer p.Close()
		narrow, other := p.Lane(1), p.Lane(1)
		first, second := narrow.Lane(1, weir.Rate(1000, time.Second, 1000)), narrow.Lane(1)
		check.OK(t, p.Submit(func() {})) // takes the token
		synctest.Wait()
		ran := ""
		check.OK(t, second.Submit(func() { ran += "second " }))
		synctest.Wait()
		v := block(t, first, 1)
		check.OK(t, other.Submit(func() { ran += "other " }))
		rest(other, 10*time.Millisecond)
		check.Equal(t, "ran", ran, "other ")
		v.Open()
		rest(second, 10*time.Millisecond)
		check.Equal(t, "ran", ran, "other second ")
	})
}

func TestPromise09ALockHeldOverAWaitForATurn(t *testing.T) {
	for _, limit := range []int{1, 2} {
		check.Bubble(t, fmt.Sprint("limit ", limit), func(t *testing.T) {
			p := weir.New(limit)
			defer p.Close()
			r := weir.Rate(1, time.Second, 1)
			retry := weir.Retry(weir.RetryPolicy{Tries: 3, Wait: time.Second})
			begin := time.Now()
			lock := make(chan struct{}, 1)
			g := p.Group(t.Context())
			for i := range 6 {
				g.Go(func(ctx context.Context) error {
					lock <- struct{}{}
					defer func() { <-lock }()
					if i%2 == 0 {
						return r.Wait(ctx)
					}
					tries := 0
					return retry.Do(ctx, func(context.Context) error {
						if tries++; tries < 3 {
							return io.EOF
						}
						return nil
					})
				})
			}
			check.OK(t, g.Wait())
			if d := time.Since(begin); d > time.Minute {
				t.Errorf("it took %v", d)
			}
		})
	}
}

// A worker of a lane may find a granted token gone that it has just seen, while the pool waits for the next one already: then it must not wait for that
// as well, or the list of those that wait is broken.
func TestLanesThatRaceForTokensWaitForEachOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	for range check.Size(200, 200, 1000) { // some hundreds find a worker that waits twice only now and then
		p := weir.New(8, weir.Rate(1, 10*time.Microsecond, 2))
		var submitters sync.WaitGroup
		for range 6 {
			l := p.Lane(3, weir.Queue(8))
			for range 3 {
				submitters.Go(func() {
					for range 10 {
						check.OK(t, l.Submit(runtime.Gosched))
					}
				})
			}
		}
		submitters.Wait()
		p.Close()
	}
}
