package weir_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
)

// Each test here holds one promise of the design, whose number it bears. It
// is meant to fail when the rule behind the promise is broken, and was seen to.

// children are what the test binary does when it is run by child.
var children = map[string]func(){
	"crash slowly": crashSlowly,
	"crash in a pool": func() {
		p := weir.New(2, weir.CrashOnPanic())
		_ = p.Submit(explode)
		p.Wait()
	},
	"crash in a group": func() {
		g := weir.New(2, weir.CrashOnPanic()).Group(context.Background())
		g.Go(explodeInGroup)
		_ = g.Wait()
	},
	"survive": func() {
		p := weir.New(2)
		_ = p.Submit(explode)
		p.Close()
		fmt.Println("survived")
	},
}

var errBoom = errors.New("boom")

func explode() { panic(errBoom) }

func explodeInGroup(context.Context) error { panic(errBoom) }

func exitInGroup(context.Context) error {
	runtime.Goexit()
	return nil
}

// surface is what Pool and FuncPool have in common, for tasks that are numbers.
type surface interface {
	submit(i int) error
	submitContext(ctx context.Context, i int) error
	trySubmit(i int) error
	shutdown(ctx context.Context) (unrun []int, err error)

	Wait()
	WaitContext(ctx context.Context) error
	Resize(limit int)
	Pause()
	Resume()
	Close()
	Stats() weir.Stats
}

type poolSurface struct {
	*weir.Pool
	run    func(i int)
	asked  bool // tasks only say who they are
	answer int
}

func (s *poolSurface) task(i int) func() {
	return func() {
		if s.asked {
			s.answer = i
			return
		}
		s.run(i)
	}
}

func (s *poolSurface) submit(i int) error    { return s.Submit(s.task(i)) }
func (s *poolSurface) trySubmit(i int) error { return s.TrySubmit(s.task(i)) }

func (s *poolSurface) submitContext(ctx context.Context, i int) error {
	return s.SubmitContext(ctx, s.task(i))
}

func (s *poolSurface) shutdown(ctx context.Context) (unrun []int, err error) {
	tasks, err := s.Shutdown(ctx)
	s.Close() // those that run must not see what follows
	s.asked = true
	for _, task := range tasks {
		task()
		unrun = append(unrun, s.answer)
	}
	return unrun, err
}

type funcSurface struct{ *weir.FuncPool[int] }

func (s funcSurface) submit(i int) error    { return s.Invoke(i) }
func (s funcSurface) trySubmit(i int) error { return s.TryInvoke(i) }

func (s funcSurface) submitContext(ctx context.Context, i int) error {
	return s.InvokeContext(ctx, i)
}

func (s funcSurface) shutdown(ctx context.Context) ([]int, error) { return s.Shutdown(ctx) }

// surfaces make both kinds of pool.
var surfaces = []struct {
	name string
	make func(limit int, run func(i int), opts ...weir.Option) surface
}{
	{"Pool", func(limit int, run func(i int), opts ...weir.Option) surface {
		return &poolSurface{Pool: weir.New(limit, opts...), run: run}
	}},
	{"FuncPool", func(limit int, run func(i int), opts ...weir.Option) surface {
		return funcSurface{weir.NewFunc(limit, run, opts...)}
	}},
}

func TestPromise01AcceptedTasksRunOnceOrAreHandedBackAndRejectedOnesNeverRun(t *testing.T) {
	for _, kind := range surfaces {
		for _, queue := range []int{0, 1, 3, 64, weir.Unbounded} {
			for _, limit := range []int{1, 2, 8} {
				t.Run(fmt.Sprintf("%s/limit=%d/queue=%s", kind.name, limit, queueName(queue)), func(t *testing.T) {
					within(time.Minute, func() {
						for seed := range scale(16, 3) {
							everyTaskOnce(t, kind.make, limit, queue, uint64(seed))
						}
					})
				})
			}
		}
	}
}

// everyTaskOnce does all that can be done to a pool at once, closes it in one
// way or another, and sees what became of each task.
func everyTaskOnce(t *testing.T, newPool func(int, func(int), ...weir.Option) surface, limit, queue int, seed uint64) {
	const producers, each = 4, 80
	runs := make([]atomic.Int32, producers*each)
	accepted := make([]bool, producers*each)
	run := func(i int) {
		runs[i].Add(1)
		switch i % 8 {
		case 3:
			panic(i)
		case 5:
			runtime.Goexit()
		case 6:
			runtime.Gosched()
		}
	}
	dice := rand.New(rand.NewPCG(seed, 0))
	opts := []weir.Option{
		weir.Queue(queue),
		weir.OnPanic(func(*weir.Panic) {}),
		weir.IdleTimeout([]time.Duration{0, time.Microsecond, time.Hour}[dice.IntN(3)]),
	}
	if dice.IntN(2) == 0 {
		opts = append(opts, weir.MaxWaiting(1))
	}
	p := newPool(limit, run, opts...)

	var producing, disturbing sync.WaitGroup
	for n := range producers {
		dice := rand.New(rand.NewPCG(seed, uint64(1+n)))
		producing.Go(func() {
			for i := n * each; i < (n+1)*each; i++ {
				var err error
				switch dice.IntN(4) {
				case 0:
					err = p.trySubmit(i)
				case 1:
					ctx, cancel := context.WithCancel(context.Background())
					turns := dice.IntN(6)
					producing.Go(func() {
						yield(turns)
						cancel()
					})
					err = p.submitContext(ctx, i)
				default:
					err = p.submit(i)
				}
				accepted[i] = err == nil
				if err != nil && !errors.Is(err, weir.ErrFull) && !errors.Is(err, weir.ErrClosed) && !errors.Is(err, context.Canceled) {
					t.Errorf("submission failed with %v", err)
				}
			}
		})
	}
	var stop atomic.Bool
	disturb := func(n uint64, f func(dice *rand.Rand)) {
		dice := rand.New(rand.NewPCG(seed, 100+n))
		disturbing.Go(func() {
			for !stop.Load() {
				f(dice)
				yield(dice.IntN(8))
			}
		})
	}
	disturb(0, func(dice *rand.Rand) { p.Resize(1 + dice.IntN(2*limit)) })
	disturb(1, func(dice *rand.Rand) {
		p.Pause()
		yield(dice.IntN(8))
		p.Resume()
	})
	disturb(2, func(dice *rand.Rand) {
		ctx, cancel := context.WithCancel(context.Background())
		disturbing.Go(cancel)
		_ = p.WaitContext(ctx) // either outcome is right here
		p.Stats()
	})

	if dice.IntN(2) == 0 {
		yield(dice.IntN(200)) // in the midst of it
	} else {
		producing.Wait()
	}
	var unrun []int
	if dice.IntN(3) == 0 {
		p.Close()
	} else {
		ctx, cancel := context.WithCancel(context.Background())
		turns := dice.IntN(20)
		disturbing.Go(func() {
			yield(turns)
			cancel()
		})
		unrun, _ = p.shutdown(ctx)
	}
	producing.Wait()
	stop.Store(true)
	disturbing.Wait()
	p.Close()

	handedBack := make([]int32, len(runs))
	for _, i := range unrun {
		handedBack[i]++
	}
	var want weir.Stats
	for i := range runs {
		ran, back := runs[i].Load(), handedBack[i]
		switch {
		case accepted[i] && ran+back != 1:
			t.Errorf("seed %d: task %d was accepted, ran %d times and was handed back %d times", seed, i, ran, back)
		case !accepted[i] && ran+back != 0:
			t.Errorf("seed %d: task %d was rejected, ran %d times and was handed back %d times", seed, i, ran, back)
		}
		if accepted[i] {
			want.Accepted++
		} else {
			want.Rejected++
		}
		if ran > 0 && i%8 == 3 {
			want.Panicked++
		}
	}
	want.HandedBack = uint64(len(unrun))
	want.Finished = want.Accepted - want.HandedBack
	got := p.Stats()
	want.Limit = got.Limit
	equal(t, fmt.Sprintf("seed %d: stats", seed), got, want)
}

