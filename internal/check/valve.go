package check

import (
	"context"
	"sync/atomic"
)

// Valve holds tasks until it lets them go.
type Valve struct {
	// Started counts the tasks that have come. Ended counts those that were let go and have gone on.
	Started, Ended atomic.Int64
	out            chan struct{}
}

// NewValve returns a valve that is shut.
func NewValve() *Valve { return &Valve{out: make(chan struct{})} }

// Hold blocks at the valve. It is a task of a pool.
func (v *Valve) Hold() {
	v.Started.Add(1)
	<-v.out
	v.Ended.Add(1)
}

// Member is Hold as a task of a group.
func (v *Valve) Member(context.Context) error { return v.Try() }

// Try is Hold as a function that returns an error, which is always nil.
func (v *Valve) Try() error {
	v.Hold()
	return nil
}

// LetOne lets one held task go. It waits until there is one.
func (v *Valve) LetOne() { v.out <- struct{}{} }

// Open lets all tasks go, also later ones.
func (v *Valve) Open() { close(v.out) }

// Running returns how many tasks are held, or were let go and have not yet noticed.
func (v *Valve) Running() int { return int(v.Started.Load() - v.Ended.Load()) }
