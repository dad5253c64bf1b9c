package model_test

import (
	"context"
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/internal/face"
	"github.com/64ed045f/weir/verify/model"
)

// makeLanes makes lanes, up to three deep. No two of one pool have the same priority, nor that of its queue, so that there is only one
// answer to which is next.
func (m *poolMachine) makeLanes(root *face.Closures[*task]) {
	type node struct {
		view
		face       *face.Closures[*task]
		depth      int
		priorities []int // that no lane of it has
	}
	newNode := func(v view, face *face.Closures[*task], depth int) *node {
		return &node{v, face, depth, rapid.Permutation([]int{-2, -1, 1, 2}).Draw(m.t, "priorities")}
	}
	nodes := []*node{newNode(m.views[0], root, 0)}
	for range between(m.t, 1, 4, "lanes") {
		above := oneOf(m.t, nodes, "lane of")
		leaf := rapid.Bool().Draw(m.t, "FuncPool")
		l := &model.Pool{
			Limit:      between(m.t, 1, 3, "limit"),
			Queue:      oneOf(m.t, []int{0, 1, 2, weir.Unbounded}, "queue"),
			MaxWaiting: oneOf(m.t, []int{math.MaxInt, math.MaxInt, 1}, "max waiting"),
			Priority:   above.priorities[0],
		}
		above.priorities = above.priorities[1:]
		above.model.AddLane(l)
		opts := []weir.Option{weir.Name(m.name), weir.Queue(l.Queue), weir.MaxWaiting(l.MaxWaiting), weir.Priority(l.Priority)}
		if m.handler != noHandler {
			opts = append(opts, weir.OnPanic(m.onPanic))
		}
		if leaf {
			m.views = append(m.views, view{model: l, lib: face.NewFunc(l.Limit, above.face.Run, append(opts, weir.On(above.plain))...)})
			continue
		}
		lane := above.face.Lane(l.Limit, append(opts, weir.OnError(m.recordError))...)
		v := view{model: l, lib: lane, plain: lane.Pool, goes: lane.Go}
		m.views = append(m.views, v)
		if above.depth < 2 {
			nodes = append(nodes, newNode(v, lane, above.depth+1))
		}
	}
}

// keyFace hands over tasks with a key. It has no other methods.
type keyFace struct {
	face.Pool[*task]
	keyed   *weir.Keyed[int]
	key     int
	closure func(k *task) func()
}

func (f keyFace) Invoke(k *task) error    { return f.keyed.Submit(f.key, f.closure(k)) }
func (f keyFace) TryInvoke(k *task) error { return f.keyed.TrySubmit(f.key, f.closure(k)) }
func (f keyFace) InvokeContext(ctx context.Context, k *task) error {
	return f.keyed.SubmitContext(ctx, f.key, f.closure(k))
}
func (f keyFace) Go(ctx context.Context, task func(context.Context) error) error {
	return f.keyed.Go(ctx, f.key, task)
}

// makeKeys makes a Keyed. All keys together are as one lane, of which each key has one. They take turns: it is open which is next, and in which
// order Shutdown hands their tasks back.
func (m *poolMachine) makeKeys(root *face.Closures[*task]) {
	limit := oneOf(m.t, []int{1, 1, 2}, "limit of a key")
	queue := between(m.t, 0, 3, "queue of a key")
	keyed := weir.NewKeyed[int](root.Pool, limit, weir.KeyQueue(queue))
	all := &model.Pool{Limit: weir.Unbounded}
	m.views[0].model.AddLane(all)
	pools := []*model.Pool{m.views[0].model}
	for key := range 3 {
		l := &model.Pool{Limit: limit, Queue: queue, MaxWaiting: math.MaxInt}
		all.AddLane(l)
		f := keyFace{keyed: keyed, key: key, closure: root.Closure}
		m.views = append(m.views, view{model: l, lib: f, goes: f.Go, isKey: true})
		pools = append(pools, l)
	}
	m.order = func(a, b *task) int { return slices.Index(pools, a.model.Pool) - slices.Index(pools, b.model.Pool) }
}