// yield lets others run so many times.
func yield(times int) {
	for range times {
		runtime.Gosched()
	}
}

func TestPromise02NeverMoreThanLimitTasksRunAtOnce(t *testing.T) {
	for _, limits := range [][2]int{{8, 3}, {8, 1}, {4, 2}, {2, 1}, {3, 3}} {
		bubble(t, fmt.Sprintf("exactly, from %d to %d", limits[0], limits[1]), func(t *testing.T) {
			before, after := limits[0], limits[1]
			p := weir.New(before, weir.Queue(weir.Unbounded))
			defer p.Close()
			v := newValve()
			for range 3 * before {
				ok(t, p.Submit(v.task))
			}
			synctest.Wait()
			equal(t, "running at first", v.running(), before)

			p.Resize(after)
			synctest.Wait()
			equal(t, "running after Resize", v.running(), before)
			for released := 1; released <= before; released++ {
				v.letOne()
				synctest.Wait()
				equal(t, fmt.Sprintf("running when %d have ended", released), v.running(), max(before-released, after))
			}

			p.Resize(before)
			synctest.Wait()
			equal(t, "running after Resize up", v.running(), before)
			v.open()
		})
	}

	for _, queue := range []int{0, 1, 64, weir.Unbounded} {
		t.Run("while it is resized/queue="+queueName(queue), func(t *testing.T) {
			within(time.Minute, func() { peakUnderResize(t, queue) })
		})
	}
}

// peakUnderResize has producers that never stop, and a limit that changes.
func peakUnderResize(t *testing.T, queue int) {
	var (
		running   gauge
		finished  atomic.Int64
		stop      atomic.Bool
		producing sync.WaitGroup
	)
	p := weir.New(4, weir.Queue(queue), weir.IdleTimeout(time.Microsecond), weir.OnPanic(func(*weir.Panic) {}))
	task := func() {
		running.enter()
		runtime.Gosched()
		running.leave()
		switch finished.Add(1) % 64 {
		case 0:
			panic("now and then")
		case 32:
			runtime.Goexit()
		}
	}
	for range 3 {
		producing.Go(func() {
			for n := 0; !stop.Load(); n++ {
				ok(t, p.Submit(task))
				if n%256 == 255 {
					p.Wait() // an unbounded queue must not grow without end
				}
			}
		})
	}
	dice := rand.New(rand.NewPCG(uint64(queue), 2))
	for range scale(600, 100) {
		limit := 1 + dice.IntN(8)
		p.Resize(limit)
		// Every task that may have started before Resize returned is over
		// when this Wait returns; those that run now started under the new limit.
		p.Wait()
		running.peak.Store(0)
		from := finished.Load()
		for finished.Load() < from+50 {
			runtime.Gosched()
		}
		if peak := running.peak.Load(); peak > int64(limit) {
			t.Errorf("%d tasks ran at once, the limit was %d", peak, limit)
		}
	}
	stop.Store(true)
	producing.Wait()
	p.Close()
}

func TestPromise03ATaskThatBlocksNeverHoldsUpTheNext(t *testing.T) {
	for _, queue := range []int{0, 1, 2, 1024, weir.Unbounded} {
		for _, limit := range []int{1, 2, 8} {
			name := fmt.Sprintf("limit=%d/queue=%s", limit, queueName(queue))
			bubble(t, "blocking tasks all run/"+name, func(t *testing.T) {
				p := weir.New(limit, weir.Queue(queue))
				defer p.Close()
				for k := 1; k <= limit; k++ {
					// First on fresh workers, then on k−1 that are idle and one that
					// is not there yet, then again when all have expired.
					for _, rest := range []time.Duration{0, time.Second, time.Minute} {
						time.Sleep(rest)
						block(t, p, k).open()
						p.Wait()
					}
				}
			})
			if limit == 1 {
				continue
			}
			t.Run("each waits for the next to start/"+name, func(t *testing.T) {
				within(time.Minute, func() { chain(t, limit, queue) })
			})
		}
	}
	for _, limit := range []int{2, 3, 8} {
		for _, queue := range []int{0, 1, 1024} {
			t.Run(fmt.Sprintf("two tasks that need each other/limit=%d/queue=%d", limit, queue), func(t *testing.T) {
				within(time.Minute, func() { pairs(t, limit, queue) })
			})
		}
	}
	bubble(t, "the next starts while the others go on to block", func(t *testing.T) {
		// Tasks that were queued while there was no worker to be had all start
		// as soon as there are workers, though each of them blocks.
		for _, let := range []func(p *weir.Pool){
			func(p *weir.Pool) { p.Resize(8) },
			func(p *weir.Pool) { p.Resize(8); p.Resume() },
		} {
			p := weir.New(1)
			first := block(t, p, 1)
			v := newValve()
			for range 8 {
				ok(t, p.Submit(v.task))
			}
			let(p)
			synctest.Wait()
			equal(t, "running beside the first", v.running(), 7)
			first.open()
			synctest.Wait()
			equal(t, "running", v.running(), 8)
			v.open()
			p.Close()
		}
		p := weir.New(8)
		p.Pause()
		v := newValve()
		for range 8 {
			ok(t, p.Submit(v.task))
		}
		synctest.Wait()
		equal(t, "running while paused", v.running(), 0)
		p.Resume()
		synctest.Wait()
		equal(t, "running after Resume", v.running(), 8)
		v.open()
		p.Close()
	})
}

