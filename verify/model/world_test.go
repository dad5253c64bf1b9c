package model_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/internal/face"
	"github.com/64ed045f/weir/verify/model"
)

// world is what a machine and its tasks share: one check of rapid, in one bubble.
type world struct {
	t     *rapid.T
	begin time.Time
	ended chan struct{} // closed at the end of the check: all goroutines that block go on
	step  string        // for reports
	trail []string      // all steps, also for those

	pool     *model.Pool
	lib      face.Pool[*task] // nil if it is a group's own
	steps    int
	closing  int // how many steps there are at least before the pool may be closed
	tasks    []*task
	calls    []*call
	contexts []*deadline

	mu     sync.Mutex // for what tasks and calls write
	panics []*boom    // that the handler got
	errs   []error    // that OnError got, without those of tasks that did not start

	// What the panics of tasks must have led to by now.
	wantPanics []*boom
	wantErrs   []error
	wantLogs   []string

	order func(a, b *task) int // in which tasks that are handed back are compared; nil if they come in one order
}

func newWorld(t *rapid.T) *world {
	logged.take()
	return &world{t: t, begin: time.Now(), ended: make(chan struct{})}
}

// task is a task that follows orders.
type task struct {
	world  *world
	model  *model.Task
	orders chan order
	starts int             // under world.mu
	ctx    context.Context // that the task got, if it gets one; under world.mu
	err    error           // what it must return
	goes   bool            // it is one of Go
	value  error           // of one that a Once runs: what it returns, unless it fails
	drops  []error         // why it did not start, by OnError; under world.mu
	back   chan struct{}   // while it is in Blocking: closed to end that
	held   *boom           // its panic, if the handler of that blocks
}

// order is something for a task to do, on its own goroutine.
type order struct {
	do   func()
	last bool
}

func (w *world) newTask() *task {
	k := &task{world: w, model: &model.Task{ID: len(w.tasks)}, orders: make(chan order)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tasks = append(w.tasks, k)
	return k
}

// real returns the task of the library for one of the model.
func (w *world) real(m *model.Task) *task { return w.tasks[m.ID] }

func (k *task) run() { _ = k.member(context.Background()) }

// member is run for a task that gets a context.
func (k *task) member(ctx context.Context) error {
	w := k.world
	w.mu.Lock()
	k.starts++
	k.ctx = ctx
	w.mu.Unlock()
	if k.model.ID%2 == 0 {
		ctx.Done() // from then on a context of Go is one of the standard library
	}
	for {
		select {
		case o := <-k.orders:
			o.do()
			if o.last {
				return k.err
			}
		case <-w.ended:
			return nil
		}
	}
}

// boom is what tasks panic with.
type boom struct {
	task int
	hold chan struct{} // if not nil, the handler blocks until it is closed
}

func (b *boom) String() string { return fmt.Sprintf("boom of task %d", b.task) }

// call is a call of the library that may block, and its model.
type call struct {
	name  string
	model *model.Call
	wraps bool // what it panics with is a [weir.Panic]

	// Under world.mu.
	done  bool
	err   error
	value any // that it panicked with
	exit  bool
	unrun []*task

	running int // of a ShutdownError
}

// call makes a call on a goroutine of its own.
func (w *world) call(name string, m *model.Call, f func(c *call) error) *call {
	c := w.newCall(name, m)
	go c.make(w, f)
	return c
}

func (w *world) newCall(name string, m *model.Call) *call {
	c := &call{name: fmt.Sprintf("%s (call %d)", name, len(w.calls)), model: m}
	w.calls = append(w.calls, c)
	return c
}

// make makes the call, and keeps its outcome.
func (c *call) make(w *world, f func(c *call) error) {
	returned := false
	var err error
	defer func() {
		value := recover()
		w.mu.Lock()
		defer w.mu.Unlock()
		c.done, c.err, c.value, c.exit = true, err, value, !returned && value == nil
	}()
	err = f(c)
	returned = true
}

// deadline is a context that the machine or the time ends.
type deadline struct {
	context.Context
	model  *model.Context
	cancel context.CancelCauseFunc
	at     time.Duration // when it ends by itself; 0 for never
	cause  error
}

// newContext makes one that ends after a time, or never if that is 0, or has ended if it is below. No two end at
// the same time.
func (w *world) newContext(after time.Duration) *deadline {
	d := &deadline{model: &model.Context{}}
	d.cause = fmt.Errorf("context %d is done", len(w.contexts))
	d.Context, d.cancel = context.WithCancelCause(context.Background())
	if after > 0 {
		d.at = time.Since(w.begin) + after
		for slices.ContainsFunc(w.contexts, func(other *deadline) bool { return other.at == d.at }) {
			d.at++
		}
		inner, stop := context.WithDeadlineCause(d.Context, w.begin.Add(d.at), d.cause)
		cancel := d.cancel
		d.Context, d.cancel = inner, func(cause error) { cancel(cause); stop() }
	}
	if after < 0 {
		d.model.Cause = d.cause
		d.cancel(d.cause)
	}
	w.contexts = append(w.contexts, d)
	return d
}

// cancelContext ends the context of a call.
func (w *world) cancelContext(t *rapid.T) {
	c := pickIf(t, w.contexts, "context", func(c *deadline) bool { return c.model.Cause == nil })
	w.step = "the cancellation of a context: " + c.cause.Error()
	w.pool.Cancel(c.model, c.cause)
	c.cancel(c.cause)
}

// rest brings the world to rest after a step, and the model, and compares them.
func (w *world) rest() {
	w.t.Log("step: " + w.step)
	if n := len(w.trail); n == 0 || w.trail[n-1] != w.step {
		w.trail = append(w.trail, w.step)
	}
	synctest.Wait()
	w.pool.Settle(w.chosen)
	w.agree()
}

// chosen reports whether the library chose a task to start, or to drop.
func (w *world) chosen(m *model.Task) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.real(m)
	return k.starts+len(k.drops) > 0
}

