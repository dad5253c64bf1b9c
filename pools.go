package weir

import (
	"iter"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/64ed045f/weir/internal/fifo"
	"github.com/64ed045f/weir/internal/frames"
	"github.com/64ed045f/weir/internal/race"
)

// PoolInfo is a pool of the program: see [Pools]. It stays valid forever, and keeps the pool from becoming
// garbage. All methods may be called by any number of goroutines at once.
type PoolInfo struct {
	ID   uint64 // tells it apart from all other pools of the program
	Name string // see [Name]
	Kind string // "Pool", "FuncPool[T]", "FuncContext[T]", "Stateful[S,T]" or "Keyed[K]", with the types that it was made for
	Made string // the file and the line that called New, NewFunc, NewFuncContext, NewStateful or NewKeyed

	pool observed
}

// observed is a *core, or a [Keyed].
type observed interface {
	base() *core
	describe() (name, kind string, made uintptr)
	glance() Stats
	times() Times
	longer(d time.Duration) []Running
	resizePool(limit int)
	pause()
	resume()
	behind() int     // tasks that wait to start, except for tokens
	queues() []*core // which have them, with their lanes
}

// Pools yields the pools of the program that have workers, and those that had one, or were paused, and are
// not closed. They come in the order in which they had their first workers. Groups with workers of their own
// are not among them: see [Groups].
//
// The list keeps no pool from becoming garbage. It is shared by the whole program, test bubbles included; a
// pool of a bubble has the times of the bubble's clock.
func Pools() iter.Seq[PoolInfo] {
	return func(yield func(PoolInfo) bool) {
		for _, l := range pools.all() {
			if pool, ok := l.info(); ok && pool.Made != "" && !over(pool.pool) && !yield(pool) {
				return
			}
		}
	}
}

func over(pool observed) bool {
	s := pool.glance()
	return s.Closed && s.Workers == 0
}

// Stats returns the counts of the pool, as [Pool.Stats] does. It only looks, so that it may be called for
// pools of other test bubbles, too; therefore Queued may include tasks of cancelled groups.
func (i PoolInfo) Stats() Stats { return i.of().glance() }

// Times returns how long tasks of the pool have waited and run. See [Pool.Times].
func (i PoolInfo) Times() Times { return i.of().times() }

// Running lists the tasks of the pool that have run for so long. See [Pool.Running].
func (i PoolInfo) Running(longer time.Duration) []Running { return i.of().longer(longer) }

// Resize sets the limit of the pool, of a Keyed that of all its keys together. See [Pool.Resize].
func (i PoolInfo) Resize(limit int) { i.of().resizePool(limit) }

// Pause stops workers from taking tasks. See [Pool.Pause].
func (i PoolInfo) Pause() { i.of().pause() }

// Resume ends a pause.
func (i PoolInfo) Resume() { i.of().resume() }

func (i PoolInfo) of() observed {
	must(i.pool != nil, "PoolInfo must come from Pools", "the zero value")
	return i.pool
}

// pools are all pools of the program that Pools may yield.
var pools registry

// registry lists pools by weak pointers. Its lock is never held while a goroutine waits, nor while that of an engine is.
type registry struct {
	mu     sync.Mutex
	last   uint64 // ID
	list   fifo.List[listedPool]
	length int // of the list
	left   int // of those after the last sweep
}

// listedPool is a pool of the registry.
type listedPool struct {
	link fifo.Link[listedPool]
	id   uint64
	pool func() observed // nil if it is garbage
	made atomic.Pointer[string]
}

// minSwept is how long the list becomes at least before it is swept.
const minSwept = 32

// add lists l as the pool that has the pointer to, unless that is listed.
func (r *registry) add(to *atomic.Pointer[listedPool], l *listedPool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if to.Load() != nil { // only calls under mu change it
		return
	}
	to.Store(l)
	if r.length >= max(minSwept, 2*r.left) {
		r.sweep()
	}
	r.last++
	l.id = r.last
	r.list.Append(&l.link, l)
	r.length++
}

func (r *registry) remove(from *atomic.Pointer[listedPool]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := from.Load(); l != nil {
		from.Store(nil)
		r.unlink(l)
	}
}

func (r *registry) unlink(l *listedPool) {
	if l.link.Of() != nil {
		r.list.Remove(&l.link)
		r.length--
	}
}

// sweep removes what is garbage. The caller holds mu.
func (r *registry) sweep() {
	for link := r.list.First(); link != nil; {
		l := link.Of()
		if link = link.Next(); l.pool() == nil {
			r.unlink(l)
		}
	}
	r.left = r.length
}

func (r *registry) all() []*listedPool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep()
	list := make([]*listedPool, 0, r.length)
	for link := r.list.First(); link != nil; link = link.Next() {
		list = append(list, link.Of())
	}
	return list
}

