package programs

import (
	"context"
	"slices"
	"sync"
	"time"
)

// plain is the reference: every task is a goroutine of its own.
type plain struct {
	*run
	loose sync.WaitGroup
}

func onGoroutines(r *run) library { return &plain{run: r} }

func (p *plain) gather(ctx context.Context, b *batch) error {
	var tasks sync.WaitGroup
	for i := range b.indices {
		tasks.Go(func() {
			defer p.caught(nil)
			_, _ = b.live(ctx, i, nil)
		})
	}
	tasks.Wait()
	for range b.tasks {
		if b.delivers() && !b.item() {
			break
		}
	}
	b.left = true // the reference passes no errors on
	return nil
}

func (p *plain) do(ctx context.Context, _ int, task func(context.Context) error) error {
	return task(ctx)
}

func (p *plain) hedge(ctx context.Context, _, _ int, task func(context.Context) (int, error)) error {
	_, err := task(ctx)
	return err
}

func (p *plain) rest(_ context.Context, wait func()) { wait() }

func (p *plain) divide(_, n int, body func(lo, hi int)) { body(0, n) }

func (p *plain) sort(_ int, items []int) { slices.Sort(items) }

func (p *plain) resize(int, int) {}

func (p *plain) pause(int, time.Duration) {}

func (p *plain) shut(int, time.Duration) {}

func (p *plain) wait(int) {}

func (p *plain) lease(_ context.Context, task func()) error {
	task()
	return nil
}

func (p *plain) call(ctx context.Context, task func()) error {
	_, err := p.async(ctx, callsPool, func(context.Context) (int, error) { task(); return 0, nil }).Get(ctx)
	return err
}

func (p *plain) submit(_ context.Context, _ int, _ bool, task func()) error {
	p.loose.Go(func() {
		defer p.caught(nil)
		task()
	})
	return nil
}

func (p *plain) submitKey(ctx context.Context, pool, _ int, try bool, task func()) error {
	return p.submit(ctx, pool, try, task)
}

func (p *plain) once(ctx context.Context, pool, _ int, task func(context.Context) (int, error)) (int, error) {
	return p.async(ctx, pool, task).Get(ctx)
}

func (p *plain) later(_ time.Duration, runs, pool int, task func(context.Context)) {
	for range max(runs, 1) {
		_ = p.submit(context.Background(), pool, false, func() { task(context.Background()) })
	}
}

func (p *plain) finish() { p.loose.Wait() }

// promise is a future on a goroutine.
type promise struct {
	done  chan struct{}
	value int
	err   error
}

func (p *plain) async(ctx context.Context, _ int, task func(context.Context) (int, error)) future {
	f := &promise{done: make(chan struct{}), err: errThrown}
	p.loose.Go(func() {
		defer close(f.done)
		defer p.caught(nil)
		f.value, f.err = task(ctx)
	})
	return f
}

// Get waits as that of weir does.
func (f *promise) Get(ctx context.Context) (int, error) {
	select {
	case <-f.done:
		return f.value, f.err
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}
