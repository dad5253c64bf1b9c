package engine

import (
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/internal/backoff"
	"github.com/64ed045f/weir/internal/fifo"
)

// Verdict is the result of a submission.
type Verdict uint8

const (
	waiting   Verdict = iota
	Accepted          // the task will run, or Shutdown will hand it back
	Full              // no room, and the submitter may not wait
	Closed            // the engine does not accept tasks any more
	Cancelled         // the submitter gave up waiting
)

// Config holds the settings of an engine. The caller has checked them.
type Config struct {
	Limit       int           // the most tasks that run at once, at least 1
	Queue       int           // the most tasks that are queued; math.MaxInt for no bound
	MaxWaiting  int           // the most submitters that wait for room
	IdleTimeout time.Duration // how long a worker is idle before it ends

	Runner

	// End, if not nil, is called when a worker ends. By then the worker holds no permit. Close waits for End.
	// A panic of End takes the program down.
	End func(w *Worker)
	// Expiry, if not nil, says how long a task may be queued. Measure must be 1 then.
	Expiry *Expiry
	// AtOnce is how many tasks are handed to workers before there is a ring, and how many workers are active
	// at most, the next one included, for tasks to be handed over to spread the work: about as many as there
	// are processors.
	AtOnce int32
	// Parked is how many idle workers stay for their IdleTimeout even if no worker has come back for a second
	// task lately; 0 stands for all.
	Parked int32
	// Measure is the largest share of the workers' time that measuring may take; 0 turns measuring off.
	Measure float32
	// Numbered is how many numbers, the lowest, are not given to workers.
	Numbered uint16
	// Blocked is how many new workers in a row must have been needed, with none back for a second task,
	// before each task after them comes with its worker; 0 stands for never.
	Blocked int8
	// Crash lets a panic of a task take the program down.
	Crash bool
	// Void reports whether a task has started out of turn, or will never run. Run may get such a task, and
	// then calls Skipped. Only an engine that has such tasks needs Void.
	Void func(Task) bool
	// Ticket makes what goes into the queue for the subtask with the number. Only an engine whose subtasks
	// have tickets needs it.
	Ticket func(task Task, number uint64) Task
	// Counted is called, under the lock, for each void task that has left the queue without Run. It reports
	// false if Discard has not counted the task and will not. A nil Counted stands for one that reports true.
	Counted func(Task) bool
}

// Expiry says what becomes of tasks that have been queued for too long.
type Expiry struct {
	After time.Duration
	// Expired is called instead of Run for such a task, which counts as handed back. The worker that has come
	// to the task calls it. If another goroutine does, w is nil, and Expired must not block. If the result is
	// not nil, it is called next; it may block, or end the goroutine.
	Expired func(w *Worker, task Task) (tell func())
}

// Runner runs the tasks of an engine.
type Runner interface {
	// Begin is called on each new goroutine of a worker before its first task, and when a worker comes to
	// rest. It is also called before a task if the worker attends to something else anyway.
	Begin(w *Worker)
	// Run runs one task, on worker w.
	Run(w *Worker, task Task)
	// Broken is called for a task that panicked (panicked is what recover returned) or called runtime.Goexit
	// (panicked is nil). It runs on the goroutine of the task, before that goroutine unwinds. A panic of
	// Broken takes the program down.
	Broken(w *Worker, task Task, panicked any)
}

