package par

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/64ed045f/weir/internal/share"
)

// leaver is a taskGroup whose only helper takes over half of the items, and gives them back when the caller has left:
// the helper is slow, and then the pool ends it.
type leaver struct {
	loop   *loop
	worker share.Worker
	has    share.Run
	left   bool
}

func (g *leaver) Go(func(context.Context) error) {}
func (g *leaver) Cancel(error)                   {}

func (g *leaver) TryGo(func(context.Context) error) bool {
	if !g.has.Empty() || g.left {
		return false
	}
	g.worker = g.loop.Join()
	for more := true; more && g.has.Empty(); {
		g.has, _, more = g.worker.Claim(g.loop.length)
	}
	return true
}

func (g *leaver) Wait() error {
	g.worker.Put(g.has)
	g.worker.Leave()
	g.has, g.left = share.Run{}, true
	return nil
}

func TestTheCallerDoesWhatAHelperLeaves(t *testing.T) {
	const n = 100
	o := newOptions([]Option{Limit(2)})
	l := newLoop(t.Context(), &o, n, 2, rangeSpan)
	helpers := &leaver{loop: l}
	var ran [n]atomic.Int32
	l.bare, l.helpers = true, helpers
	l.body = func(_ *worker, r share.Run) int {
		for i := r.Lo; i < r.Hi; i++ {
			ran[i].Add(1)
		}
		return r.Hi
	}
	l.Put(share.Run{Lo: 0, Hi: n})
	l.doWithCaller(1)
	for i := range ran {
		if ran[i].Load() != 1 {
			t.Fatalf("index %d ran %d times", i, ran[i].Load())
		}
	}
	if !helpers.left {
		t.Error("no helper has left items")
	}
}
