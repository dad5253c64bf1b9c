package engine_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/histogram"
	"github.com/64ed045f/weir/internal/step"
)

// world is an engine of which books are kept.
type world struct {
	books
	*engine.Engine
	limited int            // its limit in the beginning
	rate    *engine.Bucket // nil if there are tokens for all
	rated   time.Time      // since when it has been in force
	turns   *atomic.Int64  // tasks that have had a token meanwhile, also of the lanes
	lanes   []*world
}

const idleTimeout = time.Minute

type setting = func(*step.Scene, *engine.Config)

// newWorld makes an engine, and changes its configuration first.
func newWorld(r *step.Run, limit, queue int, settings ...setting) *world {
	w, c := newConfig(r, limit, queue, settings...)
	w.Engine = engine.New(*c)
	if w.Measure > 0 && w.AtOnce > 0 {
		w.TasksTake(time.Hour)
	}
	return w
}

func newConfig(r *step.Run, limit, queue int, settings ...setting) (*world, *engine.Config) {
	w := &world{limited: limit}
	w.Run, w.limit, w.places = r, limit, queue
	c := engine.Config{
		Limit: limit, Queue: queue, MaxWaiting: 8, IdleTimeout: idleTimeout,
		Runner: runner{w},
		Ticket: func(v engine.Task, number uint64) engine.Task { return taskOf(v).ticket(number).value() },
		Void: func(v engine.Task) bool {
			switch j := taskOf(v); {
			case j == nil:
				return true
			case j.of != nil:
				return !j.of.subtasks.Holds(j.isFor)
			case j.stands != nil:
				return j.stands.state.Load() != 0
			default:
				return w.isStruck(j)
			}
		},
	}
	for _, set := range settings {
		set(new(step.Scene), &c)
	}
	c.Counted = func(v engine.Task) bool { return w.isNoted(taskOf(v)) }
	return w, &c
}

// lane makes a lane, which is closed with w.
func (w *world) lane(limit, queue int, settings ...setting) *world {
	return w.laneOf(engine.LaneConfig{Share: 1}, limit, queue, settings...)
}

func (w *world) laneOf(of engine.LaneConfig, limit, queue int, settings ...setting) *world {
	l, c := newConfig(w.Run, limit, queue, settings...)
	l.above = &w.books
	l.Engine = new(engine.Engine)
	if w.rate != nil {
		l.rate, l.rated, l.turns = w.rate, w.rated, w.turns
		l.Rate(w.rate)
	}
	l.InitLane(w.Engine, c, of)
	w.lanes = append(w.lanes, l)
	return l
}

// laneWithoutTokens is lane for tasks that take no tokens.
func (w *world) laneWithoutTokens(limit, queue int) *world {
	rate := w.rate
	w.rate = nil
	defer func() { w.rate = rate }()
	return w.lane(limit, queue)
}

// value is what travels through the engine for j.
func (j *task) value() engine.Task { return engine.Task{P: unsafe.Pointer(j)} }

// taskOf is the task that value has made v of.
func taskOf(v engine.Task) *task { return (*task)(v.P) }

func isNone(v engine.Task) bool { return taskOf(v) == nil }

// runner runs the tasks of a world.
type runner struct{ *world }

func (runner) Begin(*engine.Worker) {}

func (w runner) Broken(own *engine.Worker, v engine.Task, _ any) {
	if j := taskOf(v); j != nil { // else the execution was broken off
		w.done(own, j)
	}
}

// Run implements [engine.Runner].
func (w runner) Run(own *engine.Worker, v engine.Task) {
	j := taskOf(v)
	if j.of != nil {
		v, ok := j.of.subtasks.Redeem(j.isFor)
		if !ok {
			w.Skipped()
			return
		}
		j = taskOf(v)
	}
	if f := j.stands; f != nil {
		if !f.state.CompareAndSwap(0, 1) {
			w.Skipped()
			return
		}
		j = f.task
	}
	if !w.starts(j) {
		w.Skip(j.value())
		return
	}
	if j.ledger != nil {
		if !own.Serves(j.ledger) {
			own.Report()
		}
	} else {
		own.Report()
	}
	w.begin(j, own)
	if w.rate != nil {
		n, most := w.turns.Add(1), 2+int64(time.Since(w.rated)/time.Millisecond) // one more than fit, as a timer may come late
		w.Check(n <= most, "%s is the %dth that has a token, of %d", j.name, n, most)
	}
	w.Point()
	j.runOn(own)
	w.done(own, j)
}