// Engine runs tasks on at most Limit workers.
type Engine struct {
	Config

	queue  queue
	waitAt atomic.Uint64 // workers take no task from this position on until the next wait has asked; never if there is none
	asked  atomic.Uint64 // the number with which workers were last asked to report; changed under mu

	spareWait *wait // for the next call of Wait; under mu

	hurried atomic.Int64 // the time until which no submitter yields, in ns since clock
	clock   time.Time    // when the engine was made: the zero of idle times and hurried
	timer   *time.Timer  // ends idle workers; a worker makes it, so that it belongs to the worker's bubble; under mu

	lane  *lane  // nil unless the engine is a lane
	lanes *lanes // nil unless the engine has lanes; under mu

	_       [cacheLine - 40 - bits.UintSize/4 - 16 - 8 - 3*bits.UintSize/8]byte // every submission reads permits, every wake-up writes it
	watch   atomic.Pointer[watch]
	_       [8 - bits.UintSize/8]byte
	births  uint32 // workers added so far; changed under mu, as are the three fields below
	again   uint32 // the result of seconds when rushes last looked
	inARow  int32  // searching workers that rushes has seen since without a change
	rushing int32  // workers that may still come with their tasks before the next one searches
	permits permits
	rated   *rated // nil unless the tasks take tokens
	// searcher is the worker that was woken to search. It stays here until it begins, or a wait passes it
	// over. Set under mu.
	searcher atomic.Pointer[Worker]
	sets     uint64            // sets of subtasks numbered so far; under mu
	unused   fifo.List[Worker] // in a lane: workers whose tasks are split, and that it might take permits from; under mu
	timers   atomic.Int32
	cut      atomic.Bool // Cut was called
	_        [cacheLine - 24 - 3*bits.UintSize/8]byte

	mu         lock // never held across a channel operation that may block
	submitters submitters
	workers    []*Worker         // all workers
	idle       []*Worker         // the parked workers, the newest last
	subtasks   []*Subtasks       // the sets that are listed, the oldest first
	returning  fifo.List[Worker] // workers whose tasks gave their place up and want to go on
	unblocked  fifo.List[Waiter] // waiters that have room, and whose tasks wait for a permit here: see unblocked
	vacant     fifo.List[Worker] // workers whose tasks wait, and have not lent their place
	unbegun    fifo.List[Want]   // wants that may hold work that has not started, or a task that is back from GiveUp
	waits      []*wait           // the calls of Wait, the earliest first
	asking     int               // how many of waits have asked: the first ones

	limit      int
	unasked    int32 // workers that are not idle, and that belong to no wait: see wait
	leaving    int32 // workers that have to end and are still in workers
	givenUp    int32 // how many of waits were given up
	handed     int32 // tasks handed to workers since the queue had a ring
	candidates int32 // workers[:candidates] may hold no task, see between
	vacancies  int32 // the length of vacant
	suspended  int32 // tasks that have begun and wait
	comingBack int32 // the length of returning, except workers that carry others
	lent       int32 // places that are lent; like its neighbors 32 bits wide, or an engine would take 64 bytes more
	spare      int32 // how many workers beyond the limit are kept
	paused     bool
	closed     bool
	armed      bool          // timer is running
	prepaid    bool          // a permit has been acquired for the task that is about to go on
	suspects   bool          // the queue may hold void tasks that dead does not count
	halfway    bool          // the last search for void tasks met a half-written slot
	touched    bool          // unlock will settle the engine: see touch
	endsWith   bool          // it is a lane, and the parent waits for its end
	finished   chan struct{} // is closed when the engine has been closed, is empty and has no worker
	dismissed  chan struct{} // if not nil: idle workers end, and it is closed when none is left
	retired    *Bell         // if not nil: workers that find nothing to do end, and it rings when none is left

	rejected, panicked, handedBack uint64

	delegated atomic.Uint64 // accepted tasks that did not go through the queue
	waking    atomic.Int32  // tasks that count as going on: see Wakeup, lose and delays
	beside    atomic.Bool   // there may be work next to the queue: see regate
	abandoned atomic.Bool   // tasks that have not started are handed back
	ending    atomic.Bool   // workers are unlikely to park: see foresee
}

// lock is a mutex of its own, or stands for the mutex of another lock. Its zero value is used before the race
// detector knows that an engine has been made.
type lock struct {
	sync.Mutex
	of *sync.Mutex
}

// lockTries is how often a goroutine tries to get the lock before it may park. It pauses 32 times after the
// first try, and twice as often after each one that follows: half a microsecond in all. Most goroutines hold the
// lock for less time than it takes to park and to wake up. Nested groups, which go through the lock, take up
// to a third less time so.
const lockTries = 4

// Lock locks the mutex that l is or stands for.
func (l *lock) Lock() {
	if m := l.mutex(); !m.TryLock() {
		lockBusy(m)
	}
}

func lockBusy(m *sync.Mutex) {
	for i := range lockTries - 1 {
		backoff.Pause(32 << i)
		if m.TryLock() {
			return
		}
	}
	m.Lock()
}

// Unlock unlocks that mutex.
func (l *lock) Unlock() { l.mutex().Unlock() }

func (l *lock) mutex() *sync.Mutex {
	if l.of != nil {
		return l.of
	}
	return &l.Mutex
}

// New returns an engine that has started no goroutine yet.
func New(c Config) *Engine {
	e := new(Engine)
	e.Init(&c)
	return e
}

