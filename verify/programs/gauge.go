package programs

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/verify/internal/face"
)

// gauge counts the tasks inside, and keeps the most by which they have exceeded a limit.
type gauge struct {
	limit int
	over  *atomic.Int64
	now   atomic.Int64
	above *gauge      // of the pool, if that is of a lane
	pool  face.Counts // which may have more places than the limit; nil if no more may be inside
}

func (g *gauge) enter() {
	for ; g != nil; g = g.above {
		n := g.now.Add(1) - int64(g.limit)
		if n > 0 && g.pool != nil && face.Fit(&g.now, g.pool) {
			continue
		}
		for most := g.over.Load(); n > most && !g.over.CompareAndSwap(most, n); {
			most = g.over.Load()
		}
	}
}

func (g *gauge) leave() {
	for ; g != nil; g = g.above {
		g.now.Add(-1)
	}
}

// turns counts the tasks from outside that have begun on a pool with a rate, or on a lane that has no rate of its own.
type turns struct {
	since time.Time     // before the pool was made
	every time.Duration // there is one more; 0 for a pool without a rate
	begun atomic.Int64
}

// take is called by a task that has its turn, and reports whether there can have been so many by now.
func (t *turns) take() bool {
	n := t.begun.Add(1)
	return t.every == 0 || n <= 1+int64(time.Since(t.since)/t.every)
}

// line is the tasks of a key of which one runs at a time.
type line struct {
	given atomic.Int64
	mu    sync.Mutex
	last  map[*actor]int64 // by the goroutine that hands them over: the latest that has begun
}

// begins reports whether no later task of the same goroutine has begun.
func (l *line) begins(by *actor, number int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil {
		l.last = map[*actor]int64{}
	}
	before := l.last[by]
	l.last[by] = max(before, number)
	return before < number
}

// place is the place of a task on a pool. The task lends it from the first of its waits at once to the end of the last. Outside there is none.
type place struct {
	running *gauge
	mu      sync.Mutex // so that a second goroutine begins to wait only when the gauge knows that the first one does
	waits   int
	above   *place // on workers of a loop's own: that of the task with the loop, which lends it too, even while the task itself runs
}

func (p *place) pause()  { p.add(1) }
func (p *place) resume() { p.add(-1) }

// add counts one more wait, or one less.
func (p *place) add(n int) {
	for ; p != nil; p = p.above {
		p.mu.Lock()
		if p.waits += n; n > 0 && p.waits == 1 {
			p.running.leave()
		} else if p.waits == 0 {
			p.running.enter()
		}
		p.mu.Unlock()
	}
}

// on returns the place that the goroutine has on a pool, its own or that of the task with the loop; nil if it has none.
func (p *place) on(running *[]gauge, pool int) *place {
	for p != nil && (pool < 0 || p.running != &(*running)[pool]) {
		p = p.above
	}
	return p
}

// Excess is by how many limits are, or may be, exceeded.
type Excess [4]int64

func (e Excess) String() string {
	return fmt.Sprintf("%d running tasks of a pool, %d begun tasks from outside, %d members of a group and %d running tasks of its own workers",
		e[running], e[begun], e[members], e[apart])
}

const (
	running = iota // tasks that run on a pool, and do not wait
	begun          // tasks from outside that have begun on a pool, and not ended
	members        // of a group, loop or stream
	apart          // tasks that run on workers of a group's or loop's own, and do not wait
)