func (j *task) runOn(own *engine.Worker) {
	switch {
	case j.on != nil:
		j.on(own)
	case j.run != nil:
		j.run()
	}
}

func (w *world) done(own *engine.Worker, j *task) {
	w.end(j)
	if j.over != nil {
		close(j.over)
	}
	if j.ledger != nil {
		own.Credit(j.ledger)
		own.Hurry()
	}
}

// ticket makes what goes into the queue for j, one of the family in.
func (j *task) ticket(number uint64) *task {
	return &task{name: "ticket", of: j.in, isFor: number}
}

// future is a task that may start out of turn.
type future struct {
	task  *task
	state atomic.Int32 // not 0: the task has started
}

// Claim implements [engine.Claimer].
func (f *future) Claim() (engine.Task, bool) { return f.task.value(), f.state.CompareAndSwap(0, 1) }

// awaits makes a task that submits another, and waits for the end of that.
func (w *world) awaits(name string, j *task, single *engine.Single) *task {
	f, a := &future{task: j}, &engine.Waiter{Turn: make(chan struct{}, 1)}
	j.ledger = &recaller{w, a}
	return &task{name: name, on: func(own *engine.Worker) {
		want, wakeup := new(engine.SingleWant), w.Wakeup()
		want.Init(f, single, false)
		w.offered(j)
		w.aside()
		w.Suspend(a, own, &want.Want)
		w.answer(j, w.SubmitWanted((&task{name: "entry", stands: f}).value(), nil, &want.Want, wakeup))
		<-a.Turn
		w.GoesOn(wakeup)
		w.back()
	}}
}

// followed makes tasks that wait for another one, which the goroutine that calls submits submits.
func (w *world) followed(n int) (followers []*task, submits func()) {
	single, over := new(engine.Single), make(chan struct{})
	j := w.task("needed")
	f, wakeups := &future{task: j}, make([]atomic.Pointer[engine.Wakeup], n)
	j.ledger = &teller{func() {
		for i := range wakeups {
			wakeups[i].Load().Notify()
		}
		close(over)
	}}
	for i := range n {
		followers = append(followers, &task{name: fmt.Sprintf("follower %d", i), on: func(own *engine.Worker) {
			want, wakeup, a := new(engine.SingleWant), w.Wakeup(), &engine.Waiter{Turn: make(chan struct{}, 1)}
			want.Init(f, single, false)
			wakeups[i].Store(wakeup)
			w.aside()
			w.Suspend(a, own, &want.Want)
			<-over
			w.Return(a, wakeup)
			w.back()
		}})
	}
	return followers, func() {
		want := new(engine.SingleWant)
		want.Init(f, single, false)
		w.offered(j)
		entry, verdict := (&task{name: "entry", stands: f}).value(), engine.Accepted
		if !w.Fits(entry, &want.Want) {
			verdict = w.SubmitWanted(entry, nil, &want.Want, nil)
		}
		w.answer(j, verdict)
	}
}

// recaller is a ledger that ends a wait.
type recaller struct {
	w *world
	a *engine.Waiter
}

func (r *recaller) Ended(_ int, by *engine.Worker) { r.w.Recall(r.a, by) }

// task makes a task that lasts a step.
func (w *world) task(name string) *task { return &task{name: name} }

// blocked makes a task that lasts until release is closed.
func (w *world) blocked(name string, release <-chan struct{}) *task {
	return &task{name: name, run: func() { <-release }}
}

// then makes a task go on with something else.
func (j *task) then(more func()) *task {
	first := *j
	j.on = func(own *engine.Worker) {
		first.runOn(own)
		more()
	}
	return j
}

// pair makes two tasks each of which lasts until the other has begun.
func (w *world) pair(name string) (one, other *task) {
	first, second := make(chan struct{}), make(chan struct{})
	one = &task{name: name + " (one)", run: func() {
		close(first)
		<-second
	}}
	other = &task{name: name + " (other)", run: func() {
		close(second)
		<-first
	}}
	return one, other
}

