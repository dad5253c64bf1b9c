package weir_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestPromise03ATaskThatBlocksNeverHoldsUpTheNext(t *testing.T) {
	for _, queue := range []int{0, 1, 2, 1024, weir.Unbounded} {
		for _, limit := range []int{1, 2, 8} {
			name := fmt.Sprintf("limit=%d/queue=%s", limit, queueName(queue))
			check.Bubble(t, "blocking tasks all run/"+name, func(t *testing.T) {
				p := weir.New(limit, weir.Queue(queue))
				defer p.Close()
				for k := 1; k <= limit; k++ {
					// First on fresh workers, then on k−1 that are idle and one that
					// is not there yet, then again when all have expired.
					for _, rest := range []time.Duration{0, time.Second, time.Minute} {
						time.Sleep(rest)
						block(t, p, k).Open()
						p.Wait()
					}
				}
			})
			if limit == 1 {
				continue
			}
			t.Run("each waits for the next to start/"+name, func(t *testing.T) {
				check.Within(time.Minute, func() { chain(t, limit, queue) })
			})
		}
	}
	for _, limit := range []int{2, 3, 8} {
		for _, queue := range []int{0, 1, 1024} {
			t.Run(fmt.Sprintf("two tasks that need each other/limit=%d/queue=%d", limit, queue), func(t *testing.T) {
				check.Within(time.Minute, func() { pairs(t, limit, queue) })
			})
		}
	}
	check.Bubble(t, "the next starts while the others go on to block", func(t *testing.T) {
		// Tasks that were queued while there was no worker to be had all start
		// as soon as there are workers, though each of them blocks.
		for _, let := range []func(p *weir.Pool){
			func(p *weir.Pool) { p.Resize(8) },
			func(p *weir.Pool) { p.Resize(8); p.Resume() },
		} {
			p := weir.New(1)
			first := block(t, p, 1)
			v := check.NewValve()
			for range 8 {
				check.OK(t, p.Submit(v.Hold))
			}
			let(p)
			synctest.Wait()
			check.Equal(t, "running next to the first", v.Running(), 7)
			first.Open()
			synctest.Wait()
			check.Equal(t, "running", v.Running(), 8)
			v.Open()
			p.Close()
		}
		p := weir.New(8)
		p.Pause()
		v := check.NewValve()
		for range 8 {
			check.OK(t, p.Submit(v.Hold))
		}
		synctest.Wait()
		check.Equal(t, "running while paused", v.Running(), 0)
		p.Resume()
		synctest.Wait()
		check.Equal(t, "running after Resume", v.Running(), 8)
		v.Open()
		p.Close()
	})
}

// chain runs tasks that each wait for the next one's start.
func chain(t *testing.T, limit, queue int) {
	p := weir.New(limit, weir.Queue(queue))
	defer p.Close()
	links := check.Scale(1000, 300)
	started := make([]chan struct{}, links+1)
	for i := range started {
		started[i] = make(chan struct{})
	}
	close(started[links])
	for i := range links {
		check.OK(t, p.Submit(func() {
			close(started[i])
			<-started[i+1]
		}))
	}
}

// pairs runs two tasks that only end together, over and over: with no pause,
// each pair after the one before, and with the partner submitted by a task.
func pairs(t *testing.T, limit, queue int) {
	p := weir.New(limit, weir.Queue(queue))
	defer p.Close()
	meet := make(chan struct{})
	give, take := func() { meet <- struct{}{} }, func() { <-meet }
	rounds := check.Scale(25_000, 4_000) / 9
	for range rounds {
		check.OK(t, p.Submit(give))
		check.OK(t, p.Submit(take))
	}
	p.Wait()
	for range rounds {
		check.OK(t, p.Submit(give))
		check.OK(t, p.Submit(take))
		p.Wait()
	}
	callPartner := func() {
		check.OK(t, p.Submit(take)) // Wait does not wait for this one: the worker may still be leaving the last
		meet <- struct{}{}
	}
	for range rounds {
		check.OK(t, p.Submit(callPartner))
		p.Wait()
	}
}

func TestAFreeWorkerIsNeverReportedAsFull(t *testing.T) {
	// A goroutine that has learned that all tasks are over fills the pool again at
	// once, while its workers may still be on their way to rest.
	for _, limit := range []int{1, 3, 8} {
		for _, queue := range []int{0, 1, 3, 32} {
			t.Run(fmt.Sprintf("limit=%d/queue=%d", limit, queue), func(t *testing.T) {
				check.Within(time.Minute, func() {
					p := weir.New(limit, weir.Queue(queue))
					defer p.Close()
					g := p.Group(context.Background())
					fill := func(try func(v *check.Valve) bool) {
						v := check.NewValve()
						for i := range limit + queue {
							if !try(v) {
								t.Fatalf("task %d of %d found no room", i, limit+queue)
							}
						}
						if try(v) {
							t.Fatalf("accepted more than %d tasks", limit+queue)
						}
						v.Open()
					}
					for range check.Scale(500, 100) {
						fill(func(v *check.Valve) bool { return p.TrySubmit(v.Hold) == nil })
						p.Wait()
						fill(func(v *check.Valve) bool { return g.TryGo(v.Member) })
						check.OK(t, g.Wait())
					}
				})
			})
		}
	}
	t.Run("a lone task again and again", func(t *testing.T) {
		p := weir.New(1, weir.Queue(0))
		defer p.Close()
		for range check.Scale(15_000, 5_000) {
			check.OK(t, p.TrySubmit(nothing))
			p.Wait()
		}
	})
}

// Wait does not wait for discarded tasks, though their places in the queue are still there
// while a pause keeps workers from coming to them.
func TestWaitOfAPausedPoolDoesNotWaitForDiscardedTasks(t *testing.T) {
	cases := []struct {
		name  string
		queue func(p *weir.Pool, ctx context.Context)
	}{
		{"by a Do that was cancelled", func(p *weir.Pool, ctx context.Context) {
			go func() { check.Error(t, p.Do(ctx, succeed), context.Canceled) }()
		}},
		{"by a group that was cancelled", func(p *weir.Pool, ctx context.Context) {
			g := p.Group(ctx)
			g.Go(succeed)
			go func() { check.Error(t, g.Wait(), context.Canceled) }()
		}},
	}
	for _, c := range cases {
		check.Bubble(t, c.name, func(t *testing.T) {
			p := weir.New(1)
			defer p.Close()
			p.Pause()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c.queue(p, ctx)
			synctest.Wait()
			waited := false
			go func() { p.Wait(); waited = true }()
			synctest.Wait()
			cancel()
			synctest.Wait()
			check.Equal(t, "queued", p.Stats().Queued, 0)
			check.Equal(t, "waited", waited, true)
		})
	}
}