// info returns the pool; false if that is garbage.
func (l *listedPool) info() (PoolInfo, bool) {
	pool := l.pool()
	if pool == nil {
		return PoolInfo{}, false
	}
	name, kind, at := pool.describe()
	made := l.made.Load()
	if made == nil {
		text := place(at)
		made = &text
		l.made.Store(made)
	}
	return PoolInfo{ID: l.id, Name: name, Kind: kind, Made: *made, pool: pool}, true
}

// begins is called by workers of the pool: by each new one, and now and then.
func (c *core) begins() {
	if !c.isListed() { // most often it is
		c.list()
	}
	if watched.Load() {
		c.number()
	}
	if h := c.reporter.hooks; h != nil && h.slow != nil {
		c.watchSlow()
	}
}

// isListed is not seen by the race detector, like all that workers do before they have a task.
func (c *core) isListed() (is bool) {
	race.Unseen(func() { is = c.listed.Load() != nil })
	return is
}

// list adds the pool to those that Pools yields; that of a group, which it does not yield, for Groups.
func (c *core) list() {
	if c = c.shown().base(); c.isListed() {
		return
	}
	apart(func() {
		if c.made == 0 && !watched.Load() {
			return
		}
		pool := weak.Make(c)
		l := &listedPool{pool: func() observed {
			if c := pool.Value(); c != nil {
				return c.shown()
			}
			return nil
		}}
		pools.add(&c.listed, l)
	})
}

// shown returns what stands for the pool in Pools and Groups. It is hidden from the race detector: the caller need not know of
// the goroutine that has made the pool.
//
//go:norace
func (c *core) shown() observed {
	if r, ok := unwrap(c.engine.Runner).(*runner); ok && r.cut != nil {
		if of, ok := r.cut.of.(interface{ observed() observed }); ok {
			return of.observed()
		}
	}
	return c
}

func (c *core) base() *core { return c }

// unlist removes the pool from the list when its last worker has ended. With the next worker it is listed
// again. A group is unlisted at its Wait, as many may come and go between two garbage collections.
func (c *core) unlist() {
	if c.listed.Load() != nil {
		pools.remove(&c.listed)
	}
}

// describe returns the name of the pool, that of its type, and where it was made.
func (c *core) describe() (name, kind string, made uintptr) {
	of, _ := unwrap(c.engine.Runner).(interface{ pool() any })
	return c.reporter.name(), strings.TrimPrefix(reflect.TypeOf(of.pool()).String(), "*weir."), c.made
}

// resizePool is resize, also for a Stateful.
func (c *core) resizePool(limit int) {
	if s, ok := unwrap(c.running().Runner).(interface{ resize(limit int) }); ok {
		s.resize(limit)
	} else {
		c.resize(limit)
	}
}

// apart calls f. Under the race detector the caller is not ordered by it.
func apart(f func()) {
	race.Apart(func() (none struct{}) {
		f()
		return none
	})
}

// caller returns where the caller of the function that calls it was called.
func caller() uintptr {
	var pc [1]uintptr
	runtime.Callers(3, pc[:])
	return pc[0]
}

// watchedCallers is nil if Watch was not called. Otherwise it returns the caller of the function that calls
// it. If that is of this module, it returns as many of the callers above it as are needed to include one of
// the program's own. Each takes some 0.1 µs to find.
func watchedCallers() []uintptr {
	if !watched.Load() {
		return nil
	}
	return callersAbove()
}

func callersAbove() []uintptr {
	callers := make([]uintptr, 1)
	if runtime.Callers(4, callers); isLibraryAt(callers[0] - 1) {
		callers = make([]uintptr, 8)
		callers = callers[:runtime.Callers(4, callers)]
	}
	return callers
}

func isLibraryAt(pc uintptr) bool {
	known := &libraryAt[pc%uintptr(len(libraryAt))]
	if is := known.Load(); is>>1 == uint64(pc) {
		return is&1 != 0
	}
	f := runtime.FuncForPC(pc)
	if f == nil {
		return false
	}
	file, _ := f.FileLine(pc)
	is := frames.IsLibrary(f.Name(), file)
	answer := uint64(pc) << 1
	if is {
		answer++
	}
	known.Store(answer)
	return is
}

var libraryAt [256]atomic.Uint64 // the latest answers of isLibraryAt: pc<<1, and 1 for true

// place returns the file and line of the first of the callers that is not of this module; "" if there is
// none.
func place(callers ...uintptr) string {
	if len(callers) == 0 || callers[0] == 0 {
		return ""
	}
	all := runtime.CallersFrames(callers)
	for {
		frame, more := all.Next()
		switch {
		case frame.Function == "runtime.goexit": // the program has started the library's function by a go statement
			return ""
		case !more || !frames.IsLibrary(frame.Function, frame.File):
			return filepath.ToSlash(frame.File) + ":" + strconv.Itoa(frame.Line)
		}
	}
}
