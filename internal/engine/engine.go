package engine

import (
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/internal/fifo"
)

// Verdict is what became of a submission.
type Verdict uint8

const (
	waiting   Verdict = iota
	Accepted          // the task will run, or be handed back by Shutdown
	Full              // no room, and the submitter did not want to wait, or must not
	Closed            // the engine takes no tasks any more
	Cancelled         // the submitter gave up waiting
)

// Config is what an engine is made of. The caller has checked it.
type Config struct {
	Limit       int           // the most tasks that run at once, at least 1
	Queue       int           // how many more may wait; math.MaxInt for no bound
	MaxWaiting  int           // how many submitters may wait for room
	IdleTimeout time.Duration // after which an idle worker ends

	Runner

	// End, if not nil, is called when a worker ends, which holds no permit by then. Close
	// waits for it. Its panic takes the program down.
	End func(w *Worker)
	// Expiry, if not nil, says how long a task may be queued. Then Measure must be 1.
	Expiry *Expiry
	// So many tasks, about as many as there are processors, are handed to workers before there is a ring.
	AtOnce int32
	// So many idle workers stay for their IdleTimeout, even if none has come back for a second task lately; 0 for all.
	Parked int32
	// Measure is the largest part of the workers' time that measuring may take; 0 for no measuring.
	Measure float32
	// When so many new workers, one after the other, were needed, and none has come back for a second task, each further task
	// comes with its worker; 0 for never.
	Blocked int8
	// Numbered is how many numbers are not given to workers, the first ones.
	Numbered int8
	// Crash lets a panic take the program down instead.
	Crash bool
	// Void reports whether a task will not run any more, or has started out of turn. Run may get such a task, and
	// calls Skipped. Only an engine that has such tasks needs it.
	Void func(Task) bool
	// Ticket makes what goes into the queue for the subtask that has the number. Only an engine whose subtasks
	// have tickets needs it.
	Ticket func(task Task, number uint64) Task
	// Counted is called, under the lock, for each void task that has left the queue without Run. It reports false if
	// Discard has not counted the task, and will not. A nil Counted stands for one that reports true.
	Counted func(Task) bool
}

// Expiry says what becomes of tasks that have been queued for too long.
type Expiry struct {
	After time.Duration
	// Expired is called in place of Run for such a task, which counts as handed back: on the worker that has come to it, or with a nil w on
	// another goroutine, which it must not hold up. What it returns, if that is not nil, is called next; it may block, or end the goroutine.
	Expired func(w *Worker, task Task) (tell func())
}

// Runner runs the tasks of an engine.
type Runner interface {
	// Begin is called on each new goroutine of a worker, before its first task, when a worker comes to rest, and before a task where it
	// attends to something else anyway.
	Begin(w *Worker)
	// Run runs one task, on worker w.
	Run(w *Worker, task Task)
	// Broken is called, on the goroutine that ran the task and before it
	// unwinds, for a task that panicked (panicked is what recover returned)
	// or called runtime.Goexit (panicked is nil). Its panic takes the program down.
	Broken(w *Worker, task Task, panicked any)
}

