package share

import "sync/atomic"

// Division is the items of one loop, and the places of its workers. Init must be called first.
//
// No item that could begin is left without a worker: a worker that finds nothing to claim gives its place up, and raises Hungry; only then
// it looks whether anything is left. A worker that puts items down, or moves them, does so first, and then calls for another worker if Hungry
// is raised. So either the one that leaves finds the items, or the other finds its place free.
type Division struct {
	// Signal is what workers look at between two items: 0 if there is nothing to look for.
	Signal atomic.Uint32

	limit  int64
	shares []share
	seats  atomic.Int64 // workers that have joined, to give each a share
	places atomic.Int64 // taken: by workers that are to come, and by those that have
}

// What Signal holds.
const (
	Halt   = 1 << iota // begin no more items
	Hungry             // a worker has found nothing left to claim
)

// Init makes a division without items, with so many shares, for at most limit workers at once.
func (d *Division) Init(limit, shares int) {
	d.limit = int64(limit)
	d.shares = make([]share, shares)
}

// Put adds items, before there are workers.
func (d *Division) Put(r Run) { d.shares[0].put(r) }

// Reserve takes a place for a worker, if there is one.
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

// Again starts over, when no worker is left, with the items that the workers have left.
func (d *Division) Again() {
	d.places.Store(0)
	d.Signal.Store(0)
}

// Drained reports whether no item is left to be begun.
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
	gone     bool // it has given its place up
	fresh    bool // it has just come, or has put items into its share
}

// Join returns a worker.
func (d *Division) Join() Worker {
	seat := int(d.seats.Add(1)-1) % len(d.shares)
	return Worker{division: d, share: &d.shares[seat], fresh: true}
}

// Claim takes items to be begun, at most n, and returns how many are left in the worker's share. The run is empty if the worker has taken them
// from another share first, or must look again; without more it has given its place up, as there was nothing.
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

// refill makes items of another share the worker's. It reports false if there are none.
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

// rises gives the place of the worker up. It reports false if the worker has a place again, because there
// is something after all: what was on its way from one share to another.
func (w *Worker) rises() bool {
	d := w.division
	d.places.Add(-1)
	d.Signal.Or(Hungry)
	w.gone = d.Drained() || !d.Reserve()
	return w.gone
}

// Alone reports whether another worker should be called, as there are items to claim, of which left are in the worker's own share: because it
// has just come, and each calls the next; because it has put items where those that have gone did not see them; because one has
// gone since; or because asks says that it is time to ask again.
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

// Put gives back what the worker has claimed, and not begun.
func (w *Worker) Put(r Run) {
	if !r.Empty() {
		w.share.put(r)
		w.fresh = true
	}
}

// Leave gives the worker's place up, if it has one.
func (w *Worker) Leave() {
	if !w.gone {
		w.gone = true
		w.division.places.Add(-1)
	}
}
