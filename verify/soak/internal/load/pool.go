package load

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/internal/face"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// course is a load that hands plain tasks to pools of any kind.
type course struct {
	pools   int // in a round, one after the other
	senders int // of each pool, at once
	tasks   int // of each sender, at most
	ways    int // so many of those of [site.hand]
	limits  []int
	faults  bool // some tasks panic or call runtime.Goexit, and some values cannot be opened
	sleeps  bool // all tasks sleep
	expires bool // tasks expire in the queue
	moves   int  // what happens meanwhile moves the limit, to so much at most
	options func(r *Round) []weir.Option

	// meanwhile is called again and again while the senders submit, ending once. In the end a pool is closed
	// if it is not yet, and if it is not dropped.
	meanwhile func(s *site, rnd *rand.Rand)
	ending    func(s *site)
	dropped   bool
}

var (
	submit = course{pools: 1, senders: 100, tasks: 50, ways: 4, meanwhile: (*site).waits, options: func(r *Round) []weir.Option {
		if one(r.Rand, 3) {
			return []weir.Option{weir.MaxWaiting(r.Rand.IntN(100))}
		}
		return nil
	}}
	sleep    = course{pools: 1, senders: 4, tasks: 100, ways: 2, sleeps: true, limits: []int{1, 4, 64, 300, weir.Unbounded}}
	fault    = course{pools: 1, senders: 6, tasks: 100, ways: 4, faults: true}
	resize   = course{pools: 1, senders: 4, tasks: 400, ways: 1, moves: highest, meanwhile: (*site).resizes}
	pause    = course{pools: 1, senders: 4, tasks: 100, ways: 1, meanwhile: (*site).pauses}
	reopen   = course{pools: 10, senders: 8, tasks: 40, ways: 2, ending: (*site).closes}
	shutdown = course{pools: 10, senders: 6, tasks: 40, ways: 1, ending: (*site).shutsDown}
	expire   = course{pools: 1, senders: 6, tasks: 100, ways: 4, sleeps: true, expires: true, limits: []int{1, 2, 8}}
	order    = course{pools: 1, senders: 4, tasks: 100, ways: 3, limits: []int{1}}
	idle     = course{pools: 12, senders: 3, tasks: 20, ways: 1, dropped: true, options: func(r *Round) []weir.Option {
		return []weir.Option{weir.IdleTimeout(pick(r.Rand, 0, time.Nanosecond, 5*time.Microsecond, 50*time.Microsecond, 500*time.Microsecond))}
	}}
)

// site is one pool of a course, with the books on it.
type site struct {
	*Round
	course
	pool   face.Pool[errand]
	plain  *weir.Pool                                // the same, unless it has another type
	call   func(ctx context.Context, e errand) error // waits for a task; nil if the pool has no such method
	limit  int
	ledger *books.Ledger
	gauge  *books.Gauge
	values owners
	drops  bool          // some tasks of Go have a context that ends soon
	last   []int         // of each sender the latest task that has started; nil unless tasks run one at a time
	after  time.Duration // for which tasks may be queued, if they expire

	closed   atomic.Bool // some Close has returned
	called   atomic.Bool // the pool counts other rejections than the books
	reported atomic.Uint64
	unrun    func() []errand // what Shutdown has handed back
}

// errand is what a sender hands over.
type errand struct {
	id, sender, kind int
	work             toil
	given            time.Time
}

// The ways in which a task ends.
const (
	ends = iota
	fails
	panics
	exits
)

// end ends a task that runs, unless it just returns.
func end(l *books.Ledger, id, kind int) {
	switch kind {
	case panics:
		l.Panic(id)
	case exits:
		runtime.Goexit()
	}
}

func (c course) round(r *Round) {
	for range c.pools {
		c.open(r).run()
	}
}

