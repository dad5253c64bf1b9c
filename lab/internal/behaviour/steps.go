package behaviour

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// goexits is scenario 01.
func goexits(env Env, p pool) error {
	const (
		few, many = 100_000, 5_000_000
		long      = 100 * time.Millisecond // a task takes a microsecond
		excused   = 2                      // a machine may stand still for a moment
	)
	rounds := few
	if env.Full {
		rounds = many
	}
	var ran atomic.Int64
	task := func() {
		ran.Add(1)
		runtime.Goexit()
	}
	stalls, longest, last := 0, time.Duration(0), time.Now()
	for i := range rounds {
		if i%(few/10) == 0 {
			env.Step("task %d of %d", i, rounds)
		}
		if err := p.submit(task); err != nil {
			return err
		}
		now := time.Now()
		took := now.Sub(last)
		last = now
		longest = max(longest, took)
		if took > long {
			stalls++
		}
	}
	env.Step("all %d tasks are handed over, %d have run", rounds, ran.Load())
	if err := p.wait(); err != nil {
		return err
	}
	switch {
	case stalls > excused:
		return fmt.Errorf("%d of %d submissions stalled, for up to %v", stalls, rounds, longest.Round(time.Millisecond))
	case env.Full:
		env.Note("%d tasks", rounds)
	default:
		env.Note("only %d tasks; a full run takes %d", rounds, many)
	}
	return count("tasks run", ran.Load(), int64(rounds))
}

// shrink is scenario 02, for a pool whose limit is 4.
func shrink(_ Env, p pool) error {
	var before, after gauge
	four := func(g *gauge, which string) error {
		if err := p.handOver(4, g.task(settled)); err != nil {
			return err
		}
		if !until(func() bool { return g.ended.Load() == 4 }) {
			return fmt.Errorf("%d of the %s 4 tasks ran", g.ended.Load(), which)
		}
		return nil
	}
	if err := four(&before, "first"); err != nil {
		return err
	}
	time.Sleep(settled) // the workers become idle
	p.resize(1)
	if err := four(&after, "last"); err != nil {
		return err
	}
	if before.Peak.Load() != 4 {
		return fmt.Errorf("%d tasks at once before, limit 4", before.Peak.Load())
	}
	if after.Peak.Load() != 1 {
		return fmt.Errorf("%d tasks at once, limit 1", after.Peak.Load())
	}
	return nil
}

// nilTask is scenario 03. mistake submits a nil task, to p or elsewhere, and returns how the library reports it;
// p then runs 4 other tasks.
func nilTask(mistake func(p pool) error) func(env Env, p pool) error {
	return func(env Env, p pool) error {
		told := told(func() error { return mistake(p) })
		var ran atomic.Int32
		if err := p.run(4, func() { ran.Add(1) }); err != nil {
			return err
		}
		if told == nil {
			return fmt.Errorf("no mistake is reported; %d of 4 more tasks ran", ran.Load())
		}
		env.Note("%v", told)
		return count("more tasks run", ran.Load(), 4)
	}
}

// submitsNil is the mistake of scenario 03 for a pool whose submit function is the library's.
func submitsNil(p pool) error { return p.submit(nil) }

// runAll is scenario 05 and part of others: it submits 10 tasks, and all of them must run.
func runAll(_ Env, p pool) error {
	var ran atomic.Int32
	if err := p.run(10, func() { ran.Add(1) }); err != nil {
		return err
	}
	return count("tasks run", ran.Load(), 10)
}

// huge returns 1<<32, or the largest int if that is less.
func huge() int { return int(min(int64(1)<<32, math.MaxInt)) }

// waitTwice is scenario 04 for a library whose waits have no deadline.
func waitTwice(env Env, p pool) error {
	var g gauge
	if err := p.submit(g.task(settled)); err != nil {
		return err
	}
	for _, call := range []string{"first", "second"} {
		env.Step("%s Wait", call)
		if err := p.wait(); err != nil {
			return err
		}
	}
	return count("tasks ended", g.ended.Load(), 1)
}

