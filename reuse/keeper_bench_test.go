package reuse_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

// BenchmarkKeeper leases an idle object and puts it back: by one user, by many, and by many that
// keep it until other users have come for it. Timed is with expiry and checks.
func BenchmarkKeeper(b *testing.B) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	plain := reuse.KeeperConfig[int]{Capacity: 8, Open: func(context.Context) (int, error) { return 1, nil }}
	timed := plain
	timed.IdleTimeout, timed.Lifetime, timed.CheckAfter = time.Hour, time.Hour, time.Hour
	timed.Check = func(context.Context, int) error { return nil }
	for name, c := range map[string]reuse.KeeperConfig[int]{"plain": plain, "timed": timed} {
		for _, users := range []int{1, 64} {
			for _, held := range []bool{false, true} {
				if held && users == 1 {
					continue
				}
				b.Run(fmt.Sprintf("config=%s/users=%d/held=%v", name, users, held), func(b *testing.B) {
					k := reuse.NewKeeper(c)
					b.ReportAllocs()
					var all sync.WaitGroup
					for i := range users {
						all.Go(func() {
							for range (b.N + i) / users {
								l, err := k.Get(ctx)
								check.OK(b, err)
								if held {
									runtime.Gosched()
								}
								l.Put()
							}
						})
					}
					all.Wait()
					k.Close()
				})
			}
		}
	}
}
