package streams_test

import (
	"context"
	"sync"
	"time"

	"github.com/64ed045f/weir"
)

func (p *poolPlan) open() *weir.Pool {
	opts := []weir.Option{weir.Queue(p.queue), weir.OnPanic(func(*weir.Panic) {})}
	if p.refusing {
		opts = append(opts, weir.MaxWaiting(0))
	}
	return weir.New(p.limit, opts...)
}

// trouble does to the pool what is planned. It returns a function that waits for the end of that, and
// closes the pool.
func (r *run) trouble() (end func()) {
	if r.pool == nil {
		return func() {}
	}
	var events sync.WaitGroup
	events.Go(func() {
		done, cancel := context.WithCancel(context.Background())
		cancel()
		for _, e := range r.plan.pool.events {
			time.Sleep(e.after)
			span := time.Duration(e.n) * time.Millisecond
			switch e.what {
			case occupy:
				_ = r.pool.TrySubmit(func() { // may be refused: then there was trouble enough
					r.inPool.Enter()
					defer r.inPool.Leave()
					time.Sleep(span)
				})
			case resize:
				r.pool.Resize(e.n)
			case pause:
				r.pool.Pause()
				events.Go(func() {
					time.Sleep(span)
					r.pool.Resume()
				})
			case closing:
				events.Go(r.pool.Close)
			case shutdown:
				_, _ = r.pool.Shutdown(done) // what is handed back is no call: those belong to groups
			}
		}
	})
	return func() {
		events.Wait()
		r.pool.Close()
	}
}