// Engine runs tasks on at most Limit workers.
type Engine struct {
	Config

	queue  queue
	waitAt atomic.Uint64 // the position before which tasks must finish for a caller of Wait
	asked  atomic.Uint64 // the last number with which a wait has asked the workers to report; changed under mu

	spareWait *wait // for the next call of Wait; under mu

	hurried atomic.Int64 // until when no submitter yields, in ns since clock
	clock   time.Time    // what idle times and hurried are measured from
	timer   *time.Timer  // trims the idle; made by a worker, so that it belongs to its bubble; under mu

	lane  *lane  // what the engine has in addition if it is a lane
	lanes *lanes // what it has in addition if it has lanes; under mu

	_       [cacheLine - 40 - bits.UintSize/4 - 16 - 8 - 3*bits.UintSize/8]byte // every submission reads permits, every wake-up writes it
	watch   atomic.Pointer[watch]
	_       [8 - bits.UintSize/8]byte
	births  uint32 // workers there were; changed under mu, as the three that follow
	again   uint32 // seconds, when rush last looked
	inARow  int32  // searching workers that it has seen since without a change
	rushing int32  // workers that may come with their tasks before the next that searches
	permits permits
	rated   *rated // what it has in addition if its tasks take tokens
	// The worker that was woken to search, until it begins, or a wait passes it over; set under mu.
	searcher atomic.Pointer[Worker]
	timers   atomic.Int32
	_        [cacheLine - 12 - 2*bits.UintSize/8]byte

	mu         lock // never held across a channel operation that may block
	submitters submitters
	workers    []*Worker         // every worker there is
	idle       []*Worker         // those that are parked, the newest last
	subtasks   []*Subtasks       // with tasks of tasks, the oldest first
	returning  fifo.List[Worker] // whose tasks had given their place up and want to go on
	unblocked  fifo.List[Waiter] // of tasks that have lent their place while they waited for room, and there is room now
	vacant     fifo.List[Worker] // whose tasks wait, and have not lent their place
	unbegun    fifo.List[Want]   // what tasks wait for, and may not have started
	waits      []*wait           // the calls of Wait, the earliest first
	asking     int               // so many of the waits, the first ones, have asked

	limit      int
	unasked    int32 // workers that are not idle, and that no wait has asked
	leaving    int32 // workers that were ordered to end that still are in workers
	givenUp    int32 // so many of waits were given up
	handed     int32 // tasks handed to workers since the queue had a ring
	candidates int32 // workers[:candidates] may hold no task, see between
	vacancies  int32 // in vacant
	suspended  int32 // tasks that have begun and wait
	comingBack int32 // in returning
	lent       int32 // places; 32 bits, as some more here, or an engine takes 64 bytes more
	spare      int32 // how many workers beyond the limit are worth keeping
	paused     bool
	closed     bool
	armed      bool          // timer is running
	prepaid    bool          // there is a permit for the task that is about to go on
	suspects   bool          // the queue may hold void tasks that dead does not count
	halfway    bool          // the last search for them met a half-written slot
	touched    bool          // unlock is to see to it: see touch
	endsWith   bool          // it is a lane for whose end the parent waits
	finished   chan struct{} // closed when the engine is closed, empty and without a worker
	dismissed  chan struct{} // if not nil: idle workers end, and it is closed when the last has
	retired    *Bell         // if not nil: workers that find nothing to do end, and it rings when none is left

	rejected, panicked, handedBack uint64

	delegated atomic.Uint64 // tasks that were accepted and did not go through the queue
	waking    atomic.Int32  // tasks that count as going on: see Wakeup, lose and delays
	beside    atomic.Bool   // a set of subtasks has open tasks, or a task returns
	abandoned atomic.Bool   // what has not started is handed back
	ending    atomic.Bool   // workers are unlikely to park: see foresee
}

// lock is a mutex, or stands for another one. Its zero value is used before the race detector knows that an engine has been made.
type lock struct {
	sync.Mutex
	of *sync.Mutex
}

// lockTries is how often a goroutine tries to get the lock before it may park, with 32 pauses after the first try and twice as many after each
// other one: half a microsecond in all. Most goroutines hold it for less time than it takes to
// park and to wake up: nested groups, which go through the lock, take up to a third less time so.
const lockTries = 4

// Lock locks the mutex, or the one that l stands for.
func (l *lock) Lock() {
	m := l.mutex()
	for i := range lockTries {
		if m.TryLock() {
			return
		}
		pauses(32 << i)
	}
	m.Lock()
}

// Unlock unlocks it.
func (l *lock) Unlock() { l.mutex().Unlock() }

func (l *lock) mutex() *sync.Mutex {
	if l.of != nil {
		return l.of
	}
	return &l.Mutex
}

// New returns an engine that has not started anything yet.
func New(c Config) *Engine {
	e := new(Engine)
	e.Init(&c)
	return e
}

// Init makes a new engine of the zero value.
func (e *Engine) Init(c *Config) {
	e.Config, e.limit, e.clock = *c, c.Limit, time.Now()
	e.takesTokens()
	e.queue.capacity = c.Queue
	e.waitAt.Store(never)
	e.permits.allow(min(c.Limit, maxAllowed))
}

