package programs_test

import (
	"fmt"
	"sync/atomic"
)

// gauge counts the tasks inside, and keeps the most by which they have exceeded a limit.
type gauge struct {
	limit int
	over  *atomic.Int64
	now   atomic.Int64
	above *gauge // of the pool, if that is of a lane
}

func (g *gauge) enter() {
	for ; g != nil; g = g.above {
		n := g.now.Add(1) - int64(g.limit)
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

// place is the place of a task on a pool. The task lends it from the first of its waits at
// once to the end of the last. Outside there is none.
type place struct {
	running *gauge
	waits   atomic.Int64
}

func (p *place) pause() {
	if p != nil && p.waits.Add(1) == 1 {
		p.running.leave()
	}
}

func (p *place) resume() {
	if p != nil && p.waits.Add(-1) == 0 {
		p.running.enter()
	}
}

// excess is by how many limits are, or may be, exceeded.
type excess [3]int64

func (e excess) String() string {
	return fmt.Sprintf("%d running tasks of a pool, %d begun tasks from outside and %d members of a group", e[running], e[begun], e[members])
}

const (
	running = iota // tasks that run on a pool, and do not wait
	begun          // tasks from outside that have begun on a pool, and not ended
	members        // of a group, loop or stream
)
