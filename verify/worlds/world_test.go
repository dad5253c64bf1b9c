package worlds_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
)

// dice are random numbers for one goroutine.
type dice struct{ *rand.Rand }

func newDice(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 0))} }

func (d dice) one(in int) bool { return d.IntN(in) == 0 }

func (d dice) micros(n int) time.Duration { return time.Duration(d.IntN(n)) * time.Microsecond }

func oneOf[T any](d dice, of ...T) T { return of[d.IntN(len(of))] }

// pool is a pool or lane of a world.
type pool struct {
	*weir.Pool
	above *pool // whose lane it is
	name  string
	limit int // between two phases

	rated, narrow, closed bool // it has a rate, or one above it; no queue, or room for few submitters; something has closed it

	highest atomic.Int64 // limit in this phase
	running atomic.Int64 // tasks, with those of its lanes
}

type world struct {
	t     *testing.T
	seed  uint64
	dice  dice // of the goroutine that runs the world
	pools []*pool
	rates []*weir.RateLimit
	once  *weir.Once[int, int]
	keyed *weir.Keyed[int]
	funcs *weir.FuncContext[uint64]
	calls *weir.Stateful[int, *atomic.Int32]

	calm     bool // tasks wait for nothing, so that no more run than the limits allow
	again    bool // tasks that fail may be tried again
	expires  bool // tasks may expire
	closes   bool // pools may be closed before the end
	deepest  int  // how deep tasks are nested
	failures int  // one in so many tasks fails; 0 for none

	left atomic.Int64 // tasks that may still be handed over in this phase
	late atomic.Int64 // goroutines that nothing waits for

	mu      sync.Mutex
	kept    []context.Context // some, of tasks that may be over
	futures []*weir.Future[int]
	wrong   []string
}

func newWorld(t *testing.T, seed uint64) *world {
	d := newDice(seed)
	w := &world{t: t, seed: seed, dice: d, calm: d.one(5), expires: d.one(6), closes: d.one(4), deepest: d.IntN(4)}
	if d.one(2) {
		w.failures = 5 + d.IntN(40)
	}
	w.rates = []*weir.RateLimit{weir.Rate(2000, time.Second, 1), weir.Rate(5000, time.Second, 2), weir.Rate(100_000, time.Second, 4)}
	for range 1 + d.IntN(7) {
		w.addPool()
	}
	w.once = weir.NewOnce[int, int](w.any(d).Pool)
	if d.one(3) {
		w.keyed = weir.NewKeyed[int](w.any(d).Pool, 1+d.IntN(2), weir.KeyQueue(d.IntN(4)))
	}
	if d.one(3) {
		w.funcs = weir.NewFuncContext(1+d.IntN(2), func(ctx context.Context, seed uint64) error { return w.task(ctx, newDice(seed), 0) },
			weir.On(w.any(d).Pool), weir.OnPanic(func(*weir.Panic) {}), weir.OnError(func(error) {}))
	}
	if d.one(3) {
		open := func() (int, error) {
			if rand.IntN(5) == 0 {
				return 0, errFailed
			}
			return 0, nil
		}
		use := func(_ int, ran *atomic.Int32) { w.check(ran.Add(1) == 1, "a call has run twice") }
		w.calls = weir.NewStateful(1+d.IntN(2), open, use, func(int) {}, weir.On(w.any(d).Pool))
	}
	return w
}

func (w *world) any(d dice) *pool { return w.pools[d.IntN(len(w.pools))] }

func (w *world) addPool() {
	d := w.dice
	p := &pool{limit: 1 + d.IntN(3)}
	opts := []weir.Option{weir.OnPanic(func(*weir.Panic) {}), weir.OnError(func(error) {})}
	add := func(opt weir.Option, name string, args ...any) {
		opts, p.name = append(opts, opt), p.name+" "+name+fmt.Sprint(args...)
	}
	switch d.IntN(5) {
	case 0:
		p.narrow = true
		add(weir.Queue(0), "queue", 0)
	case 1, 2:
		n := 1 + d.IntN(5)
		p.narrow = true
		add(weir.Queue(n), "queue", n)
	case 3:
		add(weir.Queue(weir.Unbounded), "unbounded")
	}
	if i := d.IntN(4 * len(w.rates)); i < len(w.rates) {
		p.rated = true
		add(w.rates[i], "rate", i)
	}
	if w.expires && d.one(3) {
		after := time.Duration(1+d.IntN(20)) * time.Millisecond
		add(weir.ExpireAfter(after), "expires", after)
	}
	if d.one(4) {
		n := d.IntN(3)
		p.narrow = true
		add(weir.MaxWaiting(n), "waiting", n)
	}
	if d.one(4) {
		w.again = true
		add(weir.Retry(weir.RetryPolicy{Tries: 2, Wait: 30 * time.Microsecond}), "tries")
	}
	if len(w.pools) == 0 || d.one(4) {
		if d.one(2) {
			after := time.Duration(d.IntN(3)) * time.Millisecond
			add(weir.IdleTimeout(after), "idle", after)
		}
		if d.one(4) {
			add(weir.Prestart(p.limit), "prestart")
		}
		p.Pool = weir.New(p.limit, opts...)
		p.name = fmt.Sprintf("%d:%s", len(w.pools), p.name)
		w.pools = append(w.pools, p)
		return
	}
	if d.one(2) {
		n := oneOf(d, -1, 0, 1, 5, 1<<30, -1<<30)
		add(weir.Priority(n), "priority", n)
	}
	if d.one(2) {
		n := oneOf(d, 1, 2, 7, 1<<20)
		add(weir.Share(n), "share", n)
	}
	if d.one(2) {
		after := oneOf(d, time.Nanosecond, 20*time.Microsecond, time.Millisecond, time.Hour)
		add(weir.Aging(after), "aging", after)
	}
	p.above = w.any(d)
	p.rated = p.rated || p.above.rated
	p.Pool = p.above.Lane(p.limit, opts...)
	p.name = fmt.Sprintf("%d of %.1s:%s", len(w.pools), p.above.name, p.name)
	w.pools = append(w.pools, p)
}