// stir wakes or starts a worker to search, if one may be. A goroutine that has made
// work available calls it afterwards.
func (e *Engine) stir() {
	for e.permits.tryWake() {
		e.mu.Lock()
		if !e.hasWork() || e.lane != nil && e.placeWanted() {
			// Another worker took it meanwhile, or the ring that looked ready was just released.
			e.permits.release(true)
			e.unlock()
			return
		}
		if e.lane != nil {
			e.seek()
			e.unlock()
			return
		}
		w, o := e.rush()
		if w == nil {
			w, o = e.recruit(), orderSearch
			e.searcher.Store(w)
		}
		born := e.order(w, o)
		e.mu.Unlock()
		if born {
			// Making a goroutine takes longer than all else that is done under the
			// lock. The worker is already one of Engine.workers, and known to search.
			go w.work()
		}
		if o == orderSearch || !e.available() {
			return
		}
	}
}

// rush gives the oldest task to a new worker, which need not search, if tasks block, and so each of them needs a worker: those that
// search start one after the other, each on the processor of the one before, while here all goroutines that add tasks start workers.
// It gives the token back then.
//
// It needs evidence: a worker for each of many short tasks would cost far more than the tasks do. As long as every task that was
// taken is the first of its worker, none has come back. A worker that searches has begun when the next one is needed; those
// that come with a task may not have. So after at most twice as many of these as the time before, one searches.
func (e *Engine) rush() (w *Worker, o order) {
	if e.Blocked == 0 || len(e.idle) > 0 || !e.quiet() || e.waited() {
		return nil, o
	}
	if seconds := e.seconds(); seconds != e.again {
		e.again, e.inARow, e.rushing = seconds, 0, 0
		return nil, o
	}
	if e.rushing == 0 {
		if e.inARow++; e.inARow > int32(e.Blocked) {
			e.rushing = 1 << min(e.inARow-int32(e.Blocked), longestRush)
		}
		return nil, o
	}
	e.rushing--
	task, k, ok := e.queue.pop()
	if !ok {
		return nil, o
	}
	w = e.addWorker()
	w.hand, w.mark = task, k
	w.free.Store(false)
	e.permits.endSearch() // the caller looks at the queue again
	return w, orderRun
}

// seconds is how many tasks were not the first of their workers, less the workers without a task so far.
func (e *Engine) seconds() uint32 { return uint32(e.queue.taken()+e.delegated.Load()) - e.births }

// longestRush is the binary logarithm of the largest rushing.
const longestRush = 10

// order gives an order to a worker that rests. It reports true for a new worker, whose goroutine the caller starts when
// it has released the lock.
func (e *Engine) order(w *Worker, o order) (born bool) {
	if w.parked == nil {
		w.order = o
		return true
	}
	w.parked.give(o)
	return false
}

// assign makes a worker run task, one of a set of subtasks if from is not nil. The caller has a permit for it.
func (e *Engine) assign(task Task, k mark, from *Subtasks) {
	w := e.recruit()
	if from != nil {
		w.take(from)
	}
	w.hand, w.mark = task, k
	w.free.Store(false)
	e.send(w, orderRun, nil)
}

// recruit returns the newest idle worker, or a new one. So the engine starts no more
// workers than there are permits, and one for each task that has lent its place, or given it up:
// while none is idle every other worker holds a permit, or has lent its place.
func (e *Engine) recruit() *Worker {
	if last := len(e.idle) - 1; last >= 0 {
		w := e.idle[last]
		e.idle[last] = nil
		e.idle = e.idle[:last]
		w.since = 0
		e.foresee()
		e.engage(w)
		return w
	}
	return e.addWorker()
}

func (e *Engine) addWorker() *Worker {
	w := e.spareWorker()
	if w == nil {
		w = e.newWorker(0)
		w.free.Store(true)
		w.number = uint16((e.births+uint32(e.Numbered))%math.MaxUint16 + 1)
	}
	e.births++
	if w.index = int32(len(e.workers)); w.index == 0 && e.lane != nil {
		e.works()
	}
	e.workers = append(e.workers, w)
	e.engage(w)
	return w
}

