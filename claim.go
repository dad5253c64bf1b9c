package weir

import (
	"github.com/64ed045f/weir/internal/claim"
	"github.com/64ed045f/weir/internal/engine"
)

// progress says how far a task outside a group has come: the task of a future, a visit, or a
// call of a Stateful. See package claim.
type progress struct {
	single engine.Single
	state  claim.State
}

func (p *progress) begin(claimed bool) bool { return p.state.Begin(claimed) }

// giveUp ends a task that has not started.
func (p *progress) giveUp() bool { return p.state.GiveUp() }

// end ends the task. It reports false if that is over already.
func (p *progress) end() bool { return p.state.End() }

func (p *progress) over() bool { return p.state.Over() }

// started reports whether the task runs.
func (p *progress) started() bool { return p.state.Running() }

// void reports whether the job in the queue is void.
func (p *progress) void() bool { return p.state.Void() }

// task returns the task that w runs for p, or the zero task if it is over.
func (p *progress) task(on *Pool, w *engine.Worker, h host) task {
	if p.over() {
		return task{}
	}
	return task{on, w, h}
}

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

func (c claimer) Claim() (engine.Task, bool) {
	if !c.progress.state.Claim() {
		return engine.Task{}, false
	}
	return listenerJob(c.listener, nil, claimed).Task, true
}

var _ engine.Claimer = claimer{}
