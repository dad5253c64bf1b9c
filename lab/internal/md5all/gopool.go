package md5all

import (
	"context"
	"crypto/md5"
	"sync"

	"github.com/bytedance/gopkg/util/gopool"
)

func gopoolPrograms() []Program {
	return []Program{{Name: "gopool", Run: withGopool}}
}

func withGopool(ctx context.Context, root string, digesters int) (map[string][md5.Size]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var tasks sync.WaitGroup
	var mu sync.Mutex
	sums := make(map[string][md5.Size]byte)
	p := gopool.NewPool("md5all", int32(digesters), gopool.NewConfig())
	err := walk(ctx, root, func(path string) {
		tasks.Add(1)
		p.Go(func() {
			defer tasks.Done()
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
	tasks.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return sums, nil
}
