package peers_test

import (
	"context"
	"math"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// workerpoolCases show what no test of the library shows as a whole.
var workerpoolCases = cases{
	"WorkersNeverTimeOut": keepsWorkers(weir.IdleTimeout(math.MaxInt64)),
	"TheQueueIsCountedAtAnyTime": func(t *testing.T) {
		const workers, submitters, each = 5, 10, 20
		p := endless(t, workers)
		v := hold(t, p.Submit, workers) // these are not in the queue
		var submitting sync.WaitGroup
		for range submitters {
			submitting.Go(func() {
				for own := range each {
					check.OK(t, p.Submit(func() {}))
					if queued := p.Stats().Queued; queued <= own || queued > submitters*each {
						t.Errorf("%d tasks are queued, %d of them by one of %d submitters", queued, own+1, submitters)
					}
				}
			})
		}
		submitting.Wait()
		check.Equal(t, "tasks in the queue", p.Stats().Queued, submitters*each)
		v.Open()
		p.Close()
		check.Equal(t, "tasks in the queue at the end", p.Stats().Queued, 0)
	},
	"WaitingWhileThePoolIsClosed": func(t *testing.T) {
		p := endless(t, 1)
		v := hold(t, p.Submit, 1)
		ran := 0
		task := func(context.Context) error { ran++; return nil }
		var calls sync.WaitGroup
		calls.Go(func() { check.OK(t, p.Do(t.Context(), task)) })
		calls.Go(func() {
			g := p.Group(t.Context())
			g.Go(task)
			check.OK(t, g.Wait())
		})
		calls.Go(func() {
			_, err := weir.Async(t.Context(), p, func(ctx context.Context) (int, error) { return 0, task(ctx) }).Get(t.Context())
			check.OK(t, err)
		})
		synctest.Wait()
		calls.Go(p.Close)
		synctest.Wait()
		check.Equal(t, "tasks that ran before a worker was free", ran, 0)
		v.Open()
		calls.Wait()
		check.Equal(t, "tasks that ran", ran, 3)
	},
	"TheQueueIsGivenBack": func(t *testing.T) {
		const tasks = 50_000
		p := endless(t, 1)
		v := hold(t, p.Submit, 1)
		before := check.Heap().Bytes
		for range tasks {
			check.OK(t, p.Submit(func() {}))
		}
		if queue := check.Heap().Bytes - before; queue < 8*tasks {
			t.Errorf("a queue of %d tasks takes only %d bytes", tasks, queue)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		unrun, _ := p.Shutdown(ctx)
		check.Equal(t, "tasks handed back", len(unrun), tasks)
		v.Open()
		p.Close()
		if kept := check.Heap().Bytes - before; kept > 2*tasks {
			t.Errorf("%d bytes are kept for a queue of %d tasks", kept, tasks)
		}
		runtime.KeepAlive(p)
	},
	"PausesAtOnce": func(t *testing.T) {
		p := endless(t, 25)
		var pausing sync.WaitGroup
		for range 4 {
			pausing.Go(func() {
				for range 100 {
					p.Pause()
					p.Resume()
				}
			})
		}
		pausing.Wait()
		check.OK(t, p.Submit(func() {}))
		p.Wait()
	},
}
