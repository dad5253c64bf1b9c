package weir

import (
	"fmt"
	"time"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/inside"
)

// futureTask is a future as the context of its task: a caller that asks it for hostKey learns that a task of the pool
// will wait.
type futureTask[T any] Future[T]

// Deadline, Done, Err and Value implement [context.Context].
func (c *futureTask[T]) Deadline() (time.Time, bool) { return c.ctx.Deadline() }
func (c *futureTask[T]) Done() <-chan struct{}       { return c.ctx.Done() }
func (c *futureTask[T]) Err() error                  { return c.ctx.Err() }

// String keeps fmt from reading fields that other goroutines change meanwhile.
func (c *futureTask[T]) String() string { return fmt.Sprintf("%v.Task", c.ctx) }

func (c *futureTask[T]) Value(key any) any {
	if key == (hostKey{}) {
		return c
	}
	return c.ctx.Value(key)
}

// Stay implements [inside.Task].
func (c *futureTask[T]) Stay(group any) inside.Stay { return c.task().stay(group) }

// task implements host. The worker itself has set c.worker, and the task knows nothing of that: see package race.
//
//go:norace
func (c *futureTask[T]) task() task { return c.progress.task(c.pool, c.worker, c) }

// awaited implements host.
func (c *futureTask[T]) awaited() (*engine.Single[job], *engine.Subtasks[job]) { return &c.single, nil }

// crossed implements host.
func (c *futureTask[T]) crossed() bool { return false }

// above implements host. No task waits for a future from beginning to end.
func (c *futureTask[T]) above() (host, *engine.Want[job]) { return nil, nil }
