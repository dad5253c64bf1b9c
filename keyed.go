package weir

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/64ed045f/weir/internal/keys"
	"github.com/64ed045f/weir/internal/race"
)

// Keyed runs tasks on a pool, at most limit of them with the same key at once. With a limit of 1 the tasks of
// a key run one after the other, in the order in which they were handed over. While tasks of several keys
// compete for places, each key gets the same run time, however many or long its tasks are. All methods may be
// called by any number of goroutines at once.
//
// Each key that is in use has a lane, see [Pool.Lane], and takes memory only then. All keys together count as one
// lane of the pool, with a share of 1 and a priority of 0. They are closed together with the lanes of the pool; a
// Keyed itself need not be closed. The package documentation describes, under Keys, which options of the pool
// apply to the tasks, and what waits for them.
type Keyed[K comparable] struct {
	on      *Pool   // whose places the tasks have
	pool    *Pool   // a lane of it, of which those of the keys are lanes
	options options // of the lane of each key
	share   func(K) int

	mu   sync.Mutex // taken before that of the engine
	keys keys.Map[K, *keyLane[K]]
	free []*keyLane[K] // of keys that were in use

	before Stats // of lanes that there are no more
}

// keyLane is the lane of a key.
type keyLane[K comparable] struct {
	pool   *Pool
	of     *Keyed[K]
	key    K
	listed bool         // in keys; under Keyed.mu
	uses   atomic.Int64 // calls under way, and groups; grows under Keyed.mu
}

// maxFreeLanes are kept for other keys. A lane takes a kilobyte.
const maxFreeLanes = 64

// A KeyedOption sets up a [Keyed] of keys of type K.
type KeyedOption[K comparable] interface{ keyed(o *keyedOptions) }

type keyedOptions struct {
	queue int
	share any // a func(K) int, or nil
}

// A KeyedQueue is an option for a [Keyed] of any type: see [KeyQueue].
type KeyedQueue struct{ n int }

func (q KeyedQueue) keyed(o *keyedOptions) { o.queue = q.n }

// KeyQueue sets how many tasks of one key may be queued; the default is 4096. A call that finds no room waits
// for it, or gets [ErrFull], as for a pool.
func KeyQueue(n int) KeyedQueue {
	must(n >= 0, "queue must be at least 0", n)
	return KeyedQueue{n}
}

// keyedShare is what ShareBy was given.
type keyedShare[K comparable] func(K) int

func (s keyedShare[K]) keyed(o *keyedOptions) { o.share = (func(K) int)(s) }

// ShareBy sets the weight of each key when keys compete for places: see [Share]. Goroutines may call share at
// the same time; it is called when a key comes into use. A share below 1 counts as 1.
func ShareBy[K comparable](share func(key K) int) KeyedOption[K] {
	must(share != nil, "function must not be nil", "nil")
	return keyedShare[K](share)
}

// NewKeyed returns a Keyed whose tasks run on p, at most limit of each key at once.
func NewKeyed[K comparable](p *Pool, limit int, opts ...KeyedOption[K]) *Keyed[K] {
	mustPool(p != nil)
	mustLimit(limit)
	k := &Keyed[K]{on: p}
	o := keyedOptions{queue: defaultQueue}
	for _, opt := range opts {
		must(opt != nil, "option must not be nil", "nil")
		opt.keyed(&o)
	}
	if s := o.share; s != nil {
		share, ok := s.(func(K) int)
		must(ok, fmt.Sprintf("function of ShareBy must be a func(%T) int", *new(K)), fmt.Sprintf("a %T", s))
		k.share = share
	}
	r := p.core.reporter.forKeys()
	as := poolOption(func(o *options) { o.crash, o.labels = p.core.engine.Crash, r.labels() })
	k.pool = newPool(Unbounded, []Option{On(p), Measure(0), as, laneOption("", func(l *laneOptions) { l.reporter = &r })}, caller(), k)
	k.options = poolOptions(limit, []Option{On(k.pool), Queue(o.queue), Measure(0), as})
	return k
}

// Submit hands task to the pool as a task of the given key: see [Pool.Submit]. It blocks while as many tasks
// of the key are queued as [KeyQueue] allows.
func (k *Keyed[K]) Submit(key K, task func()) error {
	l := k.lane(key)
	defer l.done()
	return l.pool.Submit(task)
}