// chain runs tasks that each wait for the next one's start.
func chain(t *testing.T, limit, queue int) {
	p := weir.New(limit, weir.Queue(queue))
	defer p.Close()
	links := scale(4000, 800)
	started := make([]chan struct{}, links+1)
	for i := range started {
		started[i] = make(chan struct{})
	}
	close(started[links])
	for i := range links {
		ok(t, p.Submit(func() {
			close(started[i])
			<-started[i+1]
		}))
	}
}

// pairs runs two tasks that only end together, over and over: with no pause,
// each pair after the one before, and with the partner submitted by a task.
func pairs(t *testing.T, limit, queue int) {
	p := weir.New(limit, weir.Queue(queue))
	defer p.Close()
	meet := make(chan struct{})
	give, take := func() { meet <- struct{}{} }, func() { <-meet }
	rounds := scale(100_000, 10_000) / 9
	for range rounds {
		ok(t, p.Submit(give))
		ok(t, p.Submit(take))
	}
	p.Wait()
	for range rounds {
		ok(t, p.Submit(give))
		ok(t, p.Submit(take))
		p.Wait()
	}
	callPartner := func() {
		ok(t, p.Submit(take)) // Wait does not wait for this one: the worker may still be leaving the last
		meet <- struct{}{}
	}
	for range rounds {
		ok(t, p.Submit(callPartner))
		p.Wait()
	}
}

func TestPromise04TasksStartInTheOrderOfAcceptanceAndNobodyOvertakesAWaitingSubmitter(t *testing.T) {
	for _, queue := range []int{0, 1, 3, 32, 1000, weir.Unbounded} {
		bubble(t, "one worker/queue="+queueName(queue), func(t *testing.T) {
			p := weir.New(1, weir.Queue(queue))
			defer p.Close()
			var order []int
			v := block(t, p, 1)
			n := min(queue, 10_000)
			for i := range n {
				ok(t, p.Submit(func() { order = append(order, i) }))
			}
			v.open()
			p.Wait()
			equal(t, "tasks run", len(order), n)
			equal(t, "in order", slices.IsSorted(order), true)
		})
		if queue > 1000 {
			continue
		}
		bubble(t, "waiting submitters/queue="+queueName(queue), func(t *testing.T) {
			p := weir.New(1, weir.Queue(queue))
			defer p.Close()
			v := block(t, p, 1)
			for range queue {
				ok(t, p.Submit(v.task))
			}
			const waiters = 5
			var order []int
			accepted := 0
			for i := range waiters {
				go func() {
					ok(t, p.Submit(func() {
						order = append(order, i)
						v.task()
					}))
					accepted++
				}()
				synctest.Wait()
				equal(t, "waiting submitters", p.Stats().Waiting, i+1)
			}
			for i := range waiters {
				wantError(t, p.TrySubmit(nothing), weir.ErrFull)
				v.letOne()
				synctest.Wait()
				equal(t, "submitters let in", accepted, i+1)
				equal(t, "waiting submitters", p.Stats().Waiting, waiters-i-1)
			}
			wantError(t, p.TrySubmit(nothing), weir.ErrFull)
			v.open()
			p.Wait()
			equal(t, "in order", slices.Equal(order, []int{0, 1, 2, 3, 4}), true)
		})
	}
	bubble(t, "several workers take the oldest", func(t *testing.T) {
		p := weir.New(3)
		defer p.Close()
		v := newValve()
		var started [10]atomic.Bool
		for i := range started {
			ok(t, p.Submit(func() {
				started[i].Store(true)
				v.task()
			}))
		}
		for ran := 3; ran < len(started); ran++ {
			synctest.Wait()
			for i := range started {
				equal(t, fmt.Sprintf("task %d started when %d could", i, ran), started[i].Load(), i < ran)
			}
			v.letOne()
		}
		v.open()
	})
	for _, queue := range []int{0, 1, 3, 64, weir.Unbounded} {
		t.Run("each producer's own order/queue="+queueName(queue), func(t *testing.T) {
			// The worker alone touches last, so -race sees a second one, too.
			var last [4]int
			p := weir.NewFunc(1, func(task [2]int) {
				producer, n := task[0], task[1]
				if last[producer] != n-1 {
					t.Errorf("task %d of producer %d ran after %d", n, producer, last[producer])
				}
				last[producer] = n
			}, weir.Queue(queue))
			var producing sync.WaitGroup
			for producer := range last {
				producing.Go(func() {
					for n := 1; n <= scale(20_000, 2_000); n++ {
						ok(t, p.Invoke([2]int{producer, n}))
					}
				})
			}
			producing.Wait()
			p.Close()
		})
	}
}

