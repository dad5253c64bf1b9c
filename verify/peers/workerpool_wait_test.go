package peers_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// workerpoolWaiting answers SubmitWait and DoWait by a group of one task on the pool.
var workerpoolWaiting = []peers.Case{
	{
		Name:      "ANilTask",
		Theirs:    []string{"workerpool.TestSubmitWait", "workerpool.TestDoWait"},
		Behaviour: "A nil task is ignored by all calls that take a task.",
		Different: "A nil task panics where it is given: it is a mistake, and no caller would learn of a task that is left out.",
		Run: func(t *testing.T) {
			p := newWorkerpool(1)
			for name, call := range map[string]func(){
				"Submit":        func() { _ = p.Submit(nil) },
				"TrySubmit":     func() { _ = p.TrySubmit(nil) },
				"SubmitContext": func() { _ = p.SubmitContext(t.Context(), nil) },
				"Do":            func() { _ = p.Do(t.Context(), nil) },
				"Group.Go":      func() { p.Group(t.Context()).Go(nil) },
			} {
				if caught(call) == nil {
					t.Errorf("%s takes a nil task", name)
				}
			}
			p.Close()
			equal(t, "tasks", p.Stats().Accepted, 0)
		},
	},
	{
		Name:      "SubmitReturnsAtOnce",
		Theirs:    []string{"workerpool.TestSubmitWait"},
		Behaviour: "Submit does not wait for its task.",
		Run: func(t *testing.T) {
			p := newWorkerpool(1)
			ran := false
			begun := time.Now()
			ok(t, p.Submit(func() { time.Sleep(time.Second); ran = true }))
			equal(t, "time that Submit took", time.Since(begun), 0)
			p.Close()
			equal(t, "ran", ran, true)
		},
	},
	{
		Name:      "WaitingForATask",
		Theirs:    []string{"workerpool.TestSubmitWait", "workerpool.TestDoWait"},
		Behaviour: "A caller may wait for a task, behind those submitted before, and gets no error when it has run.",
		Run: func(t *testing.T) {
			p := newWorkerpool(1)
			for name, call := range waitingCalls {
				ok(t, p.Submit(func() { time.Sleep(time.Second) }))
				ran := false
				begun := time.Now()
				ok(t, call(t.Context(), p, func() { time.Sleep(time.Second); ran = true }))
				equal(t, "ran by "+name, ran, true)
				equal(t, "time that it took by "+name, time.Since(begun), 2*time.Second)
			}
			p.Close()
		},
	},
	{
		Name:      "WaitingAfterTheEnd",
		Theirs:    []string{"workerpool.TestDoWait"},
		Behaviour: "A caller that wants to wait for a task of a closed pool gets an error, which says that it is closed, and the task does not run.",
		Run: func(t *testing.T) {
			p := newWorkerpool(1)
			p.Close()
			for _, call := range waitingCalls {
				isError(t, call(t.Context(), p, func() { t.Error("the task runs") }), weir.ErrClosed)
			}
		},
	},
	{
		Name:      "WaitingWhileThePoolIsClosed",
		Theirs:    []string{"workerpool.TestDoWaitStop", "workerpool.TestSubmitWaitStop"},
		Behaviour: "A task that a caller waits for, and that is queued when the pool must run what it has and end, does run.",
		Run: func(t *testing.T) {
			for _, call := range waitingCalls {
				p := newWorkerpool(1)
				release := block(t, p, 1)
				ran := false
				waits := begin(func() { ok(t, call(t.Context(), p, func() { ran = true })) })
				synctest.Wait()
				closes := begin(p.Close)
				synctest.Wait()
				equal(t, "ran before a worker was free", ran, false)
				release()
				<-waits
				<-closes
				equal(t, "ran", ran, true)
			}
		},
	},
	{
		Name:      "WaitingWhileThePoolIsStopped",
		Theirs:    []string{"workerpool.TestDoWaitStop", "workerpool.TestSubmitWaitStop"},
		Behaviour: "A task that a caller waits for, and that is queued when the pool must end without it, does not run, and the caller gets an error that says so, and does not hang.",
		Run: func(t *testing.T) {
			for _, call := range waitingCalls {
				p := newWorkerpool(1)
				release := block(t, p, 1)
				waits := begin(func() {
					isError(t, call(t.Context(), p, func() { t.Error("the task runs") }), weir.ErrClosed)
				})
				synctest.Wait()
				stop(t, p)
				<-waits // before a worker is free
				release()
				p.Close()
			}
		},
	},
	{
		Name:      "SubmittingAfterTheEnd",
		Theirs:    []string{"workerpool.TestPanicDo"},
		Behaviour: "A call that returns an error says that the pool has ended, and the task does not run.",
		Run: func(t *testing.T) {
			p := newWorkerpool(1)
			p.Close()
			task := func() { t.Error("the task runs") }
			isError(t, p.Submit(task), weir.ErrClosed)
			isError(t, p.TrySubmit(task), weir.ErrClosed)
			isError(t, p.SubmitContext(t.Context(), task), weir.ErrClosed)
		},
	},
	{
		Name:      "NoErrorToReturn",
		Theirs:    []string{"workerpool.TestPanicDo", "workerpool.TestSubmitWaitStop"},
		Behaviour: "Submit and SubmitWait, which return nothing, panic when the pool has ended.",
		Different: "That a pool is closed can happen at run time, so every call that hands a task over has an error for it, or a group whose Wait returns it; none panics.",
		Run: func(t *testing.T) {
			p := newWorkerpool(1)
			p.Close()
			equal(t, "panic", caught(func() {
				isError(t, p.Submit(func() {}), weir.ErrClosed)
				g := p.Group(t.Context())
				g.Go(succeedTask)
				failsWith(t, g.Wait(), weir.ErrClosed)
			}), nil)
		},
	},
}

// waitingCalls are the ways to run a task on a pool and to wait for it.
var waitingCalls = map[string]func(ctx context.Context, p *weir.Pool, task func()) error{
	"a group": func(ctx context.Context, p *weir.Pool, task func()) error {
		g := p.Group(ctx)
		g.Go(func(context.Context) error { task(); return nil })
		return g.Wait()
	},
	"a future": func(ctx context.Context, p *weir.Pool, task func()) error {
		_, err := weir.Async(ctx, p, func(context.Context) (struct{}, error) { task(); return struct{}{}, nil }).Get(ctx)
		return err
	},
	"Do": func(ctx context.Context, p *weir.Pool, task func()) error {
		return p.Do(ctx, func(context.Context) error { task(); return nil })
	},
}

// stop ends a pool without what it has queued, as workerpool's Stop does, and returns how many
// tasks of Submit that were. It does not wait for those that run.
func stop(t *testing.T, p *weir.Pool) int {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	unrun, err := p.Shutdown(ctx)
	isError(t, err, context.Canceled)
	return len(unrun)
}
