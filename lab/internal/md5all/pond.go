package md5all

import (
	"cmp"
	"context"
	"crypto/md5"
	"sync"

	"github.com/alitto/pond/v2"
)

func pondPrograms() []Program {
	return []Program{{Name: "pond", Run: withPond}}
}

func withPond(ctx context.Context, root string, digesters int) (map[string][md5.Size]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	sums := make(map[string][md5.Size]byte)
	p := pond.NewPool(digesters)
	defer p.StopAndWait()
	group := p.NewGroupContext(ctx)
	err := walk(group.Context(), root, func(path string) {
		group.SubmitErr(func() error {
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
		cancel(err)
	}
	if err := cmp.Or(group.Wait(), err); err != nil {
		return nil, err
	}
	return sums, nil
}