// Init makes a new engine of the zero Engine e.
func (e *Engine) Init(c *Config) {
	e.Config, e.limit, e.clock = *c, c.Limit, time.Now()
	e.takesTokens()
	e.queue.capacity = c.Queue
	e.waitAt.Store(never)
	e.permits.allow(min(c.Limit, maxAllowed))
}

// stir wakes or starts a worker to search, if the permits allow one. Before that it may hand tasks over to
// workers. A goroutine that has made work available calls stir afterwards.
func (e *Engine) stir() {
	for handed := 0; e.permits.tryWake(); handed++ {
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
		w, o := e.handOver(handed), orderRun
		if w == nil {
			w, o = e.recruit(), orderSearch
			e.searcher.Store(w)
		}
		born := e.order(w, o)
		e.mu.Unlock()
		if born {
			// Making a goroutine takes longer than all else that is done under the lock. The worker is in
			// Engine.workers already, and known to search or to have a task.
			go w.work()
		}
		if o == orderSearch || !e.available() {
			return
		}
	}
}

// handOver gives the oldest task to a worker, which then need not search, and releases the token. It returns
// nil if a worker has to search instead. Workers that search start one after the other, each on the processor
// of the one before, and no more of them than have something to do: for many short tasks that is best. handed
// is how many tasks the caller has handed over in a row.
func (e *Engine) handOver(handed int) *Worker {
	switch {
	case !e.quiet(), e.waited():
		return nil
	case handed < mostSpread && e.spreads():
	case e.rushes():
	default:
		return nil
	}
	task, k, ok := e.queue.pop()
	if !ok {
		return nil
	}
	w := e.recruit()
	w.hand, w.mark = task, k
	w.fresh = e.queue.meter.isFresh(k)
	w.free.Store(false)
	e.permits.endSearch() // the caller looks at the queue again
	return w
}

const (
	// worthSpreading is slightly less than the time after which another processor steals from runnext on Linux.
	worthSpreading = 40 * time.Microsecond
	// mostSpread bounds how long a goroutine hands tasks over: it may have a task in hand itself.
	mostSpread = 16
)

// spreads reports whether the next queued task should have a worker at once, since the queued tasks together
// take longer than a goroutine stays in runnext. The runtime puts a goroutine that is woken into that slot of
// its waker's processor. Other processors steal it only after some 50 µs. If it is a worker that searches, and
// its waker runs a task, no queued task starts until then. The next goroutine that is woken moves it to the run
// queue, from which other processors steal it at once.
//
// No task is handed over if all processors but one have active workers, nor for a while after tasks that were
// handed over have begun late: where other goroutines compute on all processors, a task does better in the queue,
// from which the first worker that has a processor takes it.
func (e *Engine) spreads() bool {
	m := e.queue.meter
	if m == nil || e.permits.active() >= int(e.AtOnce) {
		return false
	}
	mean, crowded := m.mean.Load(), m.crowded.Load()
	return mean > 0 && int64(e.queue.len()) >= (int64(worthSpreading)+mean-1)/mean && (crowded == 0 || m.now() >= crowded)
}

// rushes reports whether tasks block, so that each of them needs a worker. Each then comes with its worker,
// and all goroutines that add tasks start workers.
//
// That needs evidence: a worker for each of many short tasks would cost far more than the tasks do. As long
// as every task taken is the first of its worker, no worker has come back. A worker that searches has begun
// when the next one is needed; workers that come with a task may not have begun. So after each batch of
// workers that come with tasks, one worker searches; a batch is at most twice as large as the one before.
func (e *Engine) rushes() bool {
	if e.Blocked == 0 || len(e.idle) > 0 {
		return false
	}
	if seconds := e.seconds(); seconds != e.again {
		e.again, e.inARow, e.rushing = seconds, 0, 0
		return false
	}
	if e.rushing == 0 {
		if e.inARow++; e.inARow > int32(e.Blocked) {
			e.rushing = 1 << min(e.inARow-int32(e.Blocked), longestRush)
		}
		return false
	}
	e.rushing--
	return true
}

// seconds is how many tasks were not the first of their workers, minus the workers that have had no task so
// far.
func (e *Engine) seconds() uint32 { return uint32(e.queue.taken()+e.delegated.Load()) - e.births }

// longestRush is the binary logarithm of the largest value of rushing.
const longestRush = 10

