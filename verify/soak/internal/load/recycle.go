package load

import (
	"bytes"
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
			work, n := anyToil(rnd), rnd.IntN(1<<rnd.IntN(14))
			mark := bytes.Repeat([]byte{byte(rnd.Uint32())}, n)
			whole := func(got []byte) {
				r.Check(bytes.Equal(got, mark), "what was taken from Buffers was written to by another")
			}
			switch rnd.IntN(4) {
			case 0:
				v := objects.Get()
				values.use(v, work.do)
				objects.Put(v)
			case 1:
				objects.Use(func(v *owned) { values.use(v, work.do) })
			case 2:
				s := buffers.Get(n)
				r.Check(len(s) == n, "Buffers.Get(%d) has returned a slice of length %d", n, len(s))
				copy(s, mark)
				work.do()
				whole(s)
				buffers.Put(s)
			case 3:
				b := buffers.GetBuffer()
				r.Check(b.Len() == 0, "Buffers.GetBuffer has returned a buffer with %d bytes in it", b.Len())
				b.Write(mark)
				work.do()
				whole(b.Bytes())
				buffers.PutBuffer(b)
			}
			r.Op()
		}
	})
	all.Wait()
}