// circle makes n tasks each of which lasts until all have begun.
func (w *world) circle(n int) (tasks []*task) {
	begun := make([]chan struct{}, n)
	for i := range begun {
		begun[i] = make(chan struct{})
	}
	for i := range begun {
		tasks = append(tasks, &task{name: fmt.Sprintf("circle %d", i+1), run: func() {
			close(begun[i])
			for _, other := range begun {
				<-other
			}
		}})
	}
	return tasks
}

// panics and exits make tasks that do not return.
func (w *world) panics(name string) *task {
	return &task{name: name, run: func() { panic(name) }}
}

func (w *world) exits(name string) *task { return &task{name: name, run: runtime.Goexit} }

// behind makes a task that must not begin before one that waits for room.
func (w *world) behind(name string, ahead *task) *task {
	return &task{name: name, ahead: []*task{ahead}}
}

// teller is a ledger that calls a function when a task is over.
type teller struct{ tell func() }

func (t *teller) Ended(int, *engine.Worker) { t.tell() }

// herald is a ledger: a goroutine that receives from it learns that a task is over.
type herald chan struct{}

// Ended sends that.
func (h herald) Ended(n int, _ *engine.Worker) {
	for range n {
		h <- struct{}{}
	}
}

// idle makes the engine have as many idle workers as its limit allows.
func (w *world) idle() {
	w.Quietly(func() {
		close(w.busy())
		w.Settle()
	})
}

// widen makes the queue have one ring for all of its places: submitters add to it by the fast path.
func (w *world) widen() {
	w.Quietly(func() {
		w.Pause()
		for i := range w.places {
			w.accept(w.task(fmt.Sprintf("before %d", i+1)))
		}
		w.Resume()
		w.Settle()
	})
}

// busy keeps all workers busy until the channel is closed.
func (w *world) busy() (release chan struct{}) {
	release = make(chan struct{})
	w.Quietly(func() {
		for i := range w.limited {
			w.accept(w.blocked(fmt.Sprintf("busy %d", i+1), release))
		}
		w.Settle()
	})
	return release
}

// blocks makes n workers begin tasks that last until the channel is closed, one after the other.
func (w *world) blocks(n int) (release chan struct{}) {
	release = make(chan struct{})
	w.Quietly(func() {
		for i := range n {
			w.accept(w.blocked(fmt.Sprintf("blocks %d", i+1), release))
			w.Settle()
		}
	})
	return release
}

// stillBlocked waits until no goroutine can go on, and checks that n tasks run.
func (w *world) stillBlocked(n int) {
	w.Settle()
	w.Check(w.running() == n, "%d tasks run, %d block", w.running(), n)
}

// submit and its like offer a task, and note the answer.
func (w *world) submit(j *task) engine.Verdict { return w.submitUntil(j, nil) }

func (w *world) submitUntil(j *task, done <-chan struct{}) engine.Verdict {
	j.waits = true
	w.offered(j)
	return w.answer(j, w.Submit(j.value(), done))
}

// stands makes j wait for room, and returns what its submitter then does.
func (w *world) stands(j *task, done <-chan struct{}) (awaits func()) {
	j.waits = true
	w.offered(j)
	s := w.Stand(j.value(), nil)
	return func() { w.answer(j, w.AwaitRoom(s, done)) }
}

func (w *world) try(j *task) engine.Verdict {
	w.offered(j)
	verdict := w.answer(j, w.TrySubmit(j.value(), nil))
	room := w.places
	if w.above == nil && len(w.lanes) == 0 && w.rate == nil {
		room += w.limited
	}
	if verdict == engine.Full && w.hasRoom(j, room) {
		w.Failf("%s is refused, and there was room", j.name)
	}
	return verdict
}

// accept submits tasks that must be accepted.
func (w *world) accept(tasks ...*task) {
	for _, j := range tasks {
		verdict := w.submit(j)
		w.Check(verdict == engine.Accepted, "%s: verdict %d", j.name, verdict)
	}
}

// waits calls Wait, and checks what that promises.
func (w *world) waits() {
	earlier := w.open()
	w.Wait(nil)
	w.over("Wait returns", earlier)
}

// resize changes the limit.
func (w *world) resize(limit int) {
	w.changes(limit)
	w.Resize(limit)
	w.hasChanged(false, limit, w.Stats().Queued)
}