// newWorker is hidden from the race detector: a task may use its worker and know nothing of the goroutine that has made it.
//
//go:norace
func (e *Engine) newWorker(index int32) *Worker {
	return &Worker{engine: e, index: index}
}

// send gives an idle or new worker its order. A worker of a lane gets a carrier: host is as for embark.
func (e *Engine) send(w *Worker, o order, host *Worker) {
	switch {
	case e.lane != nil:
		e.embark(w, o, host)
	case e.order(w, o):
		go w.work()
	}
}

// isStopped reports whether e is paused, or an engine above it: then no task begins.
func (e *Engine) isStopped() bool {
	for ; e != nil; e = e.parent() {
		if e.paused {
			return true
		}
	}
	return false
}

// halted reports whether workers may take no task.
func (e *Engine) halted() bool {
	return e.paused || e.permits.over() || e.lane != nil && e.lane.parent.halted()
}

// regate closes the gates that must be closed, and opens the others.
func (e *Engine) regate() {
	lined := e.submitters.length > 0
	beside := e.placeWanted() || e.delegating() || e.hasBids() || e.lined()
	if beside != e.beside.Load() { // other goroutines read it all the time
		e.beside.Store(beside)
	}
	e.queue.setGates(lined || beside || e.halted() || e.dismissed != nil || e.throttled(), lined || e.closed)
	e.press()
}

// serve lets waiting submitters in, in order, as far as there is room. It
// reports false if that depends on a goroutine that is half-way through a slot: that
// one will come here, or wake a worker that does.
func (e *Engine) serve() (settled bool) {
	for s := e.submitters.first(); s != nil; s = e.submitters.first() {
		switch e.pushLocked(s.value) {
		case moved:
			e.submitters.resolve(s, Accepted)
			continue
		case unsettled:
			return false
		}
		// The queue is full, but a free worker always has room for one more, unless
		// it is wanted elsewhere first.
		if e.placeWanted() || e.delegating() || e.hasBids() || e.throttled() || !e.tryPlace() {
			return true
		}
		task, k, ok := e.takeQueued()
		if !ok {
			e.dropPlace()
			return e.throttled()
		}
		e.assign(task, k, nil)
	}
	return true
}

// unlock ends a change under the lock: it lets tasks that return go on, lets
// submitters in, notifies callers of Wait and Close, sets the gates, and wakes a worker
// if there is work for it.
func (e *Engine) unlock() (settled bool) {
	if e.lane != nil || e.lanes != nil {
		return e.unlockFamily()
	}
	settled = e.settle()
	e.mu.Unlock()
	if e.permits.wakeable() && e.available() {
		e.stir()
	}
	return settled
}

// settle does what unlock does under the lock.
func (e *Engine) settle() (settled bool) {
	if e.bidding() {
		e.reviewBid()
	}
	if e.quiet() {
		if e.waited() {
			e.checkWaits()
		}
		e.notifyRetired()
		settled = true
	} else {
		e.admit()
		e.relieve()
		settled = e.serve()
		if e.checkWaits() {
			settled = e.serve()
		}
		e.unthrottle()
		e.wind()
		e.regate()
	}
	return settled
}

// quiet reports whether all that unlock does is done, except for the ends of Retire and of calls of Wait: no other goroutine waits
// for a change under the lock, no task has a claim on a place, and the gates are open, as they should be. It is the usual case, and
// much less to look at.
func (e *Engine) quiet() bool {
	switch {
	case e.queue.gated(): // as while a submitter waits
	case len(e.subtasks) > 0 || e.beside.Load():
	case e.placeWanted():
	case e.vacancies > 0:
	case e.closed || e.dismissed != nil:
	case e.halted():
	case e.hasBids():
	default:
		return true
	}
	return false
}

// waited reports whether a call of Wait may have to be notified.
func (e *Engine) waited() bool { return len(e.waits) > 0 || e.waitAt.Load() != never }

// available reports whether a worker would find a task. It needs no lock.
func (e *Engine) available() bool { return e.ready() || e.beside.Load() }
