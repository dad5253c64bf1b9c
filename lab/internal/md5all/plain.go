package md5all

import (
	"context"
	"crypto/md5"
	"sync"
)

func plainPrograms() []Program {
	return []Program{{Name: "go", Run: withPlain}}
}

// withPlain has a goroutine for each digester, which take paths from a channel.
func withPlain(ctx context.Context, root string, digesters int) (map[string][md5.Size]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	paths := make(chan string)
	var tasks sync.WaitGroup
	var mu sync.Mutex
	sums := make(map[string][md5.Size]byte)
	for range digesters {
		tasks.Go(func() {
			for path := range paths {
				sum, err := digest(path)
				if err != nil {
					cancel(err)
					return
				}
				mu.Lock()
				sums[path] = sum
				mu.Unlock()
			}
		})
	}
	err := walk(ctx, root, func(path string) {
		select {
		case paths <- path:
		case <-ctx.Done():
		}
	})
	if err != nil {
		cancel(err)
	}
	close(paths)
	tasks.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return sums, nil
}