// agree fails the check unless library and model agree on all that can be seen.
func (w *world) agree() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range w.tasks {
		want := 0
		if k.model.Started() {
			want = 1
		}
		if k.starts != want {
			w.fail("task %d has started %d times, want %d: it is %s", k.model.ID, k.starts, want, k.model.State)
		}
		w.agreeOnEnd(k)
	}
	for _, c := range w.calls {
		w.agreeOn(c)
	}
	if !slices.Equal(w.panics, w.wantPanics) {
		w.fail("OnPanic got %v, want %v", w.panics, w.wantPanics)
	}
	if !slices.EqualFunc(w.errs, w.wantErrs, alike) {
		w.fail("OnError got %v, want %v", w.errs, w.wantErrs)
	}
	if got := logged.take(); !slices.Equal(got, w.wantLogs) {
		w.fail("logged: %q, want %q", got, w.wantLogs)
	}
	w.wantLogs = nil
}

func (w *world) agreeOn(c *call) {
	m := c.model
	switch {
	case c.done && !m.Done:
		w.fail("%s has returned %v (panic %v), and should be blocked", c.name, c.err, c.value)
	case !c.done && m.Done:
		w.fail("%s is blocked, and should have returned %v", c.name, m.Err)
	case !c.done:
		return
	}
	if !alike(c.err, m.Err) && (m.Or == nil || !alike(c.err, m.Or)) {
		w.fail("%s has returned %v, want %v", c.name, c.err, m.Err)
	}
	value := c.value
	if p, ok := value.(*weir.Panic); ok && c.wraps && len(p.Stack) > 0 {
		value = p.Value
	}
	if value != m.Panic {
		w.fail("%s has panicked with %v, want %v", c.name, c.value, m.Panic)
	}
	if c.exit != m.Exit {
		w.fail("%s has ended its goroutine: %t, want %t", c.name, c.exit, m.Exit)
	}
	want := make([]*task, len(m.Unrun))
	for i, t := range m.Unrun {
		want[i] = w.real(t)
	}
	if w.order != nil {
		slices.SortStableFunc(c.unrun, w.order)
		slices.SortStableFunc(want, w.order)
	}
	if c.running != m.Running || !slices.Equal(c.unrun, want) {
		w.fail("%s has handed back %v while %d run, want %v while %d run", c.name, ids(c.unrun), c.running, ids(want), m.Running)
	}
}

// agreeOnEnd compares why the context of a task is done, and why it did not start.
func (w *world) agreeOnEnd(k *task) {
	if k.model.Context == nil {
		return
	}
	if k.ctx != nil && !alike(context.Cause(k.ctx), k.model.Cause) {
		w.fail("the context of task %d is done as %v, want %v", k.model.ID, context.Cause(k.ctx), k.model.Cause)
	}
	var want []error
	if k.goes && k.model.Dropped != nil {
		want = []error{k.model.Dropped}
	}
	if !slices.Equal(k.drops, want) {
		w.fail("task %d was dropped as %v, want %v", k.model.ID, k.drops, want)
	}
}

func ids(tasks []*task) []int {
	ids := make([]int, len(tasks))
	for i, k := range tasks {
		ids[i] = k.model.ID
	}
	return ids
}

// fail ends the check.
func (w *world) fail(format string, args ...any) {
	w.t.Helper()
	message := fmt.Sprintf("after %s: %s", w.step, fmt.Sprintf(format, args...)) + w.dump()
	w.t.Log(message) // is kept also if the bubble ends in a deadlock
	w.t.Fatal(message)
}

// dump says how the tasks stand. The caller holds the mutex, or no other goroutine runs.
func (w *world) dump() string {
	var out strings.Builder
	fmt.Fprintf(&out, "\npool: %+v, queue of %d, paused: %t", w.pool.Stats(), w.pool.Queue, w.pool.Paused)
	for _, k := range w.tasks {
		if s := k.model.State; s != model.Finished && s != model.Rejected {
			fmt.Fprintf(&out, "\ntask %d, started %d times, should be %s", k.model.ID, k.starts, s)
		}
	}
	out.WriteString("\nthe last steps: " + strings.Join(w.trail[max(0, len(w.trail)-20):], "; "))
	return out.String()
}

// pass lets fake time go by, and looks whenever something must happen.
func (w *world) pass(d time.Duration) {
	until := w.pool.Now + d
	for {
		next := until
		for _, c := range w.contexts {
			if c.at > w.pool.Now && c.model.Cause == nil {
				next = min(next, c.at)
			}
		}
		if at, ok := w.pool.Expiry(); ok {
			next = min(next, at)
		}
		time.Sleep(next - w.pool.Now)
		w.pool.Now = next
		for _, c := range w.contexts {
			if c.at == next {
				w.pool.Cancel(c.model, c.cause)
			}
		}
		w.rest()
		if next == until {
			return
		}
	}
}

// end lets all goroutines that block go on, also if the check has failed half-way. shut closes the pool.
func (w *world) end(shut func()) {
	close(w.ended)
	for _, c := range w.contexts {
		c.cancel(nil)
	}
	go shut()
	synctest.Wait()
}
