package programs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/par"
	"github.com/64ed045f/weir/reuse"
)

// weirs runs a program on the library.
type weirs struct {
	*run
	pools []*weir.Pool
	calls *weir.Stateful[*atomic.Bool, func()]
	open  stock // of its values
	keyed []*weir.Keyed[int]
	onces []*weir.Once[int, int]

	funcs    []*weir.FuncPool[func()]
	contexts []*weir.FuncContext[func()]

	keeper  *reuse.Keeper[*atomic.Bool]
	leased  stock // of its objects
	buffers reuse.Buffers

	control sync.WaitGroup
	lookers sync.WaitGroup
	over    chan struct{}   // closed when these end
	closed  []chan struct{} // by pool: closed when Shutdown has returned

	mu    sync.Mutex
	made  int      // calls of async, hedge and submit: what they hand over may be left to itself
	loose []future // some of which no task waits for
}

func onWeir(r *run) library {
	l := &weirs{run: r, over: make(chan struct{})}
	onPanic := weir.OnPanic(func(p *weir.Panic) {
		if !meant(p) {
			r.fail("something has panicked: %v", p)
		}
	})
	options := func(i int) []weir.Option {
		b := r.program.Pools[i]
		opts := []weir.Option{weir.Queue(b.Queue), onPanic}
		if b.Of > 0 {
			opts = append(opts, weir.On(l.pools[b.Of-1]), weir.Priority(b.Priority), weir.Share(max(b.Share, 1)))
		}
		if b.Idle > 0 && (b.Of == 0 || i == callsPool) {
			opts = append(opts, weir.IdleTimeout(micros(b.Idle)))
		}
		if b.Waiting > 0 {
			opts = append(opts, weir.MaxWaiting(b.Waiting))
		}
		if b.Aging > 0 {
			opts = append(opts, weir.Aging(micros(b.Aging)))
		}
		if b.Rate > 0 {
			if r.program.turnsAreKnown() {
				r.turns[i].since, r.turns[i].every = time.Now(), micros(b.Rate)
			}
			opts = append(opts, weir.Rate(1, micros(b.Rate), 1))
		}
		if b.Tries > 0 {
			opts = append(opts, retrier(b.Tries))
		}
		if b.Expiry > 0 {
			opts = append(opts, weir.ExpireAfter(micros(b.Expiry)))
		}
		return opts
	}
	for i, b := range r.program.Pools[:shared] {
		p := weir.New(b.Limit, options(i)...)
		l.pools = append(l.pools, p)
		l.keyed = append(l.keyed, weir.NewKeyed[int](p, max(b.Keys, 1), weir.KeyQueue(b.Queue)))
		lane := []weir.Option{weir.On(p), weir.Queue(b.Queue), onPanic}
		l.funcs = append(l.funcs, weir.NewFunc(max(b.Keys, 1), func(task func()) { task() }, lane...))
		l.contexts = append(l.contexts, weir.NewFuncContext(max(b.Keys, 1), func(_ context.Context, task func()) error { task(); return nil }, lane...))
		l.onces = append(l.onces, weir.NewOnce[int, int](p))
	}
	for range r.program.Pools {
		l.closed = append(l.closed, make(chan struct{}))
	}
	l.open = stock{r, gauge{limit: r.gauges[running][callsPool].limit, over: &r.over[running]}}
	l.calls = weir.NewStateful(r.program.Pools[callsPool].Limit, l.maybe(l.open.make), l.open.use, l.open.dispose, options(callsPool)...)
	l.keeper = l.newKeeper()
	for i, p := range l.pools {
		r.gauges[running][i].pool = p
	}
	r.gauges[running][callsPool].pool = l.calls
	l.control.Go(l.controls)
	if r.program.With.has("looks") {
		weir.Watch() // of groups with workers of their own, Groups finds none that began before
		l.lookers.Go(func() { l.looks(l.over) })
	}
	return l
}

func micros(n int) time.Duration { return time.Duration(n) * time.Microsecond }

