package md5all

import (
	"context"
	"crypto/md5"
	"sync"

	"github.com/panjf2000/ants/v2"
)

func antsPrograms() []Program {
	return []Program{{Name: "ants", Run: withAnts}}
}

func withAnts(ctx context.Context, root string, digesters int) (map[string][md5.Size]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var tasks sync.WaitGroup
	var mu sync.Mutex
	sums := make(map[string][md5.Size]byte)
	p, err := ants.NewPoolWithFuncGeneric(digesters, func(path string) {
		defer tasks.Done()
		sum, err := digest(path)
		if err != nil {
			cancel(err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		sums[path] = sum
	})
	if err != nil {
		return nil, err
	}
	defer p.Release()
	err = walk(ctx, root, func(path string) {
		tasks.Add(1)
		if err := p.Invoke(path); err != nil {
			tasks.Done()
			cancel(err)
		}
	})
	if err != nil {
		cancel(err)
	}
	tasks.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return sums, nil
}