func (c course) open(r *Round) *site {
	s := &site{Round: r, course: c, limit: r.limit(), unrun: func() []errand { return nil }}
	if c.limits != nil {
		s.limit = pick(r.Rand, c.limits...)
	}
	if s.limit == 1 && c.meanwhile == nil {
		s.last = slices.Repeat([]int{-1}, c.senders)
	}
	rejections := []error{weir.ErrFull, weir.ErrClosed}
	if c.ending == nil {
		rejections = rejections[:1]
	}
	if c.ways > 2 {
		rejections = append(rejections, givenUp...)
	}
	if c.faults {
		rejections = append(rejections, errNoObject)
	}
	kind := r.Rand.IntN(3)
	if c.expires {
		kind = pick(r.Rand, 1, 2) // what is dropped must say which task it is
		rejections = append(rejections, weir.ErrExpired)
	}
	s.ledger = books.NewLedger(r.Book, c.senders*c.tasks, rejections...)
	s.gauge = books.NewGauge(r.Book, s.limit)
	s.values = owners{r: r, limit: max(s.limit, c.moves)}
	if !c.faults || one(r.Rand, 2) {
		s.values.flawless = true
	}
	s.values.rnd = fork(r.Rand)
	opts := r.options(weir.OnPanic(s.onPanic))
	if c.options != nil {
		opts = append(opts, c.options(r)...)
	}
	if c.expires {
		s.after = pick(r.Rand, 10*time.Microsecond, 200*time.Microsecond, 2*time.Millisecond)
		opts = append(opts, weir.ExpireAfter(s.after), weir.OnError(s.onExpired))
	}
	switch kind {
	case 0:
		pool := face.New(s.limit, s.do, append(opts, weir.OnError(s.onError))...)
		s.pool, s.plain = pool, pool.Pool
		s.call = func(ctx context.Context, e errand) error {
			return pool.Do(ctx, func(context.Context) error { s.do(e); return nil })
		}
		s.drops = one(r.Rand, 2)
	case 1:
		s.pool = face.NewFunc(s.limit, s.do, opts...)
	case 2:
		opts = append(opts, weir.OnOpenError(func(e *weir.OpenError) { s.ledger.Returned(e.Arg.(errand).id) }))
		pool := weir.NewStateful(s.limit, s.values.open, func(v *owned, e errand) {
			s.ledger.Run(e.id, s.gauge, func() { s.values.use(v, func() { s.work(e) }) })
		}, s.values.dispose, opts...)
		s.pool, s.call = stateful{pool}, pool.Call
	}
	return s
}

func (s *site) run() {
	each := 1 + s.Rand.IntN(s.tasks)
	var all, controls team
	for sender := range s.senders {
		all.each(s.Round, 1, func(rnd *rand.Rand) {
			for range each {
				s.hand(rnd, sender)
			}
			if s.ending == nil && !one(rnd, 4) {
				s.wait()
			}
		})
	}
	stop := func() {}
	if s.meanwhile != nil {
		stop = controls.again(s.Round, func(rnd *rand.Rand) { s.meanwhile(s, rnd) })
	}
	if s.ending != nil {
		// Until a random part of the tasks has been given.
		for n := s.Rand.IntN(s.senders * each); s.ledger.Given() < n; {
			runtime.Gosched()
		}
		s.ending(s)
	}
	all.Wait()
	stop()
	if s.dropped {
		s.wait()
		// Without Close, a pool has no goroutine after its timeout: if one stays, the watchdog tells.
		for s.pool.Stats().Workers > 0 || s.values.alive.Load() > 0 {
			time.Sleep(50 * time.Microsecond)
		}
	} else {
		s.pool.Close()
	}
	for _, e := range s.unrun() {
		s.ledger.Returned(e.id)
	}
	s.values.none()
	s.settled(s.pool, s.ledger, !s.called.Load())
	panicked := s.pool.Stats().Panicked
	s.Check(s.reported.Load() == panicked, "OnPanic was called %d times for %d panics", s.reported.Load(), panicked)
}

// onPanic is the handler of the pool.
func (s *site) onPanic(p *weir.Panic) {
	_, ok := p.Value.(books.Thrown)
	s.Check(ok, "OnPanic got a value that no task panicked with: %v", p.Value)
	s.reported.Add(1)
}

// onError is the handler of the pool. The label of a task of Go is its number.
func (s *site) onError(err error) {
	dropped, ok := errors.AsType[*weir.DroppedError](err)
	if !ok {
		s.Check(errors.Is(err, weir.ErrGoexit), "OnError got an error that no task has returned: %v", err)
		return
	}
	id, err := strconv.Atoi(dropped.Label)
	s.Check(err == nil, "a task with the label %q was dropped: %v", dropped.Label, dropped.Cause)
	s.ledger.Returned(id)
}

// onExpired is the handler of a pool whose tasks expire.
func (s *site) onExpired(err error) {
	dropped, ok := errors.AsType[*weir.DroppedError](err)
	s.Check(ok && errors.Is(err, weir.ErrExpired), "OnError got an error that is not that of an expired task: %v", err)
	e := dropped.Arg.(errand)
	waited := time.Since(e.given)
	s.Check(waited >= s.after, "task %d has expired after %v, not %v", e.id, waited, s.after)
	s.ledger.Returned(e.id)
}

// goes hands a task to a Pool, with a context that may end while it is queued.
func (s *site) goes(rnd *rand.Rand, e errand) error {
	ctx := weir.Label(context.Background(), strconv.Itoa(e.id))
	if s.drops && one(rnd, 2) {
		var cancel context.CancelFunc
		ctx, cancel = deadline(rnd, 100)
		defer cancel()
		ctx = weir.Label(ctx, strconv.Itoa(e.id))
	}
	return s.plain.Go(ctx, func(ctx context.Context) error {
		if e.id%3 == 0 {
			_ = ctx.Done()
		}
		s.Check(ctx.Err() == nil || s.drops || s.ending != nil, "task %d has a context that has ended: %v", e.id, context.Cause(ctx))
		s.do(e)
		return nil
	})
}

