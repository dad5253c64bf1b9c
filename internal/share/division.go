package share

import "sync/atomic"

// Division holds the items of one loop, and the places of its workers. Init must be called first.
//
// No item that could begin is left without a worker. A worker that finds nothing to claim gives up its place
// and raises Hungry, and only then checks whether any item is left. A worker that puts items into a share
// does so first, and then calls for another worker if Hungry is raised. So either the leaving worker finds
// the items, or the other worker finds its place free.
type Division struct {
	// Signal is read by workers between two items; 0 if there is nothing to notice.
	Signal atomic.Uint32

	limit  int64
	shares []share
	places atomic.Int64  // taken places: those of workers that have come or will come
	joined atomic.Uint64 // the workers that have joined and not ended, plus newWorker for each that has joined
}

// newWorker is what a worker that joins adds to the upper half of Division.joined, so that End sees whether one has joined meanwhile.
const newWorker = 1 << 32

// The bits of Signal.
const (
	Halt   = 1 << iota // begin no more items
	Hungry             // a worker has found nothing left to claim
)

// Init makes a division without items, with the given number of shares, for at most limit workers at once.
func (d *Division) Init(limit, shares int) {
	d.limit = int64(limit)
	d.shares = make([]share, shares)
}

// Put adds items. It must be called before there are workers.
func (d *Division) Put(r Run) { d.shares[0].put(r) }

// Reserve takes a place for a worker, if a place is free.
func (d *Division) Reserve() bool {
	for {
		n := d.places.Load()
		if n >= d.limit {
			return false
		}
		if d.places.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Cede gives back a place whose worker does not come.
func (d *Division) Cede() { d.places.Add(-1) }

// Places returns how many places are taken.
func (d *Division) Places() int { return int(d.places.Load()) }

// Again starts over with the items that the workers have left. It must be called when no worker is left.
func (d *Division) Again() {
	d.places.Store(0)
	d.Signal.Store(0)
}

// Drained reports whether every item was claimed.
func (d *Division) Drained() bool {
	for i := range d.shares {
		if d.shares[i].count() > 0 {
			return false
		}
	}
	return true
}

// Worker is a participant in the loop, in a place that was reserved for it.
type Worker struct {
	division *Division
	share    *share
	gone     bool // it has given up its place
	fresh    bool // it has just joined, or has put items into its share
}

// Join returns a worker.
func (d *Division) Join() Worker {
	number := int(d.joined.Add(newWorker+1)/newWorker - 1)
	return Worker{division: d, share: &d.shares[number%len(d.shares)], fresh: true}
}

// Claim takes at most n items to begin, and returns how many are left in the worker's share. If the run is
// empty and more is true, the worker has first taken items from another share, or must look again: it must
// call Claim again. If more is false, there was nothing to claim, and the worker has given up its place.
func (w *Worker) Claim(n int) (claimed Run, left int, more bool) {
	claimed, left = w.share.claim(n)
	if !claimed.Empty() {
		return claimed, left, true
	}
	if w.refill() {
		w.fresh = true
		return Run{}, 0, true
	}
	return Run{}, 0, !w.rises()
}

// refill moves items of another share to the worker's share. It returns false if there are none.
func (w *Worker) refill() bool {
	shares := w.division.shares
	for {
		var largest *share
		most := 0
		for i := range shares {
			if n := shares[i].count(); n > most {
				largest, most = &shares[i], n
			}
		}
		if largest == nil {
			return false
		}
		if largest == w.share {
			return true
		}
		if r := largest.half(); !r.Empty() {
			w.share.put(r)
			return true
		}
	}
}

// rises gives up the place of the worker. It returns false if the worker has a place again, because there are
// items after all: items that were on their way from one share to another.
func (w *Worker) rises() bool {
	d := w.division
	d.places.Add(-1)
	d.Signal.Or(Hungry)
	w.gone = d.Drained() || !d.Reserve()
	return w.gone
}

// Alone reports whether to call another worker. left is how many items are left in the worker's own share.
// Alone returns true in two cases:
//
//   - The worker has just joined or has put items into its share, and items are left in any share. A worker
//     that joins calls the next one, and workers that have left did not see items that were put back.
//   - left is above 0, and either another worker has left since, or asks says that it is time to ask again.
func (w *Worker) Alone(left int, asks bool) bool {
	d := w.division
	if w.fresh {
		w.fresh = false
		return left > 0 || !d.Drained()
	}
	if left == 0 {
		return false
	}
	if d.Signal.Load()&Hungry != 0 {
		d.Signal.And(^uint32(Hungry))
		return true
	}
	return asks
}

// Put gives back items that the worker has claimed and not begun.
func (w *Worker) Put(r Run) {
	if !r.Empty() {
		w.share.put(r)
		w.fresh = true
	}
}

// Leave gives up the worker's place, if it has one.
func (w *Worker) Leave() {
	if !w.gone {
		w.gone = true
		w.division.places.Add(-1)
	}
}

// End is the last call of a worker, after Leave. It reports whether the workers with places that have not joined will find nothing to do: all items
// were claimed, and no worker has any of them. One that joins meanwhile may claim the last items before End finds none, and is seen by its number.
func (w *Worker) End() (idle bool) {
	d := w.division
	n := d.joined.Add(^uint64(0))
	return uint32(n) == 0 && d.Places() > 0 && (d.Signal.Load()&Halt != 0 || d.Drained() && d.joined.Load() == n)
}