// order gives an order to a worker that rests. It reports true for a new worker: the caller must start its
// goroutine when it has released the lock.
func (e *Engine) order(w *Worker, o order) (born bool) {
	if w.parked == nil {
		w.order = o
		return true
	}
	w.parked.give(o)
	return false
}

// assign makes a worker run task. If from is not nil, task is one of that set of subtasks. The caller has
// acquired a permit for the worker.
func (e *Engine) assign(task Task, k mark, from *Subtasks) {
	w := e.recruit()
	if from != nil {
		w.take(from)
	}
	w.hand, w.mark = task, k
	w.free.Store(false)
	e.send(w, orderRun, nil)
}

// recruit returns the newest idle worker, or a new one. While no worker is idle, each worker holds a permit,
// or its task has lent its place or given it up. So the engine starts at most one worker for each permit, and
// one for each task that has lent its place or given it up.
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

// newWorker is hidden from the race detector: a task may use its worker, and is not ordered after the
// goroutine that made the worker.
//
//go:norace
func (e *Engine) newWorker(index int32) *Worker {
	return &Worker{engine: e, index: index}
}

// send gives its order to an idle or new worker. A worker of a lane gets a carrier first: host is as for
// embark.
func (e *Engine) send(w *Worker, o order, host *Worker) {
	switch {
	case e.lane != nil:
		e.embark(w, o, host)
	case e.order(w, o):
		go w.work()
	}
}

// isStopped reports whether e, or an engine above it, is paused: then no task begins.
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
	return e.held() || e.lane != nil && e.lane.parent.halted()
}

// held is halted for an engine that is no lane.
func (e *Engine) held() bool { return e.paused || e.permits.over() }

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

// serve lets waiting submitters in, in order, as far as there is room. It reports false if that depends on a
// goroutine that is half-way through a slot: that goroutine will come here, or wake a worker that does.
func (e *Engine) serve() (settled bool) {
	for s := e.submitters.first(); s != nil; s = e.submitters.first() {
		switch e.pushLocked(s.value) {
		case moved:
			e.submitters.resolve(s, Accepted)
			continue
		case unsettled:
			return false
		}
		// The queue is full. A free worker still has room for one more task, unless the worker is wanted
		// elsewhere first.
		if e.placeWanted() || e.delegating() || e.hasBids() || e.isDry() || !e.tryPlace() {
			return true
		}
		task, k, ok := e.takeQueued()
		if !ok {
			e.dropPlace()
			return e.isDry()
		}
		e.assign(task, k, nil)
	}
	return true
}

// unlock ends a change under the lock. It lets tasks that return go on, lets submitters in, notifies callers
// of Wait and Close, sets the gates, and wakes a worker if there is work for it.
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

// settle does the part of unlock that needs the lock.
func (e *Engine) settle() (settled bool) {
	if e.bidding() {
		e.reviewBid()
	}
	if e.quiet() {
		if e.waited() {
			e.checkWaits()
		}
		if e.retired != nil {
			e.notifyRetired()
		}
		if e.rated != nil {
			e.unthrottle()
		}
		settled = true
	} else {
		e.admit()
		if e.lanes != nil {
			e.offerSplit()
		}
		e.relieve()
		settled = e.serve()
		if e.checkWaits() {
			settled = e.serve()
		}
		if e.rated != nil {
			e.unthrottle()
		}
		e.wind()
		e.regate()
	}
	if e.rated != nil {
		e.bidsForToken()
	}
	if e.lane != nil && e.lane.bid.lacked {
		e.offersPermit()
	}
	return settled
}

// quiet reports whether unlock has nothing to do, except for the ends of Retire and of calls of Wait. Then no
// other goroutine waits for a change under the lock, no task has a claim on a place, and the gates are open,
// as they should be. This is the usual case, and there is much less to look at.
func (e *Engine) quiet() bool {
	switch {
	case e.queue.gated(): // as while a submitter waits
	case len(e.subtasks) > 0 || e.beside.Load():
	case e.placeWanted():
	case e.vacancies > 0:
	case e.closed || e.dismissed != nil:
	case e.held(), e.lane != nil && e.halted():
	case e.lanes != nil && e.hasBids():
	default:
		return true
	}
	return false
}

// waited reports whether a call of Wait may have to be notified.
func (e *Engine) waited() bool { return len(e.waits) > 0 || e.waitAt.Load() != never }

// available reports whether a worker would find a task. It needs no lock.
func (e *Engine) available() bool { return e.ready() || e.beside.Load() }