// SubmitContext is [Keyed.Submit] that waits for room only until ctx is done, and then returns its cause. ctx
// has no influence on an accepted task.
func (k *Keyed[K]) SubmitContext(ctx context.Context, key K, task func()) error {
	mustContext(ctx != nil)
	l := k.lane(key)
	defer l.done()
	return l.pool.SubmitContext(ctx, task)
}

// TrySubmit is [Keyed.Submit] that never waits: it returns [ErrFull] if there is no room.
func (k *Keyed[K]) TrySubmit(key K, task func()) error {
	l := k.lane(key)
	defer l.done()
	return l.pool.TrySubmit(task)
}

// Go hands a task over with its context, as one with that key: see [Pool.Go]. If a task calls it, with its own
// context, and has to wait because as many tasks of the key are queued as [KeyQueue] allows, the new task may
// start before these: the caller waits for it, see promise 4.
func (k *Keyed[K]) Go(ctx context.Context, key K, task func(ctx context.Context) error) error {
	mustContext(ctx != nil)
	l := k.lane(key)
	defer l.done()
	return l.pool.Go(ctx, task)
}

// Group returns a group of tasks with the given key: see [Pool.Group]. A task of the key may wait for such a
// group that is made from its context: the tasks of the group run in its place. The key is in use until the
// group is garbage.
func (k *Keyed[K]) Group(ctx context.Context, key K, opts ...GroupOption) *Group {
	mustContext(ctx != nil)
	l := k.lane(key)
	made := false
	defer func() {
		if !made { // an option has panicked
			l.done()
		}
	}()
	g := l.pool.Group(ctx, opts...)
	made = true
	runtime.AddCleanup(g, weakDone[K], weak.Make(l)) // weak: the handlers of the pool may hold what holds the group
	return g
}

// weakDone is done, unless nothing has the lane any more.
func weakDone[K comparable](l weak.Pointer[keyLane[K]]) {
	if l := l.Value(); l != nil {
		l.done()
	}
}

// lane returns the lane of key, which is in use until a call of done.
func (k *Keyed[K]) lane(key K) *keyLane[K] {
	must(k != nil && k.pool != nil, "keyed must be made by NewKeyed", "the zero value")
	if l := k.used(key); l != nil {
		return l
	}
	share := 1
	if k.share != nil {
		share = max(1, k.share(key)) // without the mutex: the function may use the Keyed
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.keys.Get(key)
	if l == nil {
		l = k.newLane(key, share)
	}
	l.uses.Add(1)
	return l
}

// used is lane for a key that is in use; else it returns nil. It panics if the key is of a type that no map takes.
func (k *Keyed[K]) used(key K) *keyLane[K] {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.keys.Get(key)
	if l != nil {
		l.uses.Add(1)
	}
	return l
}

// newLane makes a lane for key, or takes one that was in use.
func (k *Keyed[K]) newLane(key K, share int) (l *keyLane[K]) {
	if last := len(k.free) - 1; last >= 0 {
		l, k.free[last] = k.free[last], nil
		k.free = k.free[:last]
	} else {
		l = &keyLane[K]{of: k}
		l.pool = k.options.newLane(l.rests, l)
	}
	l.key = key
	l.pool.core.engine.SetShare(share)
	if key == key { //nolint:gocritic // a NaN is not: it could never be found
		l.listed = true
		k.keys.Set(key, l)
	}
	return l
}

// done ends what lane has begun.
func (l *keyLane[K]) done() {
	if l.uses.Add(-1) == 0 && !l.pool.core.engine.HasWorkers() { // else the last worker calls rests
		l.rests()
	}
}

// rests forgets the key if it is not in use any more. The last worker of the lane calls it, and so does the last call.
func (l *keyLane[K]) rests() {
	k := l.of
	k.mu.Lock()
	defer k.mu.Unlock()
	if !l.listed || l.uses.Load() > 0 || !l.pool.core.engine.IsAtRest() {
		return
	}
	k.keys.Delete(l.key)
	var none K
	l.key, l.listed = none, false
	if len(k.free) < maxFreeLanes && !race.Enabled { // which would take tasks of the next key as ordered after those of this one
		k.free = append(k.free, l)
		return
	}
	k.before.add(l.pool.core.glance())
}
