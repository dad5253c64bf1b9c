package suite

import (
	"context"
	"runtime"
	"time"

	"github.com/jackc/puddle/v2"

	"github.com/64ed045f/weir/reuse"
)

// keeper measures objects that cost nothing to open, so that the cost is only that of their keeper.
func keeper(s Scale) []Experiment {
	const capacity = 8
	return each(pick(s, []int{1, 64}, []int{64}), func(goroutines int) Experiment {
		kept := func(m *Meter, use func(ctx context.Context, meanwhile func())) {
			ctx, cancel := context.WithCancel(context.Background()) // like the contexts of requests
			defer cancel()
			meanwhile := func() {}
			if goroutines > capacity {
				meanwhile = runtime.Gosched
			}
			m.throughput(func(n int) {
				shared(goroutines, n, func(lo, hi int) {
					for range hi - lo {
						use(ctx, meanwhile)
					}
				})
			})
		}
		return Experiment{
			ID:    id(s.Cores, "keeper", "goroutines", goroutines, "capacity", capacity),
			About: "an object is got and put back: an idle one by one goroutine, or one of 8 by 64, each of which yields while it has one",
			Contenders: []Contender{
				{Name: "weir.reuse.Keeper", Measure: func(m *Meter) {
					k := reuse.NewKeeper(reuse.KeeperConfig[int]{
						Capacity: capacity, Open: openNothing, Close: closeNothing,
						// puddle also notes the time at every Release, so that its users can implement idle
						// timeouts.
						IdleTimeout: time.Minute,
					})
					defer k.Close()
					kept(m, func(ctx context.Context, meanwhile func()) {
						lease, err := k.Get(ctx)
						must(err)
						_ = lease.Value()
						meanwhile()
						lease.Put()
					})
				}},
				{Name: "puddle", Measure: func(m *Meter) {
					p, err := puddle.NewPool(&puddle.Config[int]{MaxSize: capacity, Constructor: openNothing, Destructor: closeNothing})
					must(err)
					defer p.Close()
					kept(m, func(ctx context.Context, meanwhile func()) {
						resource, err := p.Acquire(ctx)
						must(err)
						_ = resource.Value()
						meanwhile()
						resource.Release()
					})
				}},
			},
		}
	})
}

func openNothing(context.Context) (int, error) { return 1, nil }

func closeNothing(int) {}
