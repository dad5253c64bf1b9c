package load

import (
	"math/rand/v2"

	"github.com/64ed045f/weir/reuse"
)

// recycle takes objects and buffers from pools, marks them as its own while it has them, and
// puts them back.
func recycle(r *Round) {
	const users, each = 8, 400
	objects := reuse.Pool[*owned]{New: func() *owned { return new(owned) }}
	values := owners{r: r}
	var buffers reuse.Buffers
	var all team
	all.each(r, users, func(rnd *rand.Rand) {
		for range each {
			work := anyToil(rnd)
			switch rnd.IntN(4) {
			case 0:
				v := objects.Get()
				values.use(v, work.do)
				objects.Put(v)
			case 1:
				objects.Use(func(v *owned) { values.use(v, work.do) })
			case 2:
				aSlice(r, rnd, &buffers, work)
			case 3:
				aBuffer(r, rnd, &buffers, work)
			}
			r.Op()
		}
	})
	all.Wait()
}

// aSlice fills a slice, and looks whether it stays as it is.
func aSlice(r *Round, rnd *rand.Rand, buffers *reuse.Buffers, work toil) {
	n, mark := rnd.IntN(1<<rnd.IntN(14)), byte(rnd.Uint32())
	s := buffers.Get(n)
	if !r.Check(len(s) == n && cap(s) >= n, "Buffers.Get(%d) has returned a slice of length %d and capacity %d", n, len(s), cap(s)) {
		return
	}
	s = s[:cap(s)]
	for i := range s {
		s[i] = mark
	}
	work.do()
	for i := range s {
		if s[i] != mark {
			r.Breach("a slice of Buffers was written to by another: byte %d of %d is %#x, not %#x", i, len(s), s[i], mark)
			return
		}
	}
	buffers.Put(s)
}

// aBuffer writes to a buffer, and looks whether it stays as it is.
func aBuffer(r *Round, rnd *rand.Rand, buffers *reuse.Buffers, work toil) {
	b := buffers.GetBuffer()
	r.Check(b.Len() == 0, "Buffers.GetBuffer has returned a buffer with %d bytes in it", b.Len())
	n, mark := rnd.IntN(1<<rnd.IntN(14)), byte(rnd.Uint32())
	for range n {
		b.WriteByte(mark)
	}
	work.do()
	for i, got := range b.Bytes() {
		if got != mark {
			r.Breach("a buffer was written to by another: byte %d of %d is %#x, not %#x", i, n, got, mark)
			return
		}
	}
	r.Check(b.Len() == n, "a buffer that was written %d bytes has %d", n, b.Len())
	buffers.PutBuffer(b)
}
