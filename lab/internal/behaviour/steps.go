package behaviour

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var errBoom = errors.New("boom")

// gauge sees how many tasks run at once.
type gauge struct{ now, peak, ended atomic.Int64 }

func (g *gauge) begin() {
	now := g.now.Add(1)
	for {
		peak := g.peak.Load()
		if now <= peak || g.peak.CompareAndSwap(peak, now) {
			return
		}
	}
}

func (g *gauge) end() {
	g.now.Add(-1)
	g.ended.Add(1)
}

// task returns a task that takes d.
func (g *gauge) task(d time.Duration) func() {
	return func() {
		g.begin()
		time.Sleep(d)
		g.end()
	}
}

// until waits for what must come soon, and reports whether it came.
func until(condition func() bool) bool {
	for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); {
		if condition() {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return condition()
}

// gate is a task that runs until it is opened.
type gate struct{ started, opened chan struct{} }

func newGate() *gate { return &gate{make(chan struct{}), make(chan struct{})} }

func (g *gate) task() {
	close(g.started)
	<-g.opened
}

func (g *gate) open() { close(g.opened) }

// settled is long enough for a goroutine to get where it blocks.
const settled = 50 * time.Millisecond

// told returns what call returns or panics with.
func told(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			text, _, _ := strings.Cut(fmt.Sprint(p), "\n") // a stack may follow
			err = errors.New("panic: " + text)
		}
	}()
	return call()
}

// returned fails unless a call has returned the error that it should.
func returned(call string, err, want error) error {
	switch {
	case errors.Is(err, want):
		return nil
	case err == nil:
		return fmt.Errorf("%s returned nil", call)
	default:
		return fmt.Errorf("%s returned the error %w", call, err)
	}
}

// errNotTold is seen where a wait says nothing of tasks that called runtime.Goexit.
var errNotTold = errors.New("the wait returned nil, as if all tasks had succeeded")

// count fails unless all is as it should be.
func count[N int | int32 | int64](what string, got, want N) error {
	if got != want {
		return fmt.Errorf("%s: %d, not %d", what, got, want)
	}
	return nil
}

