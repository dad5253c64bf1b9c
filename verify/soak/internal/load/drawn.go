package load

import (
	"time"

	"github.com/64ed045f/weir/verify/programs"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// drawn runs programs that are drawn.
func drawn(r *Round) {
	judge := programs.Judge{Patience: 30 * time.Second}
	for range 3 {
		p := programs.Draw(r.Rand.Uint64N(1 << 40))
		v := judge.Times(p, 1)
		if v.Wrong != nil {
			r.Breach("a program fails: %s", judge.Tell(p, v, 0))
			return
		}
		r.Add(books.Tally{Accepted: v.Started, Finished: v.Started})
		r.Op()
	}
}
