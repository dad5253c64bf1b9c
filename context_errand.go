package weir

import (
	"context"
	"fmt"
	"time"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/inside"
)

// errandTask is an errand as the context of its task: a caller that asks it for hostKey learns that a task of the pool
// will wait.
type errandTask errand

// withoutHost returns the context that Async was given, if ctx is the context of its task; otherwise ctx. The
// two differ only in the host. Otherwise a task that hands over others would make each of them ask all tasks
// above.
func withoutHost(ctx context.Context) context.Context {
	if c, ok := ctx.(*errandTask); ok {
		return c.ctx
	}
	return ctx
}

// Deadline, Done, Err and Value implement [context.Context].
func (c *errandTask) Deadline() (time.Time, bool) { return c.ctx.Deadline() }
func (c *errandTask) Done() <-chan struct{}       { return c.ctx.Done() }
func (c *errandTask) Err() error                  { return c.ctx.Err() }

// String keeps fmt from reading fields that other goroutines change meanwhile.
func (c *errandTask) String() string { return fmt.Sprintf("%v.Task", c.ctx) }

func (c *errandTask) Value(key any) any {
	switch key {
	case hostKey{}:
		return c
	case labelKey{}:
		return c.label
	}
	return c.ctx.Value(key)
}

// Stay implements [inside.Task].
func (c *errandTask) Stay(group, feeder any) inside.Stay { return c.task().stay(group, feeder) }

// task implements host. The worker itself has set c.worker, and the task knows nothing of that: see package race.
//
//go:norace
func (c *errandTask) task() task { return c.progress.task(c.pool, c.worker, c) }

// awaited implements host.
func (c *errandTask) awaited() (*engine.Single, *engine.Subtasks) { return &c.single, nil }

// across implements host.
func (c *errandTask) across() *across { return nil }

// above implements host. No task waits for a future from beginning to end.
func (c *errandTask) above() (host, *engine.Want) { return nil, nil }
