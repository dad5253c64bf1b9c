package behaviour

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
)

// A pool is what a user of a library works with: the library's pool or group, and the code that the user
// writes to wait for its tasks.
type pool struct {
	submit func(task func()) error
	wait   func() error    // waits for all tasks; in some libraries it also ends the pool
	resize func(limit int) // nil if the limit is fixed
	end    func()          // nil if there is nothing to end
}

// run submits a task n times, and waits for all of them.
func (p pool) run(n int, task func()) error {
	if err := p.handOver(n, task); err != nil {
		return err
	}
	return p.wait()
}

// handOver submits a task n times.
func (p pool) handOver(n int, task func()) error {
	for range n {
		if err := p.submit(task); err != nil {
			return err
		}
	}
	return nil
}

// counted is what a user writes to wait for the tasks of a library that cannot: a pool and a WaitGroup.
func counted(submit func(task func()) error) pool {
	var tasks sync.WaitGroup
	return pool{
		submit: func(task func()) error {
			tasks.Add(1)
			err := submit(func() {
				defer tasks.Done()
				task()
			})
			if err != nil {
				tasks.Done()
			}
			return err
		},
		wait: silent(tasks.Wait),
	}
}

// always returns the submit function of a library that refuses nothing.
func always(submit func(task func())) func(task func()) error {
	return func(task func()) error { submit(task); return nil }
}

// silent returns the wait function of a library that reports nothing.
func silent(wait func()) func() error {
	return func() error { wait(); return nil }
}

// An opener makes a pool with a limit. If a program differs between libraries only in the pool, the program
// is one function with the pool as its argument.
type opener func(limit int) pool

// with returns the program that runs f with a pool of that limit.
func (open opener) with(limit int, f func(env Env, p pool) error) func(Env) error {
	return func(env Env) error {
		p := open(limit)
		if p.end != nil {
			defer p.end()
		}
		return f(env, p)
	}
}

// common are the programs that differ between libraries only in the pool. Each has the limit of that pool.
var common = map[string]struct {
	limit int
	run   func(env Env, p pool) error
}{
	"01": {1, goexits}, "02": {4, shrink}, "04": {1, waitTwice}, "05": {huge(), runAll}, "09": {2, recurs}, "23": {1, labels}, "24": {1, together},
	"reuse": {4, reuse}, "wait": {4, waits}, "resize": {2, resize},
}

// programs returns the common programs for these scenarios and features.
func (open opener) programs(ids ...string) programs {
	list := make(programs)
	for _, id := range ids {
		list[id] = open.with(common[id].limit, common[id].run)
	}
	return list
}

// and adds programs. They replace programs for the same scenario.
func (p programs) and(more programs) programs {
	maps.Copy(p, more)
	return p
}

// noting returns the program with a note.
func noting(note string, program func(Env) error) func(Env) error {
	return func(env Env) error {
		env.Note("%s", note)
		return program(env)
	}
}

// A group runs tasks that get a context and return an error.
type group struct {
	run  func(task func(ctx context.Context) error)
	wait func() error
}

// A grouper makes a group with a limit, whose tasks get a context made from ctx. Its methods are programs for
// a library.
type grouper func(ctx context.Context, limit int) group

// programs returns all programs that are methods of open.
func (open grouper) programs() programs {
	return programs{"17": open.leave, "18": open.afterError, "context": open.context, "errors": open.errors}
}

// errors is the feature "errors".
func (open grouper) errors(Env) error {
	g := open(context.Background(), 2)
	g.run(func(context.Context) error { return errBoom })
	return returned("Wait", g.wait(), errBoom)
}

// context is the feature "context".
func (open grouper) context(Env) error {
	g := open(context.Background(), 2)
	g.run(func(ctx context.Context) error { <-ctx.Done(); return nil })
	g.run(func(context.Context) error { return errBoom })
	return returned("Wait", g.wait(), errBoom)
}

// afterError is scenario 18.
func (open grouper) afterError(Env) error {
	g := open(context.Background(), 2)
	seen := make(chan context.Context, 1)
	g.run(func(ctx context.Context) error { seen <- ctx; return errBoom })
	<-(<-seen).Done()
	var ran atomic.Int32
	for range 10 {
		g.run(func(context.Context) error { ran.Add(1); return nil })
	}
	if err := returned("Wait", g.wait(), errBoom); err != nil {
		return err
	}
	return count("tasks started", ran.Load(), 0)
}

// again is scenario 08. documented says what the documentation has about a second batch, if it advises against that.
func (open grouper) again(documented string) func(Env) error {
	return func(env Env) error {
		g := open(context.Background(), 2)
		g.run(func(context.Context) error { return errBoom })
		if err := returned("the first Wait", g.wait(), errBoom); err != nil {
			return err
		}
		env.Step("the second batch%s", documented)
		var ran atomic.Int32
		g.run(func(ctx context.Context) error { ran.Add(1); return ctx.Err() })
		if err := g.wait(); err != nil {
			return fmt.Errorf("tasks of the second batch run: %d; its Wait returned the error %w%s", ran.Load(), err, documented)
		}
		return count("tasks of the second batch run", ran.Load(), 1)
	}
}

// leave is scenario 17, for the context of a group.
func (open grouper) leave(Env) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	g := open(ctx, 1)
	submit := func(task func()) { g.run(func(context.Context) error { task(); return nil }) }
	return leave(submit, func() { submit(func() {}) }, cancel)
}

// handled is scenario 07, for a pool whose panic handler sends panics to panicked.
func handled(p pool, panicked <-chan any) error {
	if err := p.submit(func() { panic("boom") }); err != nil {
		return err
	}
	<-panicked
	return errors.Join(runAll(Env{}, p), count("more panics reported", len(panicked), 0))
}