func TestPromise05SubmitHappensBeforeTheTaskAndItsEndBeforeWait(t *testing.T) {
	// Nothing here but the pool orders the accesses to the plain variables: the
	// race detector tells if it does not, and without it the values do.
	for _, queue := range []int{0, 1, 1024, weir.Unbounded} {
		t.Run("queue="+queueName(queue), func(t *testing.T) {
			p := weir.New(4, weir.Queue(queue))
			ctx := context.Background()
			var cells [8]int
			work := func(i int) func() {
				cells[i]++
				return func() { cells[i]++ }
			}
			g := p.Group(ctx)
			waits := map[string]func(){
				"Wait":        p.Wait,
				"WaitContext": func() { ok(t, p.WaitContext(ctx)) },
			}
			for name, wait := range waits {
				for range scale(2000, 200) {
					clear(cells[:])
					for i := range cells {
						ok(t, p.Submit(work(i)))
					}
					wait()
					equal(t, name, cells, [8]int{2, 2, 2, 2, 2, 2, 2, 2})
				}
			}
			for range scale(2000, 200) {
				clear(cells[:])
				for i := range cells {
					task := work(i)
					g.Go(func(context.Context) error { task(); return nil })
				}
				ok(t, g.Wait())
				equal(t, "Group.Wait", cells, [8]int{2, 2, 2, 2, 2, 2, 2, 2})
			}
			for name, end := range map[string]func(p *weir.Pool){
				"Close":    (*weir.Pool).Close,
				"Shutdown": func(p *weir.Pool) { _, err := p.Shutdown(ctx); ok(t, err) },
			} {
				for range scale(500, 50) {
					p := weir.New(4, weir.Queue(queue))
					clear(cells[:])
					for i := range cells {
						ok(t, p.Submit(work(i)))
					}
					end(p)
					equal(t, name, cells, [8]int{2, 2, 2, 2, 2, 2, 2, 2})
				}
			}
			p.Close()
		})
	}
	t.Run("panic and Goexit", func(t *testing.T) {
		handled := 0
		p := weir.New(1, weir.OnPanic(func(*weir.Panic) { handled++ }))
		ended := 0
		for range scale(500, 50) {
			ok(t, p.Submit(func() { ended++; panic("x") }))
			ok(t, p.Submit(func() { ended++; runtime.Goexit() }))
			p.Wait()
		}
		equal(t, "ended", ended, 2*scale(500, 50))
		equal(t, "handled", handled, scale(500, 50))
		p.Close()
	})
}

func TestPromise06CloseMayBeCalledTwiceAtOnceAndDuringSubmit(t *testing.T) {
	ends := []struct {
		name string
		end  func(p *weir.Pool)
	}{
		{"Close", (*weir.Pool).Close},
		{"Shutdown", func(p *weir.Pool) { _, _ = p.Shutdown(context.Background()) }},
	}
	for _, first := range ends {
		for _, second := range ends {
			bubble(t, first.name+" and "+second.name, func(t *testing.T) {
				p := weir.New(2, weir.Queue(4))
				v := block(t, p, 2)
				for range 4 {
					ok(t, p.Submit(v.task))
				}
				waiting := make(chan error, 1)
				go func() { waiting <- p.Submit(v.task) }()
				synctest.Wait()
				var over atomic.Int32
				for _, end := range []func(p *weir.Pool){first.end, second.end, first.end, second.end} {
					go func() {
						end(p)
						over.Add(1)
					}()
				}
				synctest.Wait()
				equal(t, "over while tasks run", over.Load(), 0)
				wantError(t, <-waiting, weir.ErrClosed)
				wantError(t, p.Submit(nothing), weir.ErrClosed)
				wantError(t, p.TrySubmit(nothing), weir.ErrClosed)
				wantError(t, p.SubmitContext(t.Context(), nothing), weir.ErrClosed)
				v.open()
				synctest.Wait()
				equal(t, "over", over.Load(), 4)
				equal(t, "tasks run", v.ended.Load(), 6)
				noWorkers(t)
				first.end(p)
				second.end(p)
				wantError(t, p.Submit(nothing), weir.ErrClosed)
			})
		}
	}
	bubble(t, "a pool never used", func(t *testing.T) {
		p := weir.New(2)
		p.Close()
		p.Close()
		wantError(t, p.Submit(nothing), weir.ErrClosed)
	})
	for _, queue := range []int{0, 1, 64, weir.Unbounded} {
		t.Run("during Submit/queue="+queueName(queue), func(t *testing.T) {
			within(time.Minute, func() {
				for round := range scale(1500, 150) {
					closeDuringSubmit(t, queue, round)
				}
			})
			noWorkers(t)
		})
	}
}

func closeDuringSubmit(t *testing.T, queue, round int) {
	p := weir.New(2, weir.Queue(queue), weir.IdleTimeout(time.Duration(round%3)*time.Microsecond))
	var accepted, ran atomic.Int64
	var submitting, closing sync.WaitGroup
	for range 3 {
		submitting.Go(func() {
			for {
				err := p.Submit(func() { ran.Add(1) })
				if err != nil {
					wantError(t, err, weir.ErrClosed)
					return
				}
				accepted.Add(1)
			}
		})
	}
	yield(round % 16)
	for range 3 {
		closing.Go(func() {
			if round%2 == 0 {
				p.Close()
			} else if _, err := p.Shutdown(context.Background()); err != nil {
				t.Errorf("Shutdown failed with %v", err)
			}
			// All that will ever be accepted has run: nothing may change any more.
			n := ran.Load()
			submitting.Wait()
			equal(t, "tasks run when Close returned", n, accepted.Load())
			equal(t, "workers when Close returned", p.Stats().Workers, 0)
		})
	}
	closing.Wait()
	equal(t, "tasks run", ran.Load(), accepted.Load())
}

