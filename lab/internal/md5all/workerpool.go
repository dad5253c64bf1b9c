package md5all

import (
	"context"
	"crypto/md5"
	"sync"

	"github.com/gammazero/workerpool"
)

func workerpoolPrograms() []Program {
	return []Program{{Name: "workerpool", Run: withWorkerpool}}
}

func withWorkerpool(ctx context.Context, root string, digesters int) (map[string][md5.Size]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	sums := make(map[string][md5.Size]byte)
	p := workerpool.New(digesters)
	err := walk(ctx, root, func(path string) {
		p.Submit(func() {
			if ctx.Err() != nil {
				return
			}
			sum, err := digest(path)
			if err != nil {
				cancel(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			sums[path] = sum
		})
	})
	if err != nil {
		cancel(err)
	}
	p.StopWait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return sums, nil
}