func (w *world) pause() {
	w.changes(0)
	w.Pause()
	w.hasChanged(true, 0, 0)
}

func (w *world) resume() {
	w.changes(0)
	w.Resume()
	w.hasChanged(false, 0, 0)
}

// closes closes the engine, and checks what that promises.
func (w *world) closes() {
	w.changes(0)
	earlier := w.open()
	w.Close()
	w.over("Close returns", earlier)
	w.Check(w.Stats().Workers == 0, "Close returns, and a worker is left")
	w.eachLane(func(l *world) {
		l.over("Close of its parent returns", l.open())
		l.Check(l.Stats().Workers == 0, "Close returns, and a worker of a lane is left")
	})
	w.hasChanged(false, 0, 0)
}

// shuts calls Shutdown with a channel that is closed already.
func (w *world) shuts() {
	w.changes(0)
	w.handsBack()
	w.hasChanged(false, 0, 0)
}

func (w *world) handsBack() {
	w.takesBack()
	done := make(chan struct{})
	close(done)
	unrun, _ := w.Shutdown(done)
	var tasks []*task
	for _, v := range unrun {
		j := taskOf(v)
		j.unrun = true
		tasks = append(tasks, j)
	}
	w.handedBack(tasks...)
	for _, j := range tasks {
		if j.ledger != nil {
			j.ledger.Ended(1, nil)
		}
	}
}

// retires waits until no worker is left.
func (w *world) retires() {
	over := new(engine.Bell)
	w.Retire(over)
	over.Wait()
}

// enters begins a task that is not the engine's, and returns what ends it. With adopted its goroutine is a worker's by then.
func (w *world) enters(name string, adopted bool) (ends func()) {
	j := w.task(name)
	w.offered(j)
	w.Quietly(func() { w.Enter(1) })
	w.answer(j, engine.Accepted)
	w.begin(j, nil)
	return func() {
		if !adopted {
			w.end(j)
			w.Leave()
			return
		}
		own := w.Adopt()
		w.Point()
		w.end(j)
		own.GoOn()
	}
}

// discards strikes all queued tasks, and tells the engine which.
func (w *world) discards() {
	w.takesBack()
	struck := w.strike(true)
	w.Discard(func() int { return len(struck) })
	w.handedBack(struck...)
}

// suspects strikes all queued tasks, and does not tell the engine which.
func (w *world) suspects() {
	w.takesBack()
	struck := w.strike(false)
	w.Suspect()
	w.handedBack(struck...)
}

// rests waits until no goroutine can go on, and checks that no task that was accepted is left.
func (w *world) rests() {
	w.Settle()
	w.over("all is quiet", w.open())
	w.eachLane(func(l *world) { l.over("all is quiet", l.open()) })
}

// isWhole checks that an engine which is open still runs as many tasks at once as it may, and not more.
func (w *world) isWhole() {
	w.changes(0)
	w.Resize(w.limited)
	w.Resume()
	w.hasChanged(false, 0, 0)
	release, limited := make(chan struct{}), w.limited
	for b := w.books.above; b != nil; b = b.above {
		limited = min(limited, b.limit)
	}
	for i := range limited {
		if w.try(w.blocked(fmt.Sprintf("last %d", i+1), release)) == engine.Closed {
			break
		}
		w.Settle()
		w.Check(w.running() == i+1, "%d tasks run, %d should", w.running(), i+1)
	}
	for i := range w.places {
		w.try(w.blocked(fmt.Sprintf("queued %d", i+1), release))
	}
	w.Settle()
	w.Check(w.running() <= w.limited, "%d tasks run, %d may", w.running(), w.limited)
	w.Check(w.try(w.task("too many")) != engine.Accepted, "a full engine accepts a task")
	close(release)
	w.rests()
}

// finish waits until the goroutines of the scene have ended and all tasks are over, closes the
// engine, and checks the books.
func (w *world) finish() {
	w.Join()
	if w.rate != nil {
		w.turns.Store(-1 << 30)
		w.rate.Set(1, time.Microsecond, 1<<10)
		for range 5 { // with a clock that may be fast, some of these may end while a goroutine goes on
			time.Sleep(time.Second)
		}
	}
	w.rests()
	w.Quietly(func() {
		w.hasNoTokens()
		w.eachLane((*world).hasNoTokens)
		w.isWhole()
		w.eachLane((*world).isWhole)
		w.closes()
	})
	w.AtEnd(func() {
		w.isRight()
		w.eachLane((*world).isRight)
	})
}