func TestPromise07APanicLosesNeitherWorkerNorSlotNorWaiter(t *testing.T) {
	// full sees that all workers are still to be had: limit tasks that need each other.
	full := func(t *testing.T, p *weir.Pool, limit int) {
		t.Helper()
		block(t, p, limit).open()
		p.Wait()
	}

	bubble(t, "OnPanic gets value and stack", func(t *testing.T) {
		var got []*weir.Panic
		p := weir.New(1, weir.Name("upload"), weir.OnPanic(func(p *weir.Panic) { got = append(got, p) }))
		defer p.Close()
		ok(t, p.Submit(explode))
		p.Wait()
		if len(got) != 1 {
			t.Fatalf("the handler was called %d times", len(got))
		}
		equal(t, "value", got[0].Value, any(errBoom))
		equal(t, "pool", got[0].Pool, "upload")
		wantError(t, got[0], errBoom)
		if !strings.Contains(string(got[0].Stack), "weir_test.explode") {
			t.Errorf("no trace of the task in its stack:\n%s", got[0].Stack)
		}
		for _, part := range []string{"upload", "boom", "weir_test.explode"} {
			if !strings.Contains(got[0].Error(), part) {
				t.Errorf("%q is not in the message:\n%v", part, got[0])
			}
		}
		equal(t, "panicked", p.Stats().Panicked, 1)
		equal(t, "finished", p.Stats().Finished, 1)
	})
	bubble(t, "the default logs", func(t *testing.T) {
		out := captureLog(t)
		p := weir.New(1, weir.Name("upload"))
		ok(t, p.Submit(explode))
		p.Close()
		for _, part := range []string{"level=ERROR", "task panicked", "panic=boom", "pool=upload", "weir_test.explode"} {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%q is not in the log:\n%s", part, out)
			}
		}
	})
	bubble(t, "a handler that panics", func(t *testing.T) {
		out := captureLog(t)
		p := weir.New(2, weir.OnPanic(func(*weir.Panic) { panic("handler failed") }))
		defer p.Close()
		for range 4 {
			ok(t, p.Submit(explode))
		}
		p.Wait()
		for _, part := range []string{"boom", "handler failed"} {
			equal(t, part+" in the log", strings.Count(out.String(), "panic="+part)+strings.Count(out.String(), `panic="`+part), 4)
		}
		full(t, p, 2)
	})
	bubble(t, "a handler that calls Goexit", func(t *testing.T) {
		p := weir.New(2, weir.OnPanic(func(*weir.Panic) { runtime.Goexit() }))
		defer p.Close()
		for range 4 {
			ok(t, p.Submit(explode))
		}
		p.Wait()
		full(t, p, 2)
		equal(t, "finished", p.Stats().Finished, 6)
	})

	for _, kind := range surfaces {
		for _, limit := range []int{1, 2, 4} {
			for _, queue := range []int{0, 1, 64} {
				bubble(t, fmt.Sprintf("the limit is whole afterwards/%s/limit=%d/queue=%d", kind.name, limit, queue), func(t *testing.T) {
					v := newValve()
					var handled atomic.Int32
					p := kind.make(limit, func(i int) {
						switch i {
						case 0:
							panic(nil) //nolint:govet // the one value that recover used to hide
						case 1:
							runtime.Goexit()
						case 2:
							panic("again")
						default:
							v.task()
						}
					}, weir.Queue(queue), weir.OnPanic(func(*weir.Panic) { handled.Add(1) }))
					for i := range 3 * limit {
						ok(t, p.submit(i%3))
					}
					p.Wait()
					equal(t, "handled", int(handled.Load()), 2*limit)
					for range limit {
						ok(t, p.submit(3))
					}
					synctest.Wait()
					equal(t, "running at once", v.running(), limit)
					v.open()
					p.Close()
					equal(t, "finished", p.Stats().Finished, uint64(4*limit))
				})
			}
		}
	}

	for _, name := range []string{"crash in a pool", "crash in a group"} {
		t.Run("CrashOnPanic/"+name, func(t *testing.T) {
			out, err := child(t, name)
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 2 {
				t.Errorf("ended with %v, not as a panic ends a program", err)
			}
			for _, part := range []string{"panic: ", "boom", "weir_test.explode"} {
				if !strings.Contains(out, part) {
					t.Errorf("%q is not in what the program wrote:\n%s", part, out)
				}
			}
		})
	}
	t.Run("the program lives on", func(t *testing.T) {
		out, err := child(t, "survive")
		ok(t, err)
		if !strings.Contains(out, "survived") {
			t.Errorf("the program wrote:\n%s", out)
		}
	})

	bubble(t, "a group's Wait panics with the task's stack", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 2)
		g.Go(explodeInGroup)
		g.Go(untilCancelled)
		value := caught(func() { _ = g.Wait() })
		p, isPanic := value.(*weir.Panic)
		if !isPanic {
			t.Fatalf("Wait panicked with %v", value)
		}
		equal(t, "value", p.Value, any(errBoom))
		if !strings.Contains(string(p.Stack), "weir_test.explodeInGroup") {
			t.Errorf("no trace of the task in its stack:\n%s", p.Stack)
		}
	})
	bubble(t, "PanicsAsErrors", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 2, weir.PanicsAsErrors())
		g.Go(untilCancelled)
		g.Go(explodeInGroup)
		err := g.Wait()
		var p *weir.Panic
		var failure *weir.TaskError
		if !errors.As(err, &p) || !errors.As(err, &failure) {
			t.Fatalf("Wait returned %v", err)
		}
		equal(t, "index", failure.Index, 1)
		wantError(t, err, errBoom)
		if !strings.Contains(string(p.Stack), "weir_test.explodeInGroup") {
			t.Errorf("no trace of the task in its stack:\n%s", p.Stack)
		}
	})
	bubble(t, "Goexit in a group is an error", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 2)
		g.Go(untilCancelled)
		g.Go(exitInGroup)
		err := g.Wait()
		wantError(t, err, weir.ErrGoexit)
		var failure *weir.TaskError
		if !errors.As(err, &failure) || failure.Index != 1 {
			t.Errorf("Wait returned %v", err)
		}
	})
	bubble(t, "a group on a pool leaves the limit whole", func(t *testing.T) {
		p := weir.New(3, weir.OnPanic(func(*weir.Panic) {}))
		defer p.Close()
		for _, sub := range []weir.GroupOption{weir.Limit(3), weir.KeepGoing()} {
			g := p.Group(t.Context(), sub, weir.PanicsAsErrors())
			for range 3 {
				g.Go(exitInGroup)
				g.Go(explodeInGroup)
			}
			if g.Wait() == nil {
				t.Error("the group did not fail")
			}
			v := newValve()
			for range 3 {
				g.Go(v.member)
			}
			synctest.Wait()
			equal(t, "running at once", v.running(), 3)
			v.open()
			ok(t, g.Wait())
		}
		full(t, p, 3)
	})
	bubble(t, "the second panic of a group goes to the handler", func(t *testing.T) {
		var handled atomic.Int32
		g := weir.NewGroup(t.Context(), 3, weir.OnPanic(func(*weir.Panic) { handled.Add(1) }))
		v := newValve()
		for range 3 {
			g.Go(func(context.Context) error { v.task(); panic(errBoom) })
		}
		synctest.Wait()
		v.open()
		if _, isPanic := caught(func() { _ = g.Wait() }).(*weir.Panic); !isPanic {
			t.Error("Wait did not panic")
		}
		equal(t, "handled", handled.Load(), 2)
	})
}

