package run

import (
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/verify/soak/internal/books"
	"github.com/64ed045f/weir/verify/soak/internal/load"
)

// watchdog reports a load that completes nothing any more.
//
// It counts its own ticks rather than the time: while the whole process or machine stands
// still there are none.
type watchdog struct {
	tick  time.Duration
	most  int // ticks without progress
	loads []*watched
}

type watched struct {
	over  atomic.Bool
	book  *books.Book
	ops   uint64
	still int
}

// ticks is how many the patience is divided into.
const ticks = 60

func newWatchdog(r *Runner, loads []load.Load) *watchdog {
	d := &watchdog{tick: r.Patience / ticks, most: ticks}
	for _, l := range loads {
		d.loads = append(d.loads, &watched{book: r.books[l.Name]})
	}
	return d
}

// watch looks until stop is closed, or until a load hangs.
func (d *watchdog) watch(stop <-chan struct{}) {
	ticker := time.NewTicker(d.tick)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			if d.look() {
				return
			}
		}
	}
}

// leave takes a load off that has nothing more to do.
func (d *watchdog) leave(l load.Load) {
	for _, w := range d.loads {
		if w.book.Load == l.Name {
			w.over.Store(true)
		}
	}
}

// look is one tick. It reports whether a load hangs.
func (d *watchdog) look() (hangs bool) {
	for _, w := range d.loads {
		ops := w.book.Ops()
		if ops != w.ops || w.over.Load() {
			w.ops, w.still = ops, 0
			continue
		}
		if w.still++; w.still >= d.most {
			w.book.Breach("it hangs: nothing was completed for %v", time.Duration(d.most)*d.tick)
			hangs = true
		}
	}
	return hangs
}
