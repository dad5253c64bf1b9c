package md5all

import (
	"cmp"
	"context"
	"crypto/md5"
	"sync"

	"golang.org/x/sync/errgroup"
)

func errgroupPrograms() []Program {
	return []Program{{Name: "errgroup", Run: withErrgroup}}
}

func withErrgroup(ctx context.Context, root string, digesters int) (map[string][md5.Size]byte, error) {
	var mu sync.Mutex
	sums := make(map[string][md5.Size]byte)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(digesters)
	err := walk(ctx, root, func(path string) {
		g.Go(func() error {
			sum, err := digest(path)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			sums[path] = sum
			return nil
		})
	})
	if err := cmp.Or(g.Wait(), err); err != nil {
		return nil, err
	}
	return sums, nil
}