// run runs the world's phases, and then closes its pools.
func (w *world) run() {
	const longest = 20 * time.Minute // of the bubble's time
	watch := time.AfterFunc(longest, func() { w.fail("it goes on for ever") })
	for range 1 + w.dice.IntN(4) {
		w.phase()
		w.rests()
		for _, p := range w.pools {
			p.limit = 1 + w.dice.IntN(4)
			p.Resize(p.limit)
		}
		for _, i := range w.dice.Perm(len(w.pools)) {
			if p := w.pools[i]; !p.isClosed() && !w.expires {
				w.probe(p)
			}
		}
	}
	for _, i := range w.dice.Perm(len(w.pools)) {
		if w.dice.one(2) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			_, _ = w.pools[i].Shutdown(ctx)
		}
		w.pools[i].Close()
	}
	if w.calls != nil {
		w.calls.Close()
	}
	w.rests()
	for _, p := range w.pools {
		if n := p.Stats().Workers; n != 0 {
			w.fail("pool %s is closed, and has %d workers", p.name, n)
		}
	}
	watch.Stop()
}

// phase lets goroutines hand tasks over while others change the pools.
func (w *world) phase() {
	w.left.Store(int64(50 + w.dice.IntN(600)))
	for _, p := range w.pools {
		p.highest.Store(int64(p.limit))
	}
	var senders, controls sync.WaitGroup
	over := make(chan struct{})
	for range 1 + w.dice.IntN(4) {
		d := newDice(w.dice.Uint64())
		senders.Go(func() {
			for range 5 + d.IntN(30) {
				caught(func() { w.send(d) })
				if d.one(5) {
					toil(d)
				}
			}
		})
	}
	pauses, huge := !w.dice.one(3), w.dice.one(3)
	for range 1 + w.dice.IntN(2) {
		d := newDice(w.dice.Uint64())
		controls.Go(func() {
			for !isClosed(over) {
				w.control(d, pauses, huge, &controls)
				time.Sleep(d.micros(100))
			}
		})
	}
	time.Sleep(w.dice.micros(5000))
	close(over)
	ended := make(chan struct{})
	var resumes sync.WaitGroup
	resumes.Go(func() { // a pause may have begun at the last moment
		for !isClosed(ended) {
			for _, p := range w.pools {
				p.Resume()
			}
			time.Sleep(time.Millisecond)
		}
	})
	senders.Wait()
	controls.Wait()
	w.waitForLate()
	time.Sleep(5 * time.Millisecond) // until timers are due
	close(ended)
	resumes.Wait()
	for range 2 { // a task may hand over another one to a pool for which this goroutine has waited
		for _, p := range w.pools {
			p.Wait()
		}
		if w.funcs != nil {
			w.funcs.Wait()
		}
		if w.calls != nil {
			w.calls.Wait()
		}
	}
	w.waitForLate()
	for i, r := range w.rates {
		r.Set([]int{2000, 5000, 100_000}[i], time.Second, 1+i)
	}
}

func (w *world) waitForLate() {
	for w.late.Load() > 0 {
		time.Sleep(time.Millisecond)
	}
}

