package step

import "math/rand/v2"

// random lets the goroutine with the highest priority go on. Priorities are random. At a few random moments
// the priority of the running goroutine becomes the lowest. If a mistake needs depth-1 such changes to show,
// an execution of n goroutines and k steps shows it with a probability of at least 1/(n·k^(depth-1)).
type random struct {
	rand    *rand.Rand
	changes []int // the moments of changes
	lowest  float64
}

// newRandom seeds a random execution of about moments moments.
func newRandom(seed uint64, depth, moments int) *random {
	r := &random{rand: rand.New(rand.NewPCG(seed, 0))}
	for range depth - 1 {
		r.changes = append(r.changes, 1+r.rand.IntN(max(1, moments)))
	}
	return r
}

func (*random) begin(*execution) {}

func (*random) resume(e *execution) { e.ask = 0 }

func (r *random) pick(e *execution, k kind, options []*goroutine) int {
	for _, g := range options {
		if g.priority == 0 {
			g.priority = r.rand.Float64()
		}
	}
	for _, moment := range r.changes {
		if moment == e.moment {
			r.lower(e.running)
		}
	}
	if k == yield {
		r.lower(e.running)
	}
	best := 0
	for i, g := range options {
		if g.priority > options[best].priority {
			best = i
		}
	}
	return best
}

func (r *random) lower(g *goroutine) {
	r.lowest--
	g.priority = r.lowest
}

func (r *random) choose(_ *execution, n int) int { return r.rand.IntN(n) }
