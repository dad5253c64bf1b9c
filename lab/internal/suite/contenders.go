package suite

import (
	"context"
	"math"
	"runtime"

	"github.com/64ed045f/weir/lab/internal/peer"
)

// mainForms are the peers that stand for their library in quick scale: one form of each library, and all
// forms of Weir.
var mainForms = map[string]bool{
	"weir.Pool": true, "weir.FuncPool": true, "weir.Group": true, "go": true, "inplace": true,
	"errgroup": true, "conc": true, "ants": true, "pond": true, "workerpool": true, "gopool": true,
}

// contenders returns a contender for each peer that offers what is measured.
func contenders(s Scale, offers func(p peer.Peer) bool, measure func(m *Meter, p peer.Peer)) []Contender {
	var list []Contender
	for _, p := range peer.All() {
		if offers(p) && (s.Full || mainForms[p.Name]) {
			list = append(list, Contender{Name: p.Name, Measure: func(m *Meter) { measure(m, p) }})
		}
	}
	return list
}

// allForms is like contenders in full scale, for what only a few libraries offer.
func allForms(offers func(p peer.Peer) bool, measure func(m *Meter, p peer.Peer)) []Contender {
	return contenders(Scale{Full: true}, offers, measure)
}

// concurrent reports whether the peer runs tasks at the same time.
func concurrent(p peer.Peer) bool { return p.Open != nil && p.Name != peer.InPlace }

// submit submits n tasks from several producers, and waits until the tasks have ended.
func submit(r interface{ Submit(lo, hi int) }, producers, n int) {
	if producers == 1 {
		r.Submit(0, n)
		return
	}
	shared(producers, n, r.Submit)
}

// producers returns the number that a parameter means.
func producers(text string) int {
	if text == allCores {
		return runtime.GOMAXPROCS(0)
	}
	return 1
}

const allCores = "all"

// nothing is the empty task. It is never inlined, as no task is.
//
//go:noinline
func nothing() {}

// roots takes n square roots, each of the result of the one before. So the processor cannot overlap them, and
// the compiler cannot leave them out.
//
//go:noinline
func roots(n int) float64 {
	x := 13.0
	for range n {
		x = math.Sqrt(x + 13)
	}
	return x
}

// squareRoot is the body of a loop that takes one root for each item.
var squareRoot = peer.Body{
	Item: func(item *float64) { *item = math.Sqrt(*item) },
	Try: func(_ context.Context, item *float64) error {
		*item = math.Sqrt(*item)
		return nil
	},
}

// someRoots is the body of a loop whose items say how many roots to take.
var someRoots = peer.Body{
	Item: func(item *float64) { roots(int(*item)) },
	Try: func(_ context.Context, item *float64) error {
		roots(int(*item))
		return nil
	},
}
