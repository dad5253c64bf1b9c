package lane

import "unsafe"

// RingOf returns for how many functions the group has a ring now, 0 for none.
func RingOf(g *Group) int {
	if l := g.lane.Load(); l != nil {
		if r := l.ring.Load(); r != nil {
			return len(r.slots)
		}
	}
	return 0
}

// What the tests need to know of sizes.
const (
	Before    = before
	FirstRing = firstRing
	KeptRing  = keptRing
	CacheLine = cacheLine

	TailOffset = unsafe.Offsetof(ring{}.tail)
	HeadOffset = unsafe.Offsetof(ring{}.head)
	RingHeader = unsafe.Sizeof(ring{})
)

// Ring is a ring of its own.
type Ring struct{ r *ring }

// NewRing returns an empty one.
func NewRing(size int) Ring { return Ring{newRing(new(lane), size)} }

// Push reports whether f was put into the ring, and if not, whether that is so because
// no goroutine searched.
func (r Ring) Push(f func() error) (in, unsearched bool) {
	v := r.r.push(f)
	return v == pushed, v == yours
}

// The ring's own methods.
func (r Ring) Pop() func() error { return r.r.pop(false) }
func (r Ring) Search() bool      { return r.r.search() }
func (r Ring) GiveUp() bool      { return r.r.giveUp() }
