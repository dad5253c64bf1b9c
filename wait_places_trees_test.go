package weir_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// waitForest is a program that is drawn: pools, and what begins on them. Most of that are trees of waits: a task waits for tasks, which wait for
// others, each in a way of its own.
type waitForest struct {
	pools []waitPool // a pool and its lanes, the family, then another pool and its lane
	ways  []waitWay  // those that are drawn
	cuts  bool       // waits may have time-outs
	acts  []waitAct  // in the order in which they begin
}

// waitPool is a pool or a lane. What is 0 is not set.
type waitPool struct {
	of                           int // the index of the pool above; of a pool its own
	limit, queue                 int
	priority, aging, share, rate int // times in seconds
}

// waitAct is something that begins at a time.
type waitAct struct {
	does waitDoes
	at   time.Duration
	on   int           // the index of a pool
	n    int           // the lock, or the limit
	last time.Duration // of a pause or a limit, or of the lock before the task waits
	task waitTask
}

// role is that of the task.
func (a *waitAct) role() waitRole {
	holds := a.does == holdsALock || a.does == holdsByDo
	return waitRole{holds: holds, held: holds, inner: holds}
}

type waitDoes string

const (
	holdsALock waitDoes = "holds a lock" // over its waits
	holdsByDo  waitDoes = "holds a lock by Do"
	takesALock waitDoes = "takes a lock"
	begins     waitDoes = "begins" // and takes no lock
	isPaused   waitDoes = "is paused"
	isResized  waitDoes = "is resized"
)

// Tasks of a pool and of its lanes wait for others. Some of them hold a lock meanwhile that more tasks of the pool want. Tasks come back from
// Blocking, and the pools are paused and have other limits for a time. A chain of waits is a tree, too.
func TestALockHeldOverAnyTreeOfWaitsHangsNothing(t *testing.T) {
	n := check.Size(100, 1000, 12000)
	if check.Race {
		n = 100
	}
	for seed := range uint64(n) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			f := drawForest(rand.New(rand.NewPCG(seed, 9)))
			defer func() {
				if t.Failed() {
					t.Logf("try %s=1 go test -run '%s$' -count=20 .\n%v", check.ProofsEnv, t.Name(), f)
				}
			}()
			if how := f.hangs(t, 1); how != "" {
				t.Errorf("it hangs:\n%s", how)
				if f = f.smaller(t); f.hangs(t, 100) == "" {
					t.Log("and so it hangs no more:")
				}
			}
		})
	}
}

// drawForest draws a program that cannot hang by its own fault.
func drawForest(r *rand.Rand) *waitForest {
	f := &waitForest{ways: []waitWay{byGroup}, cuts: r.IntN(4) == 0}
	for _, i := range r.Perm(len(waysOfBoth))[:1+r.IntN(4)*r.IntN(6)] { // few ways meet more often
		f.ways = append(f.ways, waysOfBoth[i])
	}
	plain := r.IntN(2) == 0
	rarely := func(most int) int {
		if plain {
			return 0
		}
		return max(0, r.IntN(4+most)-3)
	}
	family := 2 + r.IntN(4)
	for i := range family + 2 {
		p := waitPool{of: i, limit: 1 + r.IntN(2), queue: []int{0, 1, 2, 100}[r.IntN(4)], rate: rarely(2)}
		if i != 0 && i != family {
			p.of, p.priority, p.aging, p.share = max(i-1-r.IntN(3), 0), rarely(2), rarely(1), rarely(3)
		}
		if i > family {
			p.of = family
		}
		f.pools = append(f.pools, p)
	}
	act := func(does waitDoes, on int) {
		a := waitAct{does: does, on: on, at: time.Duration(r.IntN(2)*r.IntN(40)) * time.Second, n: r.IntN(2) * r.IntN(2), last: time.Duration(r.IntN(20)) * time.Second}
		switch does {
		case holdsALock, holdsByDo:
			a.task = f.drawTask(r, 1+r.IntN(4), a.role())
		case begins:
			a.task = f.drawTask(r, r.IntN(2)*r.IntN(4), a.role())
		case isResized:
			a.n, a.last = 1+r.IntN(3), a.last*time.Duration(r.IntN(2))
		}
		f.acts = append(f.acts, a)
	}
	for i := range 1 + r.IntN(2)*r.IntN(3) {
		does := []waitDoes{holdsALock, holdsByDo}[r.IntN(2)]
		if i == 0 { // it has the lock at once
			act(does, r.IntN(2)*r.IntN(family))
			f.acts[0].at = 0
		} else { // on the pool, as in a lane all that have its places could want the lock
			act(does, 0)
		}
	}
	for range 1 + r.IntN(3) {
		act(takesALock, 0)
	}
	for range 1 + r.IntN(5) {
		act(begins, r.IntN(family))
	}
	for range r.IntN(6) {
		act([]waitDoes{isPaused, isResized}[r.IntN(2)], r.IntN(family))
	}
	slices.SortStableFunc(f.acts[1:], func(a, b waitAct) int { return int(a.at - b.at) })
	return f
}

// hangs runs the program so many times, or until it hangs, and tells how.
func (f *waitForest) hangs(t *testing.T, times int) (how string) {
	defer func() {
		if how != "" {
			_ = recover() // of synctest, that goroutines are left
		}
	}()
	for range times {
		if synctest.Test(t, func(t *testing.T) { how = f.run(t) }); how != "" {
			break
		}
	}
	return how
}