// do is a task.
func (s *site) do(e errand) { s.ledger.Run(e.id, s.gauge, func() { s.work(e) }) }

func (s *site) work(e errand) {
	if s.last != nil {
		s.Check(s.last[e.sender] < e.id, "task %d of a submitter has started before its task %d", s.last[e.sender], e.id)
		s.last[e.sender] = e.id
	}
	if s.sleeps {
		time.Sleep(time.Duration(e.id%200) * time.Microsecond)
	}
	e.work.do()
	end(s.ledger, e.id, e.kind)
}

// hand hands a task over, in one of the ways.
func (s *site) hand(rnd *rand.Rand, sender int) {
	e := errand{s.ledger.New(), sender, ends, anyToil(rnd), time.Now()}
	way := rnd.IntN(s.ways)
	if way == 3 && s.call == nil {
		way = 2
	}
	if s.faults && way < 3 && one(rnd, 3) { // the panic of a call is the caller's
		e.kind = pick(rnd, panics, exits)
	}
	ctx, cancel := someContext(rnd)
	defer cancel()
	late := s.closed.Load()
	var err error
	switch way {
	case 0:
		err = s.pool.Invoke(e)
	case 1:
		err = s.pool.TryInvoke(e)
	case 2:
		if s.plain != nil && one(rnd, 2) {
			err = s.goes(rnd, e)
		} else {
			err = s.pool.InvokeContext(ctx, e)
		}
	case 3:
		s.called.Store(true)
		err = s.call(ctx, e)
	}
	s.Check(!late || err != nil, "a pool has accepted a task after Close had returned")
	s.ledger.Settle(e.id, err)
	if way == 3 && err == nil {
		s.ledger.Ended("Call", e.id)
	}
}

// wait checks that Wait waits.
func (s *site) wait() {
	ids := s.ledger.Accepted()
	s.pool.Wait()
	s.ended("Wait", ids)
}

// ended checks that tasks have ended that were accepted before a call. If values cannot be opened, contexts end or tasks expire, some never run.
func (s *site) ended(call string, ids []int) {
	if s.values.flawless && !s.drops && !s.expires {
		s.ledger.Ended(call, ids...)
	}
}

func (s *site) waits(rnd *rand.Rand) {
	time.Sleep(micros(rnd, 1000))
	s.wait()
}

// resizes resizes the pool. The limit stays for a while, so that starts above it add up.
func (s *site) resizes(rnd *rand.Rand) {
	s.limit = change(rnd, s.pool, s.gauge, s.limit)
	starts := s.gauge.Starts() + rnd.IntN(100)
	for range 10_000 {
		if s.gauge.Starts() >= starts {
			return
		}
		runtime.Gosched()
	}
}

const highest = 16

// change resizes a pool whose limit no other goroutine changes, and returns the new limit.
func change(rnd *rand.Rand, p interface{ Resize(limit int) }, gauge *books.Gauge, old int) int {
	limit := pick(rnd, 1, 1, 2, 3, 5, 8, highest)
	if limit > old {
		gauge.Raise(limit)
		p.Resize(limit)
	} else {
		p.Resize(limit)
		gauge.Lower(limit)
	}
	return limit
}

func (s *site) pauses(rnd *rand.Rand) {
	s.pool.Pause()
	before := s.gauge.Starts()
	yields(rnd, 200)
	// What was taken before may still start.
	n := s.gauge.Starts() - before
	s.Check(n <= s.limit, "%d tasks have started in a pause, with a limit of %d", n, s.limit)
	s.pool.Resume()
	yields(rnd, 50)
}

// closes closes the pool several times at once.
func (s *site) closes() {
	var all team
	all.each(s.Round, 1+s.Rand.IntN(3), func(rnd *rand.Rand) {
		Spin(rnd.IntN(5000))
		ids := s.ledger.Accepted()
		s.pool.Close()
		s.closed.Store(true)
		s.ended("Close", ids)
		s.ledger.Quiet("Close")
	})
	all.Wait()
}

func (s *site) shutsDown() {
	ctx, cancel := deadline(s.Rand, 300)
	defer cancel()
	unrun, err := s.pool.Shutdown(ctx)
	s.Check(err == nil || errors.Is(err, context.DeadlineExceeded), "Shutdown has returned %v", err)
	if s.unrun = unrun; err == nil {
		s.ledger.Quiet("Shutdown")
		s.Check(len(unrun()) == 0, "Shutdown has returned nil, and %d tasks", len(unrun()))
	}
}

// stateful has the methods of a [face.Pool].
type stateful struct {
	*weir.Stateful[*owned, errand]
}

func (p stateful) Shutdown(ctx context.Context) (func() []errand, error) {
	unrun, err := p.Stateful.Shutdown(ctx)
	return func() []errand { return unrun }, err
}