// exits is scenario 06, for a limit of 2. If tells, the wait reports errors, and must report the tasks that exit.
func exits(tells bool, step string) func(env Env, p pool) error {
	return func(env Env, p pool) error {
		var ended atomic.Int32
		if err := errors.Join(p.handOver(2, runtime.Goexit), p.handOver(2, func() { ended.Add(1) })); err != nil {
			return err
		}
		env.Step("%s", step)
		err := p.wait()
		if err := count("other tasks run", ended.Load(), 2); err != nil {
			return err
		}
		if tells && err == nil {
			return errNotTold
		}
		return nil
	}
}

// panics is scenario 07, for a library that tells of a panic when it is waited for. run runs a task and waits for it.
func panics(run func(task func()) error) error {
	if told(func() error { return run(func() { panic("boom") }) }) == nil {
		return errors.New("the panic is not reported")
	}
	var ran atomic.Int32
	for range 2 {
		if err := told(func() error { return run(func() { ran.Add(1) }) }); err != nil {
			return fmt.Errorf("a later wait: %w", err)
		}
	}
	return count("later tasks run", ran.Load(), 2)
}

// recurs is scenario 09, for a library that can wait for some of the tasks only by counting them.
func recurs(env Env, p pool) error {
	return nested(env, p.submit, func(task func()) error { return counted(p.submit).run(2, task) })
}

// lowLimits is scenario 20, for a library that accepts both limits.
func lowLimits(open opener) func(env Env) error {
	return func(env Env) error {
		for _, limit := range []int{0, -1} {
			if err := open.with(limit, runAll)(env); err != nil {
				return fmt.Errorf("limit %d: %w", limit, err)
			}
		}
		return nil
	}
}

// nested is scenario 09. outer submits a task to the pool. inner submits 2 tasks to the pool from a task and waits
// for them. nested waits for the outer tasks itself: in some libraries, waiting on the pool would end the pool.
func nested(env Env, outer, inner func(task func()) error) error {
	var both, done sync.WaitGroup
	both.Add(2)
	done.Add(2)
	var ran atomic.Int32
	var failure atomic.Pointer[error]
	for range 2 {
		err := outer(func() {
			defer done.Done()
			both.Done()
			both.Wait() // all workers are busy now
			if err := inner(func() { ran.Add(1) }); err != nil {
				failure.Store(&err)
			}
		})
		if err != nil {
			return err
		}
	}
	env.Step("tasks wait for tasks on their own pool")
	done.Wait()
	if err := failure.Load(); err != nil {
		return *err
	}
	return count("inner tasks run", ran.Load(), 4)
}

// numbered returns the results of task i of scenario 10.
func numbered(i int) (int, error) {
	if i == 3 || i == 7 {
		return i, errBoom
	}
	return i, nil
}

// inOrder checks the results of scenario 10.
func inOrder(results []int, err error) error {
	for i, result := range results {
		if result != i {
			return fmt.Errorf("result %d is %d", i, result)
		}
	}
	if len(results) != 10 {
		return fmt.Errorf("%d results of 10", len(results))
	}
	return returned("the whole", err, errBoom)
}

// allAtOnce is scenario 11. stream runs task for each number below tasks, without a limit, and passes the
// numbers to consume in order.
func allAtOnce(stream func(tasks int, task func(i int), consume func(i int)) error) func(Env) error {
	return func(Env) error {
		const tasks = 8
		var g gauge
		var order []int
		err := stream(tasks, func(i int) {
			g.Enter()
			time.Sleep(settled + time.Duration(tasks-i)*time.Millisecond) // the last task is ready first
			g.end()
		}, func(i int) { order = append(order, i) })
		if err != nil {
			return err
		}
		for i, got := range order {
			if i != got {
				return fmt.Errorf("order %v", order)
			}
		}
		return errors.Join(
			count("results", len(order), tasks),
			count("tasks at once", g.Peak.Load(), tasks))
	}
}