// run runs the program in a bubble. If it hangs, run tells how, and leaves all as it is.
func (f *waitForest) run(t *testing.T) (how string) {
	w := f.world()
	var open check.Gauge
	start := time.Now()
	for _, a := range f.acts {
		time.Sleep(time.Until(start.Add(a.at)))
		open.Enter()
		go func() {
			defer open.Leave()
			if err := w.act(a); !f.cuts {
				check.OK(t, err)
			}
		}()
		synctest.Wait()
	}
	time.Sleep(time.Hour)
	stays := open.Now.Load() > 0
	for i, p := range w.pools {
		s := p.Stats()
		stays = stays || s.Running+s.Suspended+s.Queued+s.Waiting+s.Extra > 0 || s.Accepted != s.Finished+s.HandedBack
		how += fmt.Sprintf("%d: %+v\n", i, s)
	}
	if stays {
		return how
	}
	for i, p := range w.pools {
		limit := p.Stats().Limit
		for above := f.pools[i].of; above != i; i, above = above, f.pools[above].of {
			limit = min(limit, w.pools[above].Stats().Limit)
		}
		hasItsPlaces(t, p, limit)
	}
	for i, p := range f.pools {
		if p.of == i {
			w.pools[i].Close()
		}
	}
	return ""
}

// waitWorld is what a program runs on.
type waitWorld struct {
	pools []*weir.Pool
	keys  []*weir.Keyed[int] // of each pool
	locks [2]chan struct{}
}

// world makes the pools.
func (f *waitForest) world() *waitWorld {
	w := &waitWorld{locks: [2]chan struct{}{make(chan struct{}, 1), make(chan struct{}, 1)}}
	for i, p := range f.pools {
		opts := []weir.Option{weir.Queue(p.queue), weir.OnError(func(error) {})}
		if p.rate > 0 {
			opts = append(opts, weir.Rate(p.rate, time.Second, 1))
		}
		if p.priority > 0 {
			opts = append(opts, weir.Priority(p.priority))
		}
		if p.aging > 0 {
			opts = append(opts, weir.Aging(time.Duration(p.aging)*time.Second))
		}
		if p.share > 0 {
			opts = append(opts, weir.Share(p.share))
		}
		if p.of != i {
			opts = append(opts, weir.On(w.pools[p.of]))
		}
		made := weir.New(p.limit, opts...)
		w.pools, w.keys = append(w.pools, made), append(w.keys, weir.NewKeyed[int](made, 1, weir.KeyQueue(p.queue)))
	}
	return w
}

// act does what the act says, and returns when that is over.
func (w *waitWorld) act(a waitAct) error {
	p := w.pools[a.on]
	task := func(ctx context.Context) error { return w.do(ctx, a.task) }
	switch a.does {
	case isPaused:
		p.Pause()
		time.Sleep(a.last)
		p.Resume()
		return nil
	case isResized:
		before := p.Stats().Limit
		p.Resize(a.n)
		if a.last > 0 { // else it stays so
			time.Sleep(a.last)
			p.Resize(before)
		}
		return nil
	case begins:
	case takesALock, holdsALock, holdsByDo:
		task = func(ctx context.Context) error {
			w.locks[a.n] <- struct{}{}
			defer func() { <-w.locks[a.n] }()
			if a.does != takesALock {
				time.Sleep(a.last)
			}
			return w.do(ctx, a.task)
		}
	}
	if a.does == holdsByDo {
		return p.Do(context.Background(), task)
	}
	over := make(chan error, 1)
	err := p.Go(context.Background(), func(ctx context.Context) error {
		over <- task(ctx)
		return nil
	})
	return errors.Join(err, <-over)
}

// String returns the program, a line for each pool and act.
func (f *waitForest) String() string {
	var s strings.Builder
	for i, p := range f.pools {
		fmt.Fprintf(&s, "pool %d: %+v\n", i, p)
	}
	for _, a := range f.acts {
		fmt.Fprintf(&s, "%v: %s, pool %d, n %d, last %v\n%s", a.at, a.does, a.on, a.n, a.last, a.task.tell("  "))
	}
	return s.String()
}

// smaller returns what is left of a program that hangs, where nothing more can be removed without which it still does.
func (f *waitForest) smaller(t *testing.T) *waitForest {
	for i := 0; ; {
		g := *f
		g.pools, g.acts = slices.Clone(f.pools), slices.Clone(f.acts)
		var edits []func()
		for j := range g.acts {
			edits = append(edits, func() { g.acts = slices.Delete(g.acts, j, j+1) })
		}
		for j := range g.acts {
			a := &g.acts[j]
			a.task = a.task.clone()
			edits = append(edits, a.task.edits(a.role())...)
		}
		for j := range g.pools {
			p := &g.pools[j]
			if plain := (waitPool{of: p.of, limit: p.limit, queue: p.queue}); *p != plain {
				edits = append(edits, func() { *p = plain })
			}
		}
		if i >= len(edits) {
			return f
		}
		if edits[i](); g.hangs(t, 20) != "" {
			f = &g
		} else {
			i++
		}
	}
}
