package md5all

import (
	"context"
	"crypto/md5"
	"sync"

	"github.com/sourcegraph/conc/pool"
	"github.com/sourcegraph/conc/stream"
)

func concPrograms() []Program {
	return []Program{
		{Name: "conc.pool", Run: withConcPool},
		{Name: "conc.stream", Run: withConcStream},
	}
}

// withConcPool walks in a task, since only tasks get the pool's context. It cannot
// make tasks of its own: Go must not be called any more once Wait is.
func withConcPool(ctx context.Context, root string, digesters int) (map[string][md5.Size]byte, error) {
	var mu sync.Mutex
	sums := make(map[string][md5.Size]byte)
	paths := make(chan string)
	p := pool.New().WithMaxGoroutines(digesters + 1).WithContext(ctx).WithCancelOnError().WithFirstError()
	p.Go(func(ctx context.Context) error {
		defer close(paths)
		return walk(ctx, root, func(path string) {
			select {
			case paths <- path:
			case <-ctx.Done():
			}
		})
	})
	for range digesters {
		p.Go(func(context.Context) error {
			for path := range paths {
				sum, err := digest(path)
				if err != nil {
					return err
				}
				mu.Lock()
				sums[path] = sum
				mu.Unlock()
			}
			return nil
		})
	}
	if err := p.Wait(); err != nil {
		return nil, err
	}
	return sums, nil
}

// withConcStream needs no lock: callbacks run one after the other.
func withConcStream(ctx context.Context, root string, digesters int) (map[string][md5.Size]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	sums := make(map[string][md5.Size]byte)
	s := stream.New().WithMaxGoroutines(digesters)
	err := walk(ctx, root, func(path string) {
		s.Go(func() stream.Callback {
			sum, err := digest(path)
			if err != nil {
				cancel(err)
			}
			return func() { sums[path] = sum }
		})
	})
	if err != nil {
		cancel(err)
	}
	s.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return sums, nil
}
