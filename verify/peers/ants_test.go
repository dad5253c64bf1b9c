package peers_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// antsPeer is answered by Pool and FuncPool. Most of its tests exist three times, for its
// pool, its pool with a function, and its pool with a typed function: one case stands for them.
var antsPeer = peers.Peer{
	Name:   "ants",
	Module: "github.com/panjf2000/ants/v2",
	Cases:  antsAgrees.and(antsMadeCases, antsExpiryCases, antsEndCases, antsMultiPoolCases),
	Apart: []peers.Apart{
		{
			Theirs: ants("TestNoPool"),
			Reason: "it starts plain goroutines, and no pool, to see what memory they take",
		},
	},
}

// ants returns the names of tests. A star in a name stands for three of them: nothing, WithFunc, and WithFuncGeneric.
func ants(tests ...string) (all names) {
	for _, test := range tests {
		kinds := []string{""}
		if strings.Contains(test, "*") {
			kinds = []string{"", "WithFunc", "WithFuncGeneric"}
		}
		for _, kind := range kinds {
			all = append(all, "ants."+strings.Replace(test, "*", kind, 1))
		}
	}
	return all
}

// antsPool is what a Pool and a FuncPool have in common. The tasks of both are functions
// here: for the FuncPool they are the arguments.
type antsPool interface {
	give(task func()) error
	tryGive(task func()) error
	Close()
	Resize(limit int)
	Shutdown(ctx context.Context) (unrun []func(), err error)
	Stats() weir.Stats
	Wait()
}

type antsSubmits struct{ *weir.Pool }

func (p antsSubmits) give(task func()) error    { return p.Submit(task) }
func (p antsSubmits) tryGive(task func()) error { return p.TrySubmit(task) }

type antsInvokes struct{ *weir.FuncPool[func()] }

func (p antsInvokes) give(task func()) error    { return p.Invoke(task) }
func (p antsInvokes) tryGive(task func()) error { return p.TryInvoke(task) }

// antsMade is New or NewFunc.
type antsMade func(limit int, opts ...weir.Option) antsPool

// antsBoth is a case that holds for both kinds of pool.
func antsBoth(test func(t *testing.T, made antsMade)) func(t *testing.T) {
	return func(t *testing.T) {
		t.Log("with a Pool")
		test(t, func(limit int, opts ...weir.Option) antsPool { return antsSubmits{weir.New(limit, opts...)} })
		t.Log("with a FuncPool")
		test(t, func(limit int, opts ...weir.Option) antsPool {
			return antsInvokes{weir.NewFunc(limit, func(task func()) { task() }, opts...)}
		})
	}
}

// antsOccupy gives the pool n tasks, which all run until release is called.
func antsOccupy(t *testing.T, p antsPool, n int) (release func()) {
	t.Helper()
	gate := make(chan struct{})
	for range n {
		ok(t, p.give(func() { <-gate }))
	}
	synctest.Wait()
	return func() {
		close(gate)
		synctest.Wait()
	}
}