// untilCancelled is a task that ends with its group.
func untilCancelled(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func TestPromise08ACancelledGroupStartsNoneOfItsQueuedTasks(t *testing.T) {
	cause := errors.New("cause")
	cancels := []struct {
		name string
		// cancel is called with the group, its parent's cancel, and what makes a
		// running task of it fail.
		cancel func(g *weir.Group, parent context.CancelCauseFunc, failing chan<- error)
	}{
		{"by its parent", func(_ *weir.Group, parent context.CancelCauseFunc, _ chan<- error) { parent(cause) }},
		{"by Cancel", func(g *weir.Group, _ context.CancelCauseFunc, _ chan<- error) { g.Cancel(cause) }},
		{"by an error", func(_ *weir.Group, _ context.CancelCauseFunc, failing chan<- error) { failing <- cause }},
	}
	for _, c := range cancels {
		for _, owned := range []bool{true, false} {
			bubble(t, fmt.Sprintf("%s/workers of its own=%t", c.name, owned), func(t *testing.T) {
				ctx, parent := context.WithCancelCause(t.Context())
				defer parent(nil)
				var g *weir.Group
				if owned {
					g = weir.NewGroup(ctx, 2, weir.Queue(3))
				} else {
					p := weir.New(4, weir.Queue(3))
					defer p.Close()
					others := block(t, p, 2)
					defer others.open()
					g = p.Group(ctx)
				}
				failing := make(chan error, 1)
				slow := newValve()
				g.Go(func(ctx context.Context) error {
					select {
					case err := <-failing:
						return err
					case <-ctx.Done():
						return nil
					}
				})
				g.Go(slow.member)
				synctest.Wait()
				var started, blockedOver atomic.Int32
				count := func(context.Context) error { started.Add(1); return nil }
				for range 3 {
					g.Go(count)
				}
				for range 2 {
					go func() {
						g.Go(count)
						blockedOver.Add(1)
					}()
				}
				synctest.Wait()
				equal(t, "Go that blocks", blockedOver.Load(), 0)

				c.cancel(g, parent, failing)
				synctest.Wait()
				equal(t, "Go that blocked and has returned", blockedOver.Load(), 2)
				equal(t, "context's cause is the group's", errors.Is(context.Cause(g.Context()), cause), true)
				g.Go(count)
				equal(t, "TryGo", g.TryGo(count), false)
				result := make(chan error, 1)
				go func() { result <- g.Wait() }()
				synctest.Wait()
				equal(t, "Wait has returned while a task runs", len(result), 0)
				slow.open()
				err := <-result
				wantError(t, err, cause)
				var failure *weir.TaskError
				equal(t, "failed by a task", errors.As(err, &failure), c.name == "by an error")
				equal(t, "started", started.Load(), 0)
			})
		}
		bubble(t, c.name+"/while others block all workers", func(t *testing.T) {
			p := weir.New(2)
			defer p.Close()
			ctx, parent := context.WithCancelCause(t.Context())
			defer parent(nil)
			g := p.Group(ctx)
			failing := make(chan error, 1)
			if c.name == "by an error" {
				g.Go(func(context.Context) error { return <-failing })
				synctest.Wait()
			}
			others := newValve()
			for range 3 {
				ok(t, p.Submit(others.task))
			}
			var started atomic.Int32
			for range 3 {
				g.Go(func(context.Context) error { started.Add(1); return nil })
			}
			result := make(chan error, 1)
			go func() { result <- g.Wait() }()
			synctest.Wait()
			equal(t, "Wait has returned", len(result), 0)
			c.cancel(g, parent, failing)
			synctest.Wait()
			equal(t, "Wait has returned", len(result), 1)
			equal(t, "others that run", others.running(), 2)
			wantError(t, <-result, cause)
			others.open()
			p.Wait()
			equal(t, "started", started.Load(), 0)
		})
	}
	bubble(t, "by its parent's deadline", func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, cause)
		defer cancel()
		g := weir.NewGroup(ctx, 1)
		begin := time.Now()
		g.Go(untilCancelled)
		g.Go(func(context.Context) error { t.Error("started"); return nil })
		wantError(t, g.Wait(), cause)
		equal(t, "after", time.Since(begin), time.Minute)
	})
	bubble(t, "before it began", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		g := weir.NewGroup(ctx, 1)
		wantError(t, g.Wait(), cause)
		g.Go(func(context.Context) error { t.Error("started"); return nil })
		wantError(t, g.Wait(), cause)
	})
}

func TestPromise10AGroupIsAsNewAfterWait(t *testing.T) {
	cause := errors.New("cause")
	firsts := []struct {
		name string
		run  func(t *testing.T, g *weir.Group)
	}{
		{"success", func(t *testing.T, g *weir.Group) {
			g.Go(func(context.Context) error { return nil })
			ok(t, g.Wait())
		}},
		{"an error", func(t *testing.T, g *weir.Group) {
			g.Go(func(context.Context) error { return cause })
			wantError(t, g.Wait(), cause)
		}},
		{"a panic", func(t *testing.T, g *weir.Group) {
			g.Go(explodeInGroup)
			if caught(func() { _ = g.Wait() }) == nil {
				t.Error("Wait did not panic")
			}
		}},
		{"Goexit", func(t *testing.T, g *weir.Group) {
			g.Go(exitInGroup)
			wantError(t, g.Wait(), weir.ErrGoexit)
		}},
		{"Cancel", func(t *testing.T, g *weir.Group) {
			g.Go(untilCancelled)
			g.Cancel(cause)
			wantError(t, g.Wait(), cause)
		}},
		{"Cancel alone", func(t *testing.T, g *weir.Group) {
			g.Cancel(cause)
			wantError(t, g.Wait(), cause)
		}},
	}
	makers := map[string]func(t *testing.T) (*weir.Group, func()){
		"workers of its own": func(t *testing.T) (*weir.Group, func()) { return weir.NewGroup(t.Context(), 3), func() {} },
		"on a pool": func(t *testing.T) (*weir.Group, func()) {
			p := weir.New(3)
			return p.Group(t.Context()), p.Close
		},
		"with Limit": func(t *testing.T) (*weir.Group, func()) {
			p := weir.New(8)
			return p.Group(t.Context(), weir.Limit(3)), p.Close
		},
		"with KeepGoing": func(t *testing.T) (*weir.Group, func()) {
			return weir.NewGroup(t.Context(), 3, weir.KeepGoing()), func() {}
		},
	}
	for maker, newGroup := range makers {
		for _, first := range firsts {
			bubble(t, first.name+"/"+maker, func(t *testing.T) {
				g, end := newGroup(t)
				defer end()
				for range 3 {
					first.run(t, g)
					ok(t, g.Context().Err())
					v := newValve()
					for range 3 {
						g.Go(func(ctx context.Context) error {
							v.task()
							return ctx.Err()
						})
					}
					synctest.Wait()
					equal(t, "running", v.running(), 3)
					v.open()
					ok(t, g.Wait())
					ok(t, g.Wait())
				}
				g.Go(func(context.Context) error { return errBoom })
				err := g.Wait()
				var failure *weir.TaskError
				if !errors.As(err, &failure) || failure.Index != 0 {
					t.Errorf("the first task's error is %v", err)
				}
			})
		}
	}
}