func (w *world) hasNoTokens() {
	w.Check(w.Granted() == 0, "%d tokens are lost", w.Granted())
}

func (w *world) isRight() {
	w.balance()
	w.leavesNoGap()
	if w.books.limit == 1 {
		w.inOrder()
	}
	if w.Measure > 0 {
		w.allMeasured()
	}
}

// eachLane calls check for the lanes of w, and theirs.
func (w *world) eachLane(check func(*world)) {
	for _, l := range w.lanes {
		check(l)
		l.eachLane(check)
	}
}

// allMeasured checks the meter's counts: of all tasks, and of some that turned out void when they were about to begin.
func (w *world) allMeasured() {
	begun, struck := w.counts()
	times := w.Times()
	for name, c := range map[string]*histogram.Counter{"run": times.Run, "wait": times.Wait} {
		n := 0
		if c != nil {
			_, counts, _ := c.Counts()
			for _, count := range counts {
				n += int(count)
			}
		}
		w.Check(begun <= n && n <= begun+struck, "the meter has %d times for %s, %d tasks have begun and %d were discarded", n, name, begun, struck)
	}
}

// limitedIn make the scenes of in again, with a token for one task in a millisecond.
var limitedIn = map[string]func() step.Scene{}

// rated makes scenes again in which tasks take tokens.
func rated(scenes []step.Scene) (made []step.Scene) {
	for _, s := range scenes {
		if !strings.Contains(s.Name, "block") && !strings.Contains(s.Name, "a ledger notifies") { // those count on tasks that begin at once
			made = append(made, limitedIn[s.Name]())
		}
	}
	return made
}

// rates makes the tasks of w, and of lanes that it gets from now on, take tokens: one in a millisecond.
func (w *world) rates() {
	w.rate, w.rated, w.turns = engine.NewBucket(1, time.Millisecond, 1), time.Now(), new(atomic.Int64)
	w.Rate(w.rate)
}

// variants make the scenes of in again, with other settings.
var variants = map[string]func(suffix string, more ...setting) step.Scene{}

// eager makes the engine give tasks to workers as it wakes them.
func eager(_ *step.Scene, c *engine.Config) { c.AtOnce = 2 }

// measured makes the engine measure all tasks.
func measured(_ *step.Scene, c *engine.Config) { c.Measure = 1 }

// long makes the engine know that its tasks take long.
func long(_ *step.Scene, c *engine.Config) { c.Measure, c.AtOnce = 1, 4 }

// shallow has a scene with many goroutines explored with fewer preemptions.
func shallow(s *step.Scene, _ *engine.Config) { s.Quick, s.Deep = 1, 2 }

// handedOver makes scenes again with eager.
func handedOver(scenes ...step.Scene) []step.Scene { return again(scenes, ", handed over", eager) }

// again makes scenes again, with more settings.
func again(scenes []step.Scene, suffix string, more ...setting) (made []step.Scene) {
	for _, s := range scenes {
		made = append(made, variants[s.Name](suffix, more...))
	}
	return made
}

// in makes a scene in a world with a limit and a queue. Settings change the scene, and the
// configuration of the engine.
func in(name string, limit, queue int, body func(w *world), settings ...setting) step.Scene {
	if _, known := variants[name]; !known {
		limitedIn[name] = func() step.Scene {
			return in(name+", rated", limit, queue, func(w *world) {
				w.rates()
				body(w)
			}, append(settings, quiet, shallow)...)
		}
		variants[name] = func(suffix string, more ...setting) step.Scene {
			return in(name+suffix, limit, queue, body, append(more, settings...)...)
		}
	}
	s := step.Scene{Name: name, Quick: 2, Deep: 3, Free: 1}
	for _, set := range settings {
		set(&s, new(engine.Config))
	}
	s.Body = func(r *step.Run) {
		w := newWorld(r, limit, queue, settings...)
		body(w)
		w.finish()
	}
	return s
}
