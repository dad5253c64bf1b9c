package weir

import (
	"sync/atomic"

	"github.com/64ed045f/weir/internal/engine"
)

// progress says how far a task outside a group has come: the task of a future, a visit, or a
// call of a Stateful. The task starts at most once, and is over once. The goroutine that makes a
// change learns that from the result.
type progress struct {
	single engine.Single[job]
	state  atomic.Uint32
}

const (
	hasBegun  uint32 = 1 << iota // a worker has taken the task
	isOver                       // the outcome is there, or no caller wants it any more
	outOfTurn                    // the task was taken from the middle of the queue, where its job is void
)

// begin reports whether a worker that has taken the task may run it. A claimed task must be out of
// turn, any other one in turn, and neither may have started or be over.
func (p *progress) begin(claimed bool) bool {
	if claimed {
		return p.state.CompareAndSwap(outOfTurn, outOfTurn|hasBegun)
	}
	return p.state.CompareAndSwap(0, hasBegun)
}

// giveUp ends a task that has not started.
func (p *progress) giveUp() bool { return p.state.CompareAndSwap(0, isOver) }

// end ends the task. It reports false if that is over already.
func (p *progress) end() bool { return p.state.Or(isOver)&isOver == 0 }

func (p *progress) over() bool { return p.state.Load()&isOver != 0 }

// task returns the task that w runs for p, or the zero task if it is over.
func (p *progress) task(on *Pool, w *engine.Worker, h host) task {
	if p.over() {
		return task{}
	}
	return task{on, w, h}
}

// started reports whether the task runs.
func (p *progress) started() bool { return p.state.Load()&(hasBegun|isOver) == hasBegun }

// void reports whether the job in the queue is void.
func (p *progress) void() bool { return p.state.Load()&outOfTurn != 0 }

// claimer takes a task out of turn. See [engine.Want].
type claimer struct {
	progress *progress
	listener *listener
}

// The numbers of a job without a batch that listens.
const (
	inTurn  = iota
	claimed // the job is the one that Claim has returned
)

func (c claimer) Claim() (job, bool) {
	if !c.progress.state.CompareAndSwap(0, outOfTurn) {
		return job{}, false
	}
	return listenerJob(c.listener, nil, claimed), true
}

var _ engine.Claimer[job] = claimer{}
