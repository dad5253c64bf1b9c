package history_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/internal/face"
)

// round is what happened when a script was played. Times are those of a clock that every
// event moves on, so no two are the same, and what happens before something has a lower time.
type round struct {
	*script
	pool  face.Pool[int]
	clock atomic.Int64
	tasks []task
	done  [][]*event // what each client did, and behind them the epilogue

	running     atomic.Int64 // tasks
	excess      atomic.Int64 // as many ran at once, and there were never so many places
	first, last weir.Stats   // before the script, and at the end
}

// task is what became of one task.
type task struct {
	plan
	gate  chan struct{}
	group *weir.Group // of a tryGo

	submitted event
	runs      atomic.Int32 // how often it was started
	started   int64        // by itself, as the first thing
	ended     int64        // by itself, as the last thing
	over      int64        // when it was known to be over; at the end of the round all are
	back      *event       // what handed it back, or told of it
	after     int          // the task that was handed back before it, by the same call; or -1
}

// event is what one client did.
type event struct {
	action    action
	n         int
	call, end int64
	err       error
	stats     weir.Stats
	unrun     func() []int
}

// play plays a script.
func play(s *script) *round {
	// Every task of the epilogue is one more.
	tasks := append([]plan(nil), s.tasks...)
	if !s.large {
		tasks = append(tasks, make([]plan, s.queue+2)...)
	}
	r := &round{script: s, tasks: make([]task, len(tasks)), done: make([][]*event, len(s.clients)+1)}
	for i := range r.tasks {
		r.tasks[i].plan = tasks[i]
		if tasks[i].gated {
			r.tasks[i].gate = make(chan struct{})
		}
	}
	if s.function {
		r.pool = face.NewFunc(s.limit, r.run, s.options()...)
	} else {
		r.pool = face.New(s.limit, r.run, s.options()...)
	}
	if s.used {
		for range runtime.GOMAXPROCS(0) + 1 {
			_ = r.pool.Invoke(earlier) // which a pool without a queue may refuse
		}
		r.pool.Wait()
	}
	r.first = r.pool.Stats()
	var clients sync.WaitGroup
	begin := make(chan struct{})
	for c := range s.clients {
		clients.Go(func() {
			<-begin
			client := client{round: r, number: c}
			client.play()
		})
	}
	close(begin)
	clients.Wait()
	r.epilogue()
	r.settle()
	return r
}

// earlier is the number of the tasks before the script.
const earlier = -1

func (r *round) now() int64 { return r.clock.Add(1) }

// run is what every task does.
func (r *round) run(number int) {
	if number == earlier {
		return
	}
	t := &r.tasks[number]
	if t.runs.Add(1) == 1 {
		t.started = r.now()
	}
	if n := r.running.Add(1); n > int64(r.highest) {
		r.excess.Store(n)
	}
	defer r.running.Add(-1)
	linger(t.yields, t.spins)
	time.Sleep(t.sleeps)
	if t.gated {
		<-t.gate
	}
	t.ended = r.now()
	switch t.ending {
	case panics:
		panic("as planned")
	case exits:
		runtime.Goexit()
	case returns:
	}
}

// linger lets others run, and then keeps a processor for a moment.
func linger(yields, spins int) {
	for range yields {
		runtime.Gosched()
	}
	for range spins {
		spun.Load()
	}
}

var spun atomic.Int64

// client plays one client's part.
type client struct {
	*round
	number  int
	gated   []int // the client's tasks that may block
	paused  bool
	waiting []int // the client's tasks of groups that it has not waited for
}

func (c *client) play() {
	for _, s := range c.clients[c.number] {
		linger(s.yields, s.spins)
		c.do(s)
	}
	c.yield()
	for len(c.waiting) > 0 {
		c.do(step{action: groupWait})
	}
}

// yield lets everything go on that this client holds up. A client that calls it before it blocks
// waits for no goroutine that waits for the client.
func (c *client) yield() {
	for len(c.gated) > 0 {
		c.release()
	}
	if c.paused {
		c.do(step{action: resume})
	}
}

func (c *client) release() {
	if len(c.gated) > 0 {
		close(c.tasks[c.gated[0]].gate)
		c.gated = c.gated[1:]
	}
}

// do does one thing, and notes it.
func (c *client) do(s step) {
	switch s.action {
	case release:
		c.release()
		return
	case groupWait:
		if len(c.waiting) == 0 {
			return
		}
		c.yield()
		s.n, c.waiting = c.waiting[0], c.waiting[1:]
	case submit, wait, closing:
		c.yield()
	case pause:
		c.paused = true
	case resume:
		c.paused = false
	}
	if s.action.submits() && c.tasks[s.n].gated {
		c.gated = append(c.gated, s.n) // others may wait for it from now on
	}
	c.perform(c.number, s.action, s.n)
	if s.action == tryGo {
		c.waiting = append(c.waiting, s.n)
	}
}

// perform does one thing for a client, and keeps the outcome.
func (r *round) perform(client int, a action, n int) {
	e, p := &event{action: a, n: n}, r.pool
	var g *weir.Group
	ctx := context.Background()
	switch e.action {
	case tryGo:
		g = p.(*face.Closures[int]).Group(ctx) // a FuncPool has none
		r.tasks[e.n].group = g
	case submitDone, shutdown, submitSoon:
		soon, cancel := context.WithCancelCause(ctx)
		ctx = soon
		if e.action == submitSoon {
			go func() {
				linger(e.n%5, 0)
				cancel(errDone)
			}()
		} else {
			cancel(errDone)
		}
	}
	e.call = r.now()
	switch e.action {
	case try:
		e.err = p.TryInvoke(e.n)
	case submit:
		e.err = p.Invoke(e.n)
	case submitDone, submitSoon:
		e.err = p.InvokeContext(ctx, e.n)
	case tryGo:
		if !g.TryGo(func(context.Context) error { r.run(e.n); return nil }) {
			e.err = errRefused
		}
	case groupWait:
		e.err = r.tasks[e.n].group.Wait()
	case resize:
		p.Resize(e.n)
	case pause:
		p.Pause()
	case resume:
		p.Resume()
	case stats:
		e.stats = p.Stats()
	case wait:
		p.Wait()
	case closing:
		p.Close()
	case shutdown:
		e.unrun, e.err = p.Shutdown(ctx)
	default:
		panic("not for a client: " + e.action.String())
	}
	e.end = r.now()
	r.done[client] = append(r.done[client], e)
	if e.action.submits() {
		r.tasks[e.n].submitted = *e
	}
}

// errRefused is the false of TryGo, which does not say why: it fits both reasons.
var errRefused = errors.Join(weir.ErrFull, weir.ErrClosed)

// epilogue shows the pool at rest, full, and closed.
func (r *round) epilogue() {
	last := len(r.clients)
	do := func(a action, n int) { r.perform(last, a, n) }
	defer func() { r.last = r.pool.Stats() }()
	do(resume, 0)
	do(wait, 0)
	if r.large {
		for r.expiring && r.pool.Stats().Workers > 0 { // also without Close
			runtime.Gosched()
		}
		do(closing, 0)
		return
	}
	do(pause, 0)
	first := len(r.script.tasks)
	for i := first; i < len(r.tasks)-1; i++ {
		do(try, i)
	}
	do(resize, 1)
	do(resume, 0)
	do(wait, 0)
	do(stats, 0)
	do(closing, 0)
	do(try, len(r.tasks)-1)
}
