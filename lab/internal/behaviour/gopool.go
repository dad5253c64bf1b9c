package behaviour

import (
	"context"
	"fmt"
	"time"

	"github.com/bytedance/gopkg/util/gopool"
)

func newGopool(limit int) gopool.Pool { return gopool.NewPool("lab", int32(limit), gopool.NewConfig()) }

// countedGopool is a pool whose tasks are counted.
func countedGopool(p gopool.Pool) pool {
	counted := counted(always(p.Go))
	counted.resize = func(limit int) { p.SetCap(int32(limit)) }
	return counted
}

// catchingGopool returns a pool that passes panics to the channel.
func catchingGopool(limit int) (gopool.Pool, <-chan any) {
	p, panicked := newGopool(limit), make(chan any, 10)
	p.SetPanicHandler(func(_ context.Context, value any) { panicked <- value })
	return p, panicked
}

// gopoolPrograms: submitting never waits for room. A pool has no errors, no wait and no end. It passes a
// context only to the panic handler.
func gopoolPrograms() programs {
	var open opener = func(limit int) pool { return countedGopool(newGopool(limit)) }
	var bare opener = func(limit int) pool { return pool{submit: always(newGopool(limit).Go)} }
	return open.programs("01", "02", "09", "reuse", "resize").and(bare.programs("23", "24")).and(programs{
		"03": func(env Env) error {
			p, panicked := catchingGopool(2)
			return nilTask(func(pool) error {
				p.Go(nil)
				select {
				case value := <-panicked:
					return fmt.Errorf("the panic handler gets: %v", value)
				case <-time.After(time.Second):
					return nil
				}
			})(env, countedGopool(p))
		},
		"06": open.with(2, exits(false, "Wait of a WaitGroup whose Done is deferred in each task")),
		"07": func(Env) error {
			p, panicked := catchingGopool(2)
			return handled(countedGopool(p), panicked)
		},
		"19": inBubbles(open),
		"20": noting("both run one task at a time", lowLimits(open)),
		"21": goroutines(open, "github.com/bytedance/gopkg/"),
	})
}