// manyResults is scenario 12.
func manyResults(results func(tasks int) ([]int, error)) func(Env) error {
	return func(env Env) error {
		const tasks, most = 10_000, 20 << 20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := results(tasks)
		runtime.ReadMemStats(&after)
		if err != nil {
			return err
		}
		if err := count("results", len(got), tasks); err != nil {
			return err
		}
		spent := after.TotalAlloc - before.TotalAlloc
		if spent > most {
			return fmt.Errorf("%.1f MB allocated", float64(spent)/(1<<20))
		}
		env.Note("%.1f MB allocated", float64(spent)/(1<<20))
		return nil
	}
}

// stopped is scenario 13. each makes a pool, stops it, and returns the error of a submission, which must be
// refusal.
func stopped(refusal error, each func() error) func(Env) error {
	return func(Env) error {
		const rounds = 200
		accepted := 0
		for range rounds {
			switch err := each(); {
			case err == nil:
				accepted++
			case !errors.Is(err, refusal):
				return err
			}
		}
		if accepted > 0 {
			return fmt.Errorf("accepted %d of %d times", accepted, rounds)
		}
		return nil
	}
}

// accounted is the end of scenario 16: each of the 4 waiting tasks has run, or its submitter got an error.
func accounted(env Env, ran int32, refused int) error {
	if int(ran)+refused != 4 {
		return fmt.Errorf("%d of 4 ran, %d were refused", ran, refused)
	}
	env.Note("%d of 4 ran, %d were refused", ran, refused)
	return nil
}

// leave is scenario 17. occupy takes the only place, and submit then waits for it.
func leave(occupy func(task func()), submit, cancel func()) error {
	g := newGate()
	defer g.open()
	occupy(g.task)
	<-g.started
	returned := make(chan struct{})
	go func() {
		submit()
		close(returned)
	}()
	select {
	case <-returned:
		return errors.New("the submission did not wait for room")
	case <-time.After(settled):
	}
	cancel()
	select {
	case <-returned:
		return nil
	case <-time.After(10 * settled):
		return fmt.Errorf("still waiting %v after the cancellation", 10*settled)
	}
}

// together is scenario 24, for a limit of 1. Two goroutines submit one task each, and go on when both tasks
// have ended.
func together(env Env, p pool) error {
	const (
		most  = 20_000                  // rounds
		long  = 1500 * time.Millisecond // for all rounds, on a busy machine
		short = 10 * time.Microsecond   // enough to notice a second task
		spins = 10_000                  // after these, a submitter yields: both may share one processor
	)
	var arrived, ended atomic.Int64 // in all rounds
	var now, both, rounds atomic.Int64
	task := func() {
		if now.Add(1) > 1 {
			both.Add(1)
		}
		for begin := time.Now(); time.Since(begin) < short; {
			runtime.Gosched()
		}
		now.Add(-1)
		ended.Add(1)
	}
	var failure atomic.Pointer[error]
	var enough atomic.Bool
	var submitters sync.WaitGroup
	begin := time.Now()
	for i := range 2 {
		submitters.Go(func() {
			for round := int64(0); ; round++ {
				if i == 0 { // one submitter decides for both, before they meet
					if round%1000 == 0 {
						env.Step("round %d of %d", round, most)
					}
					rounds.Store(round)
					enough.Store(round == most || time.Since(begin) > long)
				}
				arrived.Add(1)
				for spin := 0; arrived.Load() < 2*(round+1); spin++ { // spin: a wake-up would separate the two
					if spin > spins {
						runtime.Gosched()
					}
				}
				if enough.Load() {
					return
				}
				if err := p.submit(task); err != nil {
					failure.Store(&err)
					ended.Add(1)
				}
				for ended.Load() < 2*(round+1) {
					runtime.Gosched()
				}
			}
		})
	}
	submitters.Wait()
	if err := failure.Load(); err != nil {
		return *err
	}
	if n := both.Load(); n > 0 {
		return fmt.Errorf("2 tasks at once in %d of %d rounds", n, rounds.Load())
	}
	if runtime.GOMAXPROCS(0) == 1 {
		env.Note("%d rounds, but on 1 processor, where the 2 submitters take turns", rounds.Load())
	} else {
		env.Note("%d rounds", rounds.Load())
	}
	return nil
}
