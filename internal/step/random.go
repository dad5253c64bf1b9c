package step

import "math/rand/v2"

// random lets the goroutine of the highest priority go on. Priorities are random, and at a few
// random moments that of the running one becomes the lowest. If depth-1 such changes
// are needed for a mistake to show, n goroutines and k steps find it with a probability
// of at least 1/(n·k^(depth-1)).
type random struct {
	rand    *rand.Rand
	changes []int // the moments
	lowest  float64
}

// newRandom seeds an execution of about the given number of moments.
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
