package weir

import (
	"iter"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/64ed045f/weir/internal/race"
)

// PoolInfo is a pool of the program: see [Pools]. It may be used as long as one likes, and keeps the pool from becoming garbage. All methods
// may be called by any number of goroutines at once.
type PoolInfo struct {
	ID   uint64 // tells it apart from all other pools of the program
	Name string // see [Name]
	Kind string // "Pool", "FuncPool[T]" or "Stateful[S,T]", with the types that it was made for
	Made string // the file and the line that called New, NewFunc or NewStateful

	pool observed
}

// observed is a *core.
type observed interface {
	glance() Stats
	times() Times
	longer(d time.Duration) []Running
	resize(limit int)
	pause()
	resume()
}

// Pools yields the pools of the program: each that has had a task, or was paused, and is not closed, or still has workers. They come in the
// order in which they had their first tasks. Groups with workers of their own are not among them: see [Groups].
//
// The list holds no pool from becoming garbage. It is shared by the whole program, test bubbles included; a pool of a bubble has the times of
// the bubble's clock.
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

// Stats returns the counts of the pool, as [Pool.Stats] does, except that Queued may have tasks of groups that were cancelled: it only looks, so
// that it may be called for pools of other test bubbles, too.
func (i PoolInfo) Stats() Stats { return i.of().glance() }

// Times returns how long tasks of the pool have waited and run. See [Pool.Times].
func (i PoolInfo) Times() Times { return i.of().times() }

// Running lists the tasks of the pool that have run for so long. See [Pool.Running].
func (i PoolInfo) Running(longer time.Duration) []Running { return i.of().longer(longer) }

// Resize sets the limit of the pool. See [Pool.Resize].
func (i PoolInfo) Resize(limit int) { i.of().resize(limit) }

// Pause stops workers from taking tasks. See [Pool.Pause].
func (i PoolInfo) Pause() { i.of().pause() }

// Resume ends a pause.
func (i PoolInfo) Resume() { i.of().resume() }

func (i PoolInfo) of() observed {
	must(i.pool != nil, "pool's information must be of Pools", "the zero value")
	return i.pool
}

// pools are all pools of the program that Pools may yield.
var pools registry

// registry lists pools, by weak pointers. Its lock is never held while a goroutine waits, nor while that of an engine is.
type registry struct {
	mu   sync.Mutex
	last uint64 // ID
	list []listed
}

// listed is a pool of the registry.
type listed interface {
	// info returns the pool; false if that is garbage.
	info() (PoolInfo, bool)
}

func (r *registry) add(made func(id uint64) listed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.list) == cap(r.list) {
		r.sweep()
	}
	r.last++
	r.list = append(r.list, made(r.last))
}

// sweep removes what is garbage. The caller holds mu.
func (r *registry) sweep() {
	r.list = slices.DeleteFunc(r.list, func(l listed) bool {
		_, ok := l.info()
		return !ok
	})
	if n := len(r.list); n < cap(r.list)/4 {
		r.list = slices.Grow(slices.Clip(slices.Clone(r.list)), n+1) // as much again may come before the next
	}
}

func (r *registry) all() []listed {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep()
	return slices.Clone(r.list)
}

// listedPool is a pool of the registry.
type listedPool[T any] struct {
	id   uint64
	kind string
	pool weak.Pointer[core[T]]
	made atomic.Pointer[string] // where; nil until that is asked for
}

func (l *listedPool[T]) info() (PoolInfo, bool) {
	c := l.pool.Value()
	if c == nil {
		return PoolInfo{}, false
	}
	made := l.made.Load()
	if made == nil {
		at := place(c.made)
		made = &at
		l.made.Store(made)
	}
	return PoolInfo{ID: l.id, Name: c.reporter.name(), Kind: l.kind, Made: *made, pool: c}, true
}

// begins is called by workers of the pool: by each new one, and now and then.
func (c *core[T]) begins() {
	if !c.isListed() {
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
func (c *core[T]) isListed() (is bool) {
	race.Unseen(func() { is = c.listed.Load() })
	return is
}

// list adds the pool to those that Pools yields; that of a group, which it does not yield, for Groups.
func (c *core[T]) list() {
	apart(func() {
		if (c.made != 0 || watched.Load()) && !c.listed.Swap(true) {
			pools.add(func(id uint64) listed { return &listedPool[T]{id: id, kind: c.kind(), pool: weak.Make(c)} })
		}
	})
}

// kind names the type of the pool.
func (c *core[T]) kind() string {
	runner := c.engine.Runner
	if n, ok := runner.(*named[T]); ok {
		runner = n.Runner
	}
	of, _ := runner.(interface{ pool() any })
	return strings.TrimPrefix(reflect.TypeOf(of.pool()).String(), "*weir.")
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

// place returns the file and the line of the program's own code among those callers: of the first that is not of this module; "" if there is none.
func place(callers ...uintptr) string {
	if len(callers) == 0 || callers[0] == 0 {
		return ""
	}
	frames := runtime.CallersFrames(callers)
	for {
		frame, more := frames.Next()
		switch {
		case frame.Function == "runtime.goexit": // the program has started the library's function by a go statement
			return ""
		case !more || !isLibrary(frame.Function):
			return filepath.ToSlash(frame.File) + ":" + strconv.Itoa(frame.Line)
		}
	}
}

// isLibrary reports whether the function is of a package of this module.
func isLibrary(function string) bool {
	rest, ok := strings.CutPrefix(function, module)
	if !ok || rest == "" {
		return false
	}
	switch name, _, _ := strings.Cut(rest[1:], "."); {
	case rest[0] == '.':
		return true
	case rest[0] != '/':
		return false
	default:
		return strings.HasPrefix(name, "internal/") || slices.Contains(publicPackages, name)
	}
}

var publicPackages = []string{"errgroup", "par", "reuse", "weirdebug", "weirhttp"}
