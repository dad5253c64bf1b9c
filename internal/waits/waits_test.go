package waits_test

import (
	"math/rand/v2"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/internal/waits"
)

func TestMain(m *testing.M) { check.Main(m, nil, nil) }

// naive counts what waits for what, and looks at all of it.
type naive [][]int

func (g naive) reaches(from, to int) bool {
	seen := make([]bool, len(g))
	for next := []int{from}; len(next) > 0; {
		last := len(next) - 1
		at := next[last]
		next = next[:last]
		if at == to {
			return true
		}
		for other, times := range g[at] {
			if times > 0 && !seen[other] {
				seen[other] = true
				next = append(next, other)
			}
		}
	}
	return false
}

func TestWhatWouldWaitForItselfIsFound(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		var order waits.Order
		most := 2 + r.IntN(30)
		var nodes []*waits.Node
		edges := naive{}
		for range most {
			edges = append(edges, make([]int, most))
		}
		for range 20 * most {
			if len(nodes) < 2 || len(nodes) < most && r.IntN(8) == 0 {
				n := new(waits.Node)
				if len(nodes) > 0 && r.IntN(2) == 0 {
					by := r.IntN(len(nodes))
					order.Add(n, nodes[by])
					edges[by][len(nodes)]++
				} else {
					order.Add(n, nil)
				}
				nodes = append(nodes, n)
				continue
			}
			by, n := r.IntN(len(nodes)), r.IntN(len(nodes))
			if edges[by][n] > 0 && r.IntN(2) == 0 {
				nodes[by].Leave(nodes[n])
				edges[by][n]--
				continue
			}
			want := !edges.reaches(n, by)
			if got := order.Wait(nodes[by], nodes[n]); got != want {
				t.Fatalf("seed %d: %d may wait for %d: %v, want %v", seed, by, n, got, want)
			}
			if want {
				edges[by][n]++
			}
		}
	}
}

// However many wait for one that waits for as many others, and however long the lines in which each waits for the next two.
func TestAWaitCostsTheSameHoweverManyThereAre(t *testing.T) {
	const nodes = 32 * 100
	for name, build := range map[string]func(n int){
		"many for one that waits for many": func(n int) {
			var order waits.Order
			var one waits.Node
			order.Add(&one, nil)
			for range n {
				order.Add(new(waits.Node), &one)
			}
			for range n {
				caller := new(waits.Node)
				order.Add(caller, nil)
				order.Wait(caller, &one)
			}
		},
		"each for the next two, of which the nearer one was there first": func(n int) {
			var order waits.Order
			all := make([]waits.Node, n)
			order.Add(&all[0], nil)
			for i := range n - 1 {
				order.Add(&all[i+1], &all[i])
			}
			for i := range n - 2 {
				order.Wait(&all[i], &all[i+2])
			}
		},
		"each for the next two, of which the other one was there first": func(n int) {
			var order waits.Order
			all := make([]waits.Node, n)
			order.Add(&all[0], nil)
			for i := 2; i < n; i += 2 {
				order.Add(&all[i], &all[i-2])
				order.Add(&all[i-1], &all[i-2])
			}
			for i := n - 3; i > 0; i -= 2 { // from the innermost out
				order.Wait(&all[i], &all[i+1])
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			check.Flat(t, nodes/32, func(n int) (f, end func()) {
				return func() {
					for range nodes / n {
						build(n)
					}
				}, func() {}
			})
		})
	}
}

func BenchmarkWait(b *testing.B) {
	var order waits.Order
	var by, n waits.Node
	order.Add(&n, nil)
	order.Add(&by, nil)
	for b.Loop() {
		order.Wait(&by, &n)
		by.Leave(&n)
	}
}