// goexits is scenario 01.
func goexits(env Env, submit func(task func()) error, wait func()) error {
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
		if i%few == 0 {
			env.Step("task %d of %d", i, rounds)
		}
		if err := submit(task); err != nil {
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
	wait()
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
func shrink(submit func(task func()) error, resize func(limit int)) error {
	var before, after gauge
	for range 4 {
		if err := submit(before.task(settled)); err != nil {
			return err
		}
	}
	if !until(func() bool { return before.ended.Load() == 4 }) {
		return fmt.Errorf("%d of the first 4 tasks ran", before.ended.Load())
	}
	time.Sleep(settled) // the workers become idle
	resize(1)
	for range 4 {
		if err := submit(after.task(settled)); err != nil {
			return err
		}
	}
	if !until(func() bool { return after.ended.Load() == 4 }) {
		return fmt.Errorf("%d of the last 4 tasks ran", after.ended.Load())
	}
	if before.peak.Load() != 4 {
		return fmt.Errorf("%d tasks at once before, limit 4", before.peak.Load())
	}
	if after.peak.Load() != 1 {
		return fmt.Errorf("%d tasks at once, limit 1", after.peak.Load())
	}
	return nil
}

// nilTask is scenario 03. mistake hands over a nil task and returns what the
// library has told about it; others runs 4 tasks and waits for them.
func nilTask(env Env, mistake func() error, others func(task func()) error) error {
	told := told(mistake)
	var ran atomic.Int32
	if err := others(func() { ran.Add(1) }); err != nil {
		return err
	}
	if told == nil {
		return fmt.Errorf("nothing is told; %d of 4 further tasks ran", ran.Load())
	}
	env.Note("%v", told)
	return count("further tasks run", ran.Load(), 4)
}

// runAll is scenario 05 and part of others: it hands 10 tasks over, and wants all
// of them run.
func runAll(submit func(task func()) error, wait func() error) error {
	var ran atomic.Int32
	for range 10 {
		if err := submit(func() { ran.Add(1) }); err != nil {
			return err
		}
	}
	if err := wait(); err != nil {
		return err
	}
	return count("tasks run", ran.Load(), 10)
}

// huge returns 1<<32, or the largest int if that is less.
func huge() int { return int(min(int64(1)<<32, math.MaxInt)) }

// nested is scenario 09. outer hands a task to the pool, inner hands 2 tasks to it
// from a task and waits for them. It is not the pool that waits for the outer tasks:
// in some libraries that would end it.
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

// numbered is what task i of scenario 10 returns.
func numbered(i int) (int, error) {
	if i == 3 || i == 7 {
		return i, errBoom
	}
	return i, nil
}

// inOrder looks at the results of scenario 10.
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

// manyResults is scenario 12.
func manyResults(env Env, results func(tasks int) ([]int, error)) error {
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

// stopped is scenario 13. each makes a pool, stops it, and returns the error of a
// submission, which must be refusal.
func stopped(refusal error, each func() error) error {
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

// leave is scenario 17. occupy takes the only place, submit then waits for it.
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

// bubbles is scenario 19: f in two bubbles, in one test after the other. f may tell
// what part of it comes next.
func bubbles(env Env, f func(part func(name string)) error) error {
	os.Args = os.Args[:1] // the arguments are not meant for package testing
	result := make(chan error)
	everything := func(string, string) (bool, error) { return true, nil }
	go testing.Main(everything, []testing.InternalTest{{Name: "bubbles", F: func(t *testing.T) {
		var failure error
		for _, name := range []string{"first", "second"} {
			part := func(text string) { env.Step("%s bubble, %s", name, text) }
			part("begin")
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(*testing.T) {
					if err := f(part); err != nil {
						failure = errors.Join(failure, fmt.Errorf("%s bubble: %w", name, err))
					}
				})
			})
		}
		if t.Failed() && failure == nil {
			failure = errors.New("a test failed")
		}
		result <- failure
		select {} // Main would end the process
	}}}, nil, nil)
	return <-result
}

// inBubble is what runs in each bubble: tasks that take time, more than the limit
// of 2.
func inBubble(submit func(task func()) error, wait func() error) error {
	begin := time.Now()
	err := runAll(func(task func()) error {
		return submit(func() {
			time.Sleep(time.Second)
			task()
		})
	}, wait)
	if err != nil {
		return err
	}
	if took := time.Since(begin); took != 5*time.Second {
		return fmt.Errorf("10 tasks of 1s took %v at limit 2", took)
	}
	return nil
}

// goroutines is scenario 21, for the packages whose names begin with one of
// these.
func goroutines(create func(), packages ...string) error {
	byImport := goroutinesOf(packages)
	for range 10 {
		create()
	}
	byPools := goroutinesOf(packages) - byImport
	if byImport != 0 || byPools != 0 {
		return fmt.Errorf("%d goroutines by the import, %d by 10 pools", byImport, byPools)
	}
	return nil
}

// goroutinesOf counts the goroutines that run, or were started by, a function of
// the packages. All libraries are in this program: only stacks tell whose
// goroutine it is.
func goroutinesOf(packages []string) int {
	buf := make([]byte, 1<<20)
	stacks := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
	n := 0
	for _, stack := range stacks[1:] { // the first one is the caller's
		for _, name := range packages {
			if strings.Contains(stack, name) {
				n++
				break
			}
		}
	}
	return n
}

// labels is scenario 23, for a limit of 1.
func labels(submit func(task func())) error {
	request := func(name string, task func()) {
		pprof.Do(context.Background(), pprof.Labels("request", name), func(context.Context) { submit(task) })
	}
	first, second := newGate(), newGate()
	request("first", first.task)
	<-first.started
	go request("second", second.task)
	time.Sleep(settled) // the second task waits in the queue, or its submission for room
	first.open()
	<-second.started
	defer second.open()
	var failure error
	gone := until(func() bool { // a goroutine of the first request may be about to end
		var profile bytes.Buffer
		failure = pprof.Lookup("goroutine").WriteTo(&profile, 1)
		return failure == nil && !strings.Contains(profile.String(), `"request":"first"`)
	})
	if !gone && failure == nil {
		failure = errors.New("the second request's task runs with the first one's label")
	}
	return failure
}

// reuse is a feature, for a limit of 4.
func reuse(env Env, submit func(task func()) error, wait func() error) error {
	const tasks = 200
	var mu sync.Mutex
	seen := make(map[string]bool)
	for range tasks {
		err := submit(func() {
			time.Sleep(time.Millisecond)
			var buf [32]byte
			id := strings.Fields(string(buf[:runtime.Stack(buf[:], false)]))[1] // after "goroutine"
			mu.Lock()
			defer mu.Unlock()
			seen[id] = true
		})
		if err != nil {
			return err
		}
	}
	if err := wait(); err != nil {
		return err
	}
	if len(seen) > tasks/4 {
		return fmt.Errorf("%d goroutines for %d tasks", len(seen), tasks)
	}
	env.Note("%d goroutines for %d tasks", len(seen), tasks)
	return nil
}

// waits is a feature.
func waits(submit func(task func()) error, wait func() error) error {
	var g gauge
	for range 100 {
		if err := submit(g.task(time.Millisecond)); err != nil {
			return err
		}
	}
	if err := wait(); err != nil {
		return err
	}
	return count("tasks ended", g.ended.Load(), 100)
}

// resize is a feature, for a limit of 2.
func resize(submit func(task func()) error, change func(limit int)) error {
	var g gauge
	var enough atomic.Bool
	backlog := make(chan struct{}, 16) // submitting goes on all the time, also where it never waits
	task := func() {
		g.begin()
		time.Sleep(2 * time.Millisecond)
		g.end()
		<-backlog
	}
	fed := make(chan error, 1)
	go func() {
		var err error
		for err == nil && !enough.Load() {
			backlog <- struct{}{}
			err = submit(task)
		}
		fed <- err
	}()
	err := func() error {
		defer enough.Store(true)
		if !until(func() bool { return g.peak.Load() >= 2 }) {
			return fmt.Errorf("%d tasks at once at first, limit 2", g.peak.Load())
		}
		time.Sleep(settled)
		if peak := g.peak.Load(); peak > 2 {
			return fmt.Errorf("%d tasks at once at first, limit 2", peak)
		}
		change(6)
		if !until(func() bool { return g.peak.Load() >= 6 }) {
			return fmt.Errorf("%d tasks at once after the limit was raised to 6", g.peak.Load())
		}
		time.Sleep(settled)
		if peak := g.peak.Load(); peak > 6 {
			return fmt.Errorf("%d tasks at once after the limit was raised to 6", peak)
		}
		change(2)
		time.Sleep(settled) // those that run end
		ended := g.ended.Load()
		g.peak.Store(0)
		time.Sleep(settled)
		if g.ended.Load() == ended {
			return errors.New("no task runs after the limit was lowered")
		}
		if peak := g.peak.Load(); peak > 2 {
			return fmt.Errorf("%d tasks at once after the limit was lowered to 2", peak)
		}
		return nil
	}()
	return errors.Join(err, <-fed)
}