func TestPromise11NothingIsThereThatNobodyUses(t *testing.T) {
	t.Run("at import", func(t *testing.T) {
		equal(t, "goroutines when the program began", goroutinesAtStart, 1)
	})
	t.Run("an unused pool", func(t *testing.T) {
		const pools, budget = 10_000, 1024
		keep := make([]any, 2*pools)
		before := runtime.NumGoroutine()
		for _, newPool := range []func() any{
			func() any { return weir.New(64) },
			func() any { return weir.NewFunc(64, func(string) {}) },
		} {
			var from, to runtime.MemStats
			runtime.ReadMemStats(&from)
			for i := range pools {
				keep[i] = newPool()
			}
			runtime.ReadMemStats(&to)
			if each := (to.TotalAlloc - from.TotalAlloc) / pools; each > budget {
				t.Errorf("%T costs %d bytes, more than %d", keep[0], each, budget)
			}
		}
		runtime.KeepAlive(keep)
		if n := runtime.NumGoroutine(); n > before {
			t.Errorf("%d goroutines have come", n-before)
		}
	})
	bubble(t, "a group after Wait", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 8, weir.Prestart(4))
		for range 3 {
			v := newValve()
			for range 8 {
				g.Go(v.member)
			}
			v.open()
			ok(t, g.Wait())
			noWorkers(t)
		}
	})
	bubble(t, "a pool dropped without Close", func(t *testing.T) {
		noWorkers(t)
		block(t, weir.New(8), 8).open()
		time.Sleep(10*time.Second - 1)
		synctest.Wait()
		equal(t, "goroutines just before the idle timeout", workerGoroutines(), 8)
		time.Sleep(time.Nanosecond)
		noWorkers(t)
	})
}

func TestPromise12EverythingWorksInOneBubbleAfterTheOther(t *testing.T) {
	use := func(t *testing.T, p *weir.Pool) {
		v := newValve()
		for range 20 {
			ok(t, p.Submit(v.task))
		}
		synctest.Wait()
		g := p.Group(t.Context())
		slow := func(context.Context) error { time.Sleep(time.Minute); return nil }
		for range 3 {
			g.Go(slow)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		wantError(t, p.WaitContext(ctx), context.DeadlineExceeded)
		v.open()
		ok(t, g.Wait())
		p.Wait()
		own := weir.NewGroup(t.Context(), 2)
		own.Go(slow)
		ok(t, own.Wait())
	}
	for _, name := range []string{"first", "second", "third"} {
		bubble(t, name+" bubble", func(t *testing.T) {
			p := weir.New(4, weir.Queue(100))
			use(t, p)
			// A submitter that waits for room, and one that leaves.
			full := weir.New(1, weir.Queue(0))
			v := block(t, full, 1)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			wantError(t, full.SubmitContext(ctx, nothing), context.DeadlineExceeded)
			go func() { ok(t, full.Submit(nothing)) }()
			synctest.Wait()
			v.open()
			full.Wait()
			full.Close()
			p.Close()
		})
		// No other test uses the default pool outside a bubble, and examples come last.
		bubble(t, name+" bubble with the default pool", func(t *testing.T) {
			p := weir.Default()
			use(t, p)
			time.Sleep(time.Hour)
			synctest.Wait()
			equal(t, "workers after the idle timeout", p.Stats().Workers, 0)
		})
	}
	// A pool that was made and has rested outside works inside, too.
	made := weir.New(1, weir.Queue(1))
	for _, name := range []string{"first", "second"} {
		bubble(t, name+" bubble with a pool from outside", func(t *testing.T) {
			use := block(t, made, 1)
			ok(t, made.Submit(use.task))
			go func() { ok(t, made.Submit(use.task)) }()
			synctest.Wait()
			equal(t, "waiting", made.Stats().Waiting, 1)
			use.open()
			made.Wait()
			time.Sleep(time.Hour)
		})
	}
}

func TestPromise13MisusePanicsAtTheCall(t *testing.T) {
	var (
		none context.Context
		ctx  = context.Background()
		p    = weir.New(2)
		f    = weir.NewFunc(2, func(int) {})
		g    = p.Group(ctx)
	)
	defer p.Close()
	defer f.Close()
	const (
		limit  = "weir: limit must be at least 1, got "
		noTask = "weir: task must be a function, got nil"
		noCtx  = "weir: context must not be nil, got nil"
		noOpt  = "weir: option must not be nil, got nil"
	)
	for _, misuse := range []struct {
		name, want string
		call       func()
	}{
		{"New limit 0", limit + "0", func() { weir.New(0) }},
		{"New limit -1", limit + "-1", func() { weir.New(-1) }},
		{"NewFunc limit 0", limit + "0", func() { weir.NewFunc(0, func(int) {}) }},
		{"NewGroup limit 0", limit + "0", func() { weir.NewGroup(ctx, 0) }},
		{"Resize 0", limit + "0", func() { p.Resize(0) }},
		{"FuncPool Resize -3", limit + "-3", func() { f.Resize(-3) }},
		{"Limit 0", limit + "0", func() { weir.Limit(0) }},
		{"Queue -1", "weir: queue must be at least 0, got -1", func() { weir.Queue(-1) }},
		{"MaxWaiting -1", "weir: waiting submitters must be at least 0, got -1", func() { weir.MaxWaiting(-1) }},
		{"IdleTimeout -1", "weir: idle timeout must be at least 0, got -1ns", func() { weir.IdleTimeout(-1) }},
		{"Prestart -1", "weir: prestarted workers must be at least 0, got -1", func() { weir.Prestart(-1) }},
		{"Prestart 3 of 2", "weir: prestarted workers must be at most the limit 2, got 3", func() { weir.New(2, weir.Prestart(3)) }},
		{"Prestart 3 of 2 in a group", "weir: prestarted workers must be at most the limit 2, got 3", func() { weir.NewGroup(ctx, 2, weir.Prestart(3)) }},
		{"OnPanic nil", "weir: panic handler must be a function, got nil", func() { weir.OnPanic(nil) }},
		{"NewFunc nil", "weir: function must not be nil, got nil", func() { weir.NewFunc[int](2, nil) }},
		{"New option nil", noOpt, func() { weir.New(2, nil) }},
		{"NewFunc option nil", noOpt, func() { weir.NewFunc(2, func(int) {}, nil) }},
		{"NewGroup option nil", noOpt, func() { weir.NewGroup(ctx, 2, nil) }},
		{"Group option nil", noOpt, func() { p.Group(ctx, nil) }},
		{"New Limit", "weir: Limit is an option of groups, not of pools", func() { weir.New(2, weir.Limit(1)) }},
		{"NewFunc KeepGoing", "weir: KeepGoing is an option of groups, not of pools", func() { weir.NewFunc(2, func(int) {}, weir.KeepGoing()) }},
		{"New PanicsAsErrors", "weir: PanicsAsErrors is an option of groups, not of pools", func() { weir.New(2, weir.PanicsAsErrors()) }},
		{"Submit nil", noTask, func() { _ = p.Submit(nil) }},
		{"SubmitContext nil", noTask, func() { _ = p.SubmitContext(ctx, nil) }},
		{"TrySubmit nil", noTask, func() { _ = p.TrySubmit(nil) }},
		{"Go nil", noTask, func() { g.Go(nil) }},
		{"TryGo nil", noTask, func() { g.TryGo(nil) }},
		{"SubmitContext without context", noCtx, func() { _ = p.SubmitContext(none, nothing) }},
		{"InvokeContext without context", noCtx, func() { _ = f.InvokeContext(none, 1) }},
		{"WaitContext without context", noCtx, func() { _ = p.WaitContext(none) }},
		{"Shutdown without context", noCtx, func() { _, _ = p.Shutdown(none) }},
		{"FuncPool Shutdown without context", noCtx, func() { _, _ = f.Shutdown(none) }},
		{"NewGroup without context", noCtx, func() { weir.NewGroup(none, 2) }},
		{"Group without context", noCtx, func() { p.Group(none) }},
		{"Close the default pool", "weir: the default pool is shared and cannot be closed", func() { weir.Default().Close() }},
		{"Shutdown the default pool", "weir: the default pool is shared and cannot be closed", func() { _, _ = weir.Default().Shutdown(ctx) }},
	} {
		t.Run(misuse.name, func(t *testing.T) { mustPanic(t, misuse.want, misuse.call) })
	}
	// None of it has done anything.
	ok(t, g.Wait())
	equal(t, "stats", p.Stats(), weir.Stats{Limit: 2})
	equal(t, "stats", f.Stats(), weir.Stats{Limit: 2})
	ok(t, p.Submit(nothing))
	ok(t, f.Invoke(1))
}

// labelled counts the goroutines that bear a profiler label.
func labelled(key, value string) int {
	var profile strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		panic(err)
	}
	// "3 @ 0x… 0x…" begins a record of 3 goroutines, "# labels: {…}" may follow it.
	record := regexp.MustCompile(`(?m)^(\d+) @ .*\n# labels: \{(.*)\}$`)
	n := 0
	for _, match := range record.FindAllStringSubmatch(profile.String(), -1) {
		if strings.Contains(match[2], fmt.Sprintf("%q:%q", key, value)) {
			var count int
			if _, err := fmt.Sscan(match[1], &count); err != nil {
				panic(err)
			}
			n += count
		}
	}
	return n
}