// controlled is what a pool of any kind has.
type controlled interface {
	Resize(limit int)
	Pause()
	Resume()
	Shutdown(ctx context.Context) ([]func(), error)
	Close()
}

func (l *weirs) pool(number int) controlled {
	if number == callsPool {
		return l.calls
	}
	return l.pools[number]
}

// controls resizes, pauses and shuts down pools as the program says.
func (l *weirs) controls() {
	for _, c := range l.program.Control {
		pool := l.pool(c.Pool)
		time.Sleep(micros(c.After))
		switch {
		case c.Limit > 0:
			pool.Resize(c.Limit)
		case c.Pause > 0:
			pool.Pause()
			time.Sleep(micros(c.Pause))
			pool.Resume()
		default:
			l.shut(c.Pool, micros(c.Shutdown))
		}
	}
}

// shut shuts a pool down, or closes it if d is 0.
func (l *weirs) shut(pool int, d time.Duration) {
	if d > 0 {
		ctx, stop := context.WithTimeout(context.Background(), d)
		defer stop()
		_, _ = l.pool(pool).Shutdown(ctx)
	} else {
		l.pool(pool).Close()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, closed := range l.closed {
		if l.program.isOn(i, pool) && !isClosed(closed) {
			close(closed)
		}
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// finish waits for what is still under way, closes the pools, and looks at their counts.
func (l *weirs) finish() {
	l.control.Wait()
	defer l.lookers.Wait()
	defer close(l.over)
	for before := -1; ; { // what is left to itself may make more
		made, loose := l.under()
		if made == before {
			break
		}
		before = made
		for _, f := range loose {
			_, _ = f.Get(context.Background())
		}
		for range len(l.pools) { // a group that is left to itself hands tasks from pool to pool
			for _, p := range l.pools {
				p.Wait()
			}
		}
		l.calls.Wait()
	}
	busy := func(s weir.Stats) bool { // with tasks of keys, with calls that were left and wait behind these, or for a token, or with what such tasks hand over
		return s.InLanes > 0 || s.Waiting > 0 || s.Running > 0 || s.Queued > 0
	}
	for slices.ContainsFunc(l.stats(), busy) {
		time.Sleep(time.Millisecond)
	}
	for i, s := range l.stats() {
		if s.Running != 0 || s.Queued != 0 || s.Waiting != 0 || s.Accepted != s.Finished+s.HandedBack {
			l.fail("pool %s is not quiet at the end: %+v", poolName(i), s)
		}
	}
	for _, p := range l.pools {
		p.Close()
	}
	l.calls.Close()
	l.keeper.Close()
	if n := l.open.alive.now.Load() + l.leased.alive.now.Load(); n != 0 {
		l.fail("%d values are not closed", n)
	}
}

// stock is objects of which there may be only so many, and of which each is for one task at a time.
type stock struct {
	run   *run
	alive gauge
}

func (s *stock) make() (*atomic.Bool, error) {
	s.alive.enter()
	return new(atomic.Bool), nil
}

func (s *stock) use(used *atomic.Bool, task func()) {
	if used.Swap(true) {
		s.run.fail("two tasks use one value")
	}
	defer used.Store(false)
	task()
}

func (s *stock) dispose(used *atomic.Bool) {
	if used.Load() {
		s.run.fail("a value is closed while a task uses it")
	}
	s.alive.leave()
}

// maybe returns a function that makes an object, or fails, as it may in noisy programs.
func (l *weirs) maybe(makes func() (*atomic.Bool, error)) func() (*atomic.Bool, error) {
	return func() (*atomic.Bool, error) {
		if l.program.With.has("noisy") && rand.IntN(10) == 0 {
			return nil, errFailed
		}
		return makes()
	}
}

// newKeeper makes the keeper of a program. In noisy ones its objects may be impossible to open, or turn out to be broken.
func (l *weirs) newKeeper() *reuse.Keeper[*atomic.Bool] {
	with := l.program.With
	l.leased = stock{l.run, gauge{limit: max(with["objects"], 1), over: &l.run.over[running]}}
	config := reuse.KeeperConfig[*atomic.Bool]{Capacity: l.leased.alive.limit, Lifetime: micros(with["lifetime"]), Close: l.leased.dispose}
	open := l.maybe(l.leased.make)
	config.Open = func(context.Context) (*atomic.Bool, error) { return open() }
	config.Check = func(_ context.Context, used *atomic.Bool) (err error) {
		l.leased.use(used, func() { _, err = l.maybe(func() (*atomic.Bool, error) { return used, nil })() })
		return err
	}
	return reuse.NewKeeper(config)
}

func (l *weirs) lease(ctx context.Context, task func()) error {
	got, err := l.keeper.TryGet()
	if err != nil {
		got, err = l.keeper.Get(ctx)
	}
	if err != nil {
		return err
	}
	end := reuse.Lease[*atomic.Bool].Put
	switch rand.IntN(20) {
	case 0:
		l.keeper.Reset()
	case 1:
		end = reuse.Lease[*atomic.Bool].Discard
	}
	defer end(got)
	mark := bytes.Repeat([]byte{byte(rand.Uint32())}, rand.IntN(1<<rand.IntN(14)))
	buffer := l.buffers.Get(len(mark))
	copy(buffer, mark)
	l.leased.use(got.Value(), task)
	if !bytes.Equal(buffer, mark) {
		l.fail("another task has written to a buffer")
	}
	l.buffers.Put(buffer)
	return nil
}

// under returns how many calls have left something to itself, and the futures of those that have returned.
func (l *weirs) under() (made int, loose []future) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.made, slices.Clone(l.loose)
}

// makes counts a call that may leave something to itself.
func (l *weirs) makes() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made++
}

// stats returns the counts of the pools.
func (l *weirs) stats() (all []weir.Stats) {
	for _, p := range l.pools {
		all = append(all, p.Stats())
	}
	return append(all, l.calls.Stats())
}

func (l *weirs) async(ctx context.Context, pool int, task func(context.Context) (int, error)) future {
	l.makes()
	f := weir.Async(ctx, l.pools[pool], task)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loose = append(l.loose, f)
	return f
}

func (l *weirs) do(ctx context.Context, pool int, task func(context.Context) error) error {
	return l.pools[pool].Do(ctx, task)
}

func (l *weirs) hedge(ctx context.Context, after, pool int, task func(context.Context) (int, error)) error {
	l.makes()
	fails := func(ctx context.Context) (int, error) {
		select {
		case <-ctx.Done():
		case <-time.After(micros(2 * after)):
		}
		return 0, errFailed
	}
	delay := time.Hour
	if after > 0 {
		delay = micros(after)
	}
	_, err := weir.Hedge(ctx, l.pools[pool], delay, fails, task)
	return err
}

func (l *weirs) rest(ctx context.Context, wait func()) { weir.Blocking(ctx, wait) }

func (l *weirs) divide(pool, n int, body func(lo, hi int)) { par.Range(n, body, par.On(l.pools[pool])) }

func (l *weirs) sort(pool int, items []int) { par.Sort(items, par.On(l.pools[pool])) }

func (l *weirs) resize(pool, limit int) { l.pool(pool).Resize(limit) }

func (l *weirs) pause(pool int, d time.Duration) {
	l.pool(pool).Pause()
	time.AfterFunc(d, l.pool(pool).Resume)
}

func (l *weirs) wait(pool int) {
	of := interface {
		Stats() weir.Stats
		Wait()
	}(l.calls)
	if pool != callsPool {
		of = l.pools[pool]
	}
	before := of.Stats()
	of.Wait()
	for end := time.Now().Add(time.Second); ; time.Sleep(time.Millisecond) {
		after := of.Stats() // which is exact when nothing is under way: one worker or another may seem to have its last task for a moment
		if after.Finished+after.HandedBack >= before.Accepted {
			return
		}
		if time.Now().After(end) {
			l.fail("after a wait for pool %s: %+v; before it: %+v", poolName(pool), after, before)
			return
		}
	}
}

func (l *weirs) call(ctx context.Context, task func()) error { return l.calls.Call(ctx, task) }

func (l *weirs) submit(ctx context.Context, pool int, try bool, task func()) error {
	l.makes()
	if try && l.pools[pool].TrySubmit(task) == nil {
		return nil
	}
	return l.pools[pool].SubmitContext(ctx, task)
}

func (l *weirs) submitKey(ctx context.Context, pool, key int, try bool, task func()) error {
	l.makes()
	switch key {
	case funcLane:
		if try && l.funcs[pool].TryInvoke(task) == nil {
			return nil
		}
		return l.funcs[pool].InvokeContext(ctx, task)
	case contextLane:
		return l.contexts[pool].Go(ctx, task)
	}
	if try && l.keyed[pool].TrySubmit(key, task) == nil {
		return nil
	}
	return l.keyed[pool].SubmitContext(ctx, key, task)
}

func (l *weirs) once(ctx context.Context, pool, key int, task func(context.Context) (int, error)) (int, error) {
	l.makes()
	return l.onces[pool].Do(ctx, key, task)
}

// timed is the end of a timer's task.
type timed struct{ over, shut chan struct{} }

// Get waits for it, unless the pool was shut down.
func (t timed) Get(context.Context) (int, error) {
	select {
	case <-t.over:
	case <-t.shut:
	}
	return 0, nil
}

func (l *weirs) later(d time.Duration, runs, pool int, task func(context.Context)) {
	f := timed{make(chan struct{}), l.closed[pool]}
	l.mu.Lock()
	l.made, l.loose = l.made+1, append(l.loose, f) // first: Wait of the pool does not wait for it
	l.mu.Unlock()
	if runs == 0 {
		l.pools[pool].After(d, func(ctx context.Context) {
			defer close(f.over)
			task(ctx)
		})
		return
	}
	made, ran := make(chan *weir.Timer, 1), 0
	made <- l.pools[pool].Every(d, func(ctx context.Context) {
		timer := <-made
		made <- timer
		switch ran++; {
		case ran == runs:
			timer.Stop()
			defer close(f.over)
		case ran%2 == 1:
			timer.Reset(d)
		}
		task(ctx)
	})
}

func (l *weirs) gather(ctx context.Context, b *batch) error {
	switch b.Kind {
	case group:
		g := l.group(ctx, b)
		for i := range b.tasks {
			live := func(ctx context.Context) error {
				_, err := b.live(ctx, i, g.Cancel)
				return err
			}
			if !b.With.has("try") || !g.TryGo(live) {
				g.Go(live)
			}
			b.resize(g, i)
		}
		if b.With.has("cancelled") {
			g.Cancel(errCancel)
		}
		err := b.waits(g.Wait)
		if b.With.has("again") {
			b.again(g)
		}
		return err
	case values, all, ordered, first:
		return l.results(b, l.group(ctx, b))
	}
	if b.With.has("seq") {
		return loop(ctx, l, b, b.indices)
	}
	items := slices.Collect(b.indices)
	if !b.With.has("chan") {
		return loop(ctx, l, b, items)
	}
	queue, over := make(chan int), make(chan struct{})
	defer close(over)
	go func() {
		defer close(queue)
		for _, i := range items {
			select {
			case queue <- i:
			case <-over:
				return
			}
		}
	}()
	return loop(ctx, l, b, queue)
}

func (l *weirs) group(ctx context.Context, b *batch) *weir.Group {
	var opts []weir.GroupOption
	if limit := b.With["limit"]; limit > 0 {
		opts = append(opts, weir.Limit(limit))
	}
	if b.With.has("keepgoing") {
		opts = append(opts, weir.KeepGoing())
	}
	if b.With.has("panicsaserrors") {
		opts = append(opts, weir.PanicsAsErrors())
	}
	if b.With.has("retry") {
		opts = append(opts, retrier(b.With["retry"]))
	}
	if key := b.With["key"]; key > 0 {
		return l.keyed[b.Pool].Group(ctx, key, opts...)
	}
	if b.Pool != own {
		return l.pools[b.Pool].Group(ctx, opts...)
	}
	var more []weir.Option
	for _, opt := range opts {
		more = append(more, opt)
	}
	return weir.NewGroup(ctx, b.With["workers"], more...)
}

func (l *weirs) results(b *batch, g *weir.Group) error {
	r := weir.NewResults[int](g)
	for i := range b.tasks {
		r.Go(func(ctx context.Context) (int, error) { return b.live(ctx, i, g.Cancel) })
		b.resize(g, i)
	}
	if b.With.has("cancelled") {
		g.Cancel(errCancel)
	}
	switch b.Kind {
	case values:
		_, err := b.checkAll(r.Wait())
		if again, _ := r.Wait(); len(again) > 0 {
			b.by.fail("values %v are there again: %v", again, b.act)
		}
		return err
	case first:
		b.left = true
		value, err := r.First()
		b.check(-1, value, err)
		return err
	case ordered:
		return b.checkEach(r.Ordered(), true)
	}
	return b.checkEach(r.All(), false)
}

// again uses a group once more, which is as new after Wait: as many tasks fit in as at first.
func (b *batch) again(g *weir.Group) {
	for range max(b.With["limit"], b.With["resized"], 1) {
		g.Go(func(context.Context) error { return nil })
	}
	if err := g.Wait(); err != nil && !b.by.program.With.has("noisy") {
		b.by.fail("a group that is used again has returned %w: %v", err, b.act)
	}
}

// resize changes the limit of a group that has got its task i.
func (b *batch) resize(g *weir.Group, i int) {
	if limit := b.With["resized"]; limit > 0 && i == 0 {
		g.Resize(limit)
	}
}

// waits calls wait on as many goroutines as the program says. All return the same, or nil if another has returned before.
func (b *batch) waits(wait func() error) error {
	errs := make([]error, max(b.With["waiters"], 1))
	var others sync.WaitGroup
	defer others.Wait()
	for i := range errs[1:] {
		others.Go(func() {
			defer b.by.caught(&errs[i])
			errs[i] = wait()
		})
	}
	err := wait()
	others.Wait()
	return cmp.Or(err, errors.Join(errs...))
}

func retrier(tries int) *weir.Retrier {
	return weir.Retry(weir.RetryPolicy{Tries: tries, Wait: 20 * time.Microsecond, Panics: true})
}

func loop[S par.Source[int]](ctx context.Context, l *weirs, b *batch, items S) error {
	live := func(ctx context.Context, i int) (int, error) { return b.live(ctx, i, nil) }
	var opts []par.Option
	if limit := max(b.With["limit"], b.With["workers"]); limit > 0 {
		opts = append(opts, par.Limit(limit))
	}
	if b.Pool != own {
		opts = append(opts, par.On(l.pools[b.Pool]))
	}
	if b.With.has("keepgoing") {
		opts = append(opts, par.KeepGoing())
	}
	if b.With.has("retry") {
		opts = append(opts, par.Retry(retrier(b.With["retry"])))
	}
	switch b.Kind {
	case each:
		return par.Each(ctx, items, func(ctx context.Context, i int) error {
			_, err := live(ctx, i)
			return err
		}, opts...)
	case mapped:
		_, err := b.checkAll(par.Map(ctx, items, live, opts...))
		return err
	}
	var more []par.StreamOption
	for _, opt := range opts {
		more = append(more, opt)
	}
	if b.With.has("unordered") {
		more = append(more, par.Unordered())
	}
	if ahead := b.With["ahead"]; ahead > 0 {
		more = append(more, par.Ahead(ahead))
	}
	results := par.Stream(ctx, items, live, more...)
	if before, after := b.With["before"], b.With["after"]; before+after > 0 {
		pass := func(_ context.Context, i int) (int, error) { return i, nil }
		p := par.Pipe(items, pass, more...)
		for range before - 1 {
			p = par.Pipe(p, pass, more...)
		}
		p = par.Pipe(p, live, more...)
		for range after {
			p = par.Pipe(p, pass, more...)
		}
		results = p.All(ctx)
	}
	return b.checkEach(results, !b.With.has("unordered"))
}