// control changes a pool.
func (w *world) control(d dice, pauses, huge bool, controls *sync.WaitGroup) {
	p := w.any(d)
	switch d.IntN(10) {
	case 0, 1:
		if pauses {
			p.Pause()
			toil(d)
		}
		if !d.one(3) {
			p.Resume()
		}
	case 2:
		p.Resume()
	case 3, 4:
		n := 1 + d.IntN(4)
		if huge && d.one(4) {
			n = oneOf(d, 100, 1<<20, 1<<31-1, weir.Unbounded)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		p.highest.Store(max(p.highest.Load(), int64(n)))
		p.Resize(n)
	case 5:
		ctx, cancel := context.WithTimeout(context.Background(), d.micros(300))
		defer cancel()
		_ = p.WaitContext(ctx)
	case 6:
		p.Stats()
		p.Running(0)
	case 7:
		w.rates[d.IntN(len(w.rates))].Set(1000+d.IntN(100_000), time.Second, 1+d.IntN(4))
	case 8:
		if !w.closes || !d.one(30) {
			return
		}
		w.mu.Lock()
		p.closed = true
		w.mu.Unlock()
		after, shuts := oneOf(d, -1, d.micros(1000)), d.one(2)
		controls.Go(func() {
			if shuts {
				ctx, cancel := context.WithTimeout(context.Background(), after)
				defer cancel()
				_, _ = p.Shutdown(ctx)
			}
			p.Close()
		})
	}
}

// isClosed reports whether the pool is closed, or one above it.
func (p *pool) isClosed() bool { return p != nil && (p.closed || p.above.isClosed()) }

// enter counts a task, and leave its end.
func (w *world) enter(p *pool) {
	for ; p != nil; p = p.above {
		n, most := p.running.Add(1), p.highest.Load()
		w.check(!w.calm || n <= most, "%d tasks of pool %s run, and its limit was never above %d", n, p.name, most)
	}
}

func leave(p *pool) {
	for ; p != nil; p = p.above {
		p.running.Add(-1)
	}
}

func (w *world) check(ok bool, format string, args ...any) {
	if ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// fail ends the test, and with it the process: goroutines of the bubble may wait for ever.
func (w *world) fail(format string, args ...any) {
	var s strings.Builder
	fmt.Fprintf(&s, "world %d: ", w.seed)
	fmt.Fprintf(&s, format, args...)
	for _, p := range w.pools {
		fmt.Fprintf(&s, "\n%s, limit %d: %+v", p.name, p.limit, p.Stats())
	}
	if w.funcs != nil {
		fmt.Fprintf(&s, "\nfunctions: %+v", w.funcs.Stats())
	}
	if w.calls != nil {
		fmt.Fprintf(&s, "\ncalls: %+v", w.calls.Stats())
	}
	if w.keyed != nil {
		fmt.Fprintf(&s, "\nthere are keys")
	}
	panic(s.String())
}

// rests waits until all pools are at rest.
func (w *world) rests() {
	const looks, pause = 200, 10 * time.Millisecond
	for n := 0; ; n++ {
		synctest.Wait()
		w.mu.Lock()
		wrong := strings.Join(w.wrong, "; ")
		w.mu.Unlock()
		if wrong != "" {
			w.fail("%s", wrong)
		}
		p := w.busy()
		if p == nil {
			return
		}
		if n == looks {
			w.fail("pool %s does not come to rest", p.name)
		}
		time.Sleep(pause)
	}
}

func (w *world) busy() *pool {
	for _, p := range w.pools {
		s := p.Stats()
		if s.Running+s.Queued+s.Extra+s.Suspended+s.Waiting+s.Returning+s.InLanes != 0 || s.Accepted != s.Finished+s.HandedBack {
			return p
		}
	}
	return nil
}

// probe checks that exactly as many tasks of p run at once as may.
func (w *world) probe(p *pool) {
	want := p.limit
	for at := p.above; at != nil; at = at.above {
		want = min(want, at.limit)
	}
	var inside atomic.Int64
	open := make(chan struct{})
	task := func(context.Context) error {
		inside.Add(1)
		defer inside.Add(-1)
		<-open
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	var senders sync.WaitGroup
	host := w.any(w.dice)
	if p.rated || p.narrow || host.rated || host.narrow || host.isClosed() || w.dice.one(2) {
		for range 10 { // some may be refused
			for range want + 2 {
				senders.Go(func() { _ = p.Go(ctx, task) })
			}
			time.Sleep(50 * time.Millisecond)
		}
	} else { // as subtasks
		senders.Go(func() {
			_ = host.Do(ctx, func(ctx context.Context) error {
				g := p.Group(ctx)
				for range want + 2 {
					g.Go(task)
				}
				return g.Wait()
			})
		})
		time.Sleep(time.Second)
	}
	synctest.Wait()
	if n := inside.Load(); n != int64(want) {
		w.fail("%d tasks of pool %s run at once, want %d", n, p.name, want)
	}
	cancel()
	close(open)
	senders.Wait()
	w.rests()
}

var errFailed = errors.New("failed")

// caught calls f, which may panic with errFailed.
func caught(f func()) {
	defer func() {
		thrown := recover()
		if p, ok := thrown.(*weir.Panic); ok {
			thrown = p.Value
		}
		if thrown != nil && thrown != any(errFailed) {
			panic(thrown)
		}
	}()
	f()
}

// toil is what tasks do: nothing, mostly.
func toil(d dice) {
	switch d.IntN(6) {
	case 0:
		for n := d.IntN(4000); n > 0; n-- {
			spun.Add(1)
		}
	case 1:
		time.Sleep(d.micros(200))
	case 2:
		runtime.Gosched()
	}
}

var spun atomic.Int64

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