// labels runs f as a request with an id that profiles show.
func labels(id string, f func()) {
	pprof.Do(context.Background(), pprof.Labels("request", id), func(context.Context) { f() })
}

func TestPromise14WorkersBearNoLabelsOfWhoeverStartedThem(t *testing.T) {
	labels("seen", func() { equal(t, "goroutines labelled while the test is", labelled("request", "seen"), 1) })

	starts := map[string]func(p *weir.Pool, task func()){
		"Submit": func(p *weir.Pool, task func()) { labels("mine", func() { ok(t, p.Submit(task)) }) },
		"Resume": func(p *weir.Pool, task func()) {
			p.Pause()
			ok(t, p.Submit(task))
			labels("mine", p.Resume)
		},
		"Resize": func(p *weir.Pool, task func()) {
			v := newValve()
			defer v.open()
			p.Resize(1)
			ok(t, p.Submit(v.task))
			eventually(t, "the worker blocks", func() bool { return v.running() == 1 })
			ok(t, p.Submit(task))
			labels("mine", func() { p.Resize(2) })
		},
		"after Goexit": func(p *weir.Pool, task func()) {
			p.Resize(1)
			labels("mine", func() {
				ok(t, p.Submit(runtime.Goexit))
				ok(t, p.Submit(task))
			})
		},
		"Group": func(p *weir.Pool, task func()) {
			labels("mine", func() {
				p.Group(context.Background()).Go(func(context.Context) error { task(); return nil })
			})
		},
		"reuse": func(p *weir.Pool, task func()) {
			labels("mine", func() {
				ok(t, p.Submit(nothing))
				p.Wait()
			})
			labels("other", func() { ok(t, p.Submit(task)) })
		},
	}
	for name, start := range starts {
		for _, named := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/named=%t", name, named), func(t *testing.T) {
				var opts []weir.Option
				workers := 0
				if named {
					opts, workers = append(opts, weir.Name("labelled")), 1
				}
				p := weir.New(4, opts...)
				v := newValve()
				start(p, v.task)
				eventually(t, "the task runs", func() bool { return v.running() == 1 })
				// A goroutine that has not yet had its first turn is as it was started.
				if !tries(1<<10, func() bool { return labelled("request", "mine")+labelled("request", "other") == 0 }) {
					t.Errorf("goroutines bear the starter's label:\n%s", stacks())
				}
				if n := labelled("weir", "labelled"); n < workers || !named && n > 0 {
					t.Errorf("%d goroutines bear the pool's name", n)
				}
				v.open()
				p.Close()
			})
		}
	}
	t.Run("Prestart", func(t *testing.T) {
		var p *weir.Pool
		labels("mine", func() { p = weir.New(4, weir.Prestart(4)) })
		eventually(t, "the workers rest", func() bool { return p.Stats().Idle == 4 })
		equal(t, "goroutines that bear the starter's label", labelled("request", "mine"), 0)
		p.Close()
	})
}
