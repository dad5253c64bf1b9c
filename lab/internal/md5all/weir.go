package md5all

import (
	"context"
	"crypto/md5"
	"sync"

	"github.com/64ed045f/weir"
)

func weirPrograms() []Program {
	return []Program{{Name: "weir", Run: withWeir}}
}

func withWeir(ctx context.Context, root string, digesters int) (map[string][md5.Size]byte, error) {
	var mu sync.Mutex
	sums := make(map[string][md5.Size]byte)
	g := weir.NewGroup(ctx, digesters)
	err := walk(g.Context(), root, func(path string) {
		g.Go(func(context.Context) error {
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
	if err != nil {
		g.Cancel(err)
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return sums, nil
}
