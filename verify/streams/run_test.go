package streams_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

// run is one execution of a plan.
type run struct {
	plan   *plan
	source *source
	pool   *weir.Pool
	begin  time.Time
	ctx    context.Context
	cancel context.CancelCauseFunc
	over   chan struct{}  // closed when no goroutine reads the source any more
	others sync.WaitGroup // of the bubble

	stages []stageRun
	inPool check.Gauge // calls, and other tasks

	got     []handed
	end     time.Duration // of the range statement
	outcome any           // what it panicked with

	mu     sync.Mutex
	wrong  error // the first thing that must not be
	thrown []any // what calls and the source have panicked with
	pulled atomic.Int64
	active atomic.Int64 // how many run the source
}

type stageRun struct {
	inside check.Gauge
	calls  []atomic.Int64 // by item
}

// handed is a result that the consumer got, and when.
type handed struct {
	value []int
	err   error
	at    time.Duration
}

func (h handed) String() string {
	if h.err != nil {
		return h.err.Error()
	}
	return fmt.Sprint(h.value)
}

var (
	errEnded = errors.New("the context has ended")
	errBody  = errors.New("the body of the range statement has thrown this")
)

func newRun(p *plan) *run {
	r := &run{plan: p, source: &p.source, begin: time.Now(), over: make(chan struct{}), stages: make([]stageRun, len(p.stages))}
	for i := range r.stages {
		r.stages[i].calls = make([]atomic.Int64, len(p.source.delays))
	}
	if p.pool != nil {
		r.pool = p.pool.open()
	}
	r.ctx, r.cancel = context.WithCancelCause(context.Background())
	switch {
	case p.cancel < 0:
		r.cancel(errEnded)
	case p.cancel > 0:
		time.AfterFunc(p.cancel, func() { r.cancel(errEnded) })
	}
	return r
}

func (r *run) now() time.Duration { return time.Since(r.begin) }

// finish runs the stream, or the loop, to its end, and waits for all others.
func (r *run) finish(do func()) {
	end := r.trouble()
	r.outcome = check.Caught(do)
	r.end = r.now()
	r.atRest()
	close(r.over)
	r.cancel(nil)
	end()
	r.others.Wait()
}

// mustNot notes what must not be.
func (r *run) mustNot(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wrong == nil {
		r.wrong = fmt.Errorf("at %v: "+format, append([]any{r.now()}, args...)...)
	}
}

// throw panics, and notes it.
func (r *run) throw(value string) {
	r.mu.Lock()
	r.thrown = append(r.thrown, value)
	r.mu.Unlock()
	panic(value)
}

// items is the source as a sequence with errors.
func (r *run) items(yield func([]int, error) bool) {
	r.active.Add(1)
	defer r.active.Add(-1)
	s := r.source
	for i, delay := range s.delays {
		time.Sleep(delay)
		r.pulled.Add(1)
		if s.fails[i] {
			if !yield(nil, fmt.Errorf("source, item %d", i)) {
				return
			}
		} else if !yield([]int{i}, nil) {
			return
		}
	}
	switch s.ends {
	case panics:
		r.throw("source")
	case exits:
		runtime.Goexit()
	case well, fails:
	}
}

func (r *run) sequence(yield func([]int) bool) {
	for item, err := range r.items {
		if err != nil {
			panic(err) // only a source with errors has any
		}
		if !yield(item) {
			return
		}
	}
}

// channel returns a channel on which a goroutine sends the items, until the run is over.
func (r *run) channel() chan []int {
	ch := make(chan []int)
	r.others.Go(func() {
		defer close(ch)
		for i, delay := range r.source.delays {
			time.Sleep(delay)
			select {
			case ch <- []int{i}:
			case <-r.over:
				return
			}
		}
	})
	return ch
}

func (r *run) slice() [][]int {
	all := make([][]int, len(r.source.delays))
	for i := range all {
		all[i] = []int{i}
	}
	return all
}

// work is the function of a stage.
func (r *run) work(number int) func(ctx context.Context, items []int) ([]int, error) {
	s, sr := &r.plan.stages[number], &r.stages[number]
	return func(ctx context.Context, items []int) ([]int, error) {
		sr.inside.Enter()
		defer sr.inside.Leave()
		if s.pooled {
			r.inPool.Enter()
			defer r.inPool.Leave()
		}
		for _, item := range items {
			sr.calls[item].Add(1)
		}
		c := s.calls[items[0]]
		if !c.last(ctx) {
			return nil, context.Cause(ctx)
		}
		if c.inner > 0 && s.pooled {
			r.inPool.Leave()
			err := r.inner(ctx, c.inner)
			r.inPool.Enter()
			if err != nil {
				return nil, err
			}
		}
		switch c.ends {
		case fails:
			return items, callError{number, items[0]}
		case panics:
			r.throw(fmt.Sprintf("stage %d, item %d", number, items[0]))
		case exits:
			runtime.Goexit()
		case well:
		}
		return items, nil
	}
}

// callError is what calls fail with.
type callError struct{ stage, item int }

func (e callError) Error() string { return fmt.Sprintf("stage %d, item %d", e.stage, e.item) }

// last takes the call's time, and reports whether it was not given up.
func (c *call) last(ctx context.Context) bool {
	if !c.heeds {
		time.Sleep(c.lasts)
		return true
	}
	return check.Sleep(ctx, c.lasts)
}

// inner runs a loop inside a call, and checks it.
func (r *run) inner(ctx context.Context, n int) error {
	got, err := par.Map(ctx, make([]struct{}, n), func(context.Context, struct{}) (int, error) {
		r.inPool.Enter()
		defer r.inPool.Leave()
		time.Sleep(time.Millisecond)
		return 1, nil
	}, par.On(r.pool), par.Limit(2))
	if err == nil && !slices.Equal(got, slices.Repeat([]int{1}, n)) {
		r.mustNot("an inner loop of %d items returned %v and no error", n, got)
	}
	return err
}
