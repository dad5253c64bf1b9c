package peer_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/64ed045f/weir/lab/internal/peer"
)

// right returns a peer that is right, and needs no library.
func right(name string) peer.Peer {
	p, err := peer.Find(name)
	if err != nil {
		panic(err)
	}
	return p
}

var (
	plain     = right(peer.Go)
	semaphore = right("semaphore")
	group     = semaphore.Group
)

// bentTasks returns tasks that are right except for what f does around each.
func bentTasks(work peer.GroupWork, f func(ctx context.Context, task func(context.Context) error) error) peer.GroupWork {
	if work.Same != nil {
		return peer.GroupWork{Same: func(ctx context.Context) error { return f(ctx, work.Same) }}
	}
	return peer.GroupWork{Each: func(ctx context.Context, i int) error {
		return f(ctx, func(ctx context.Context) error { return work.Each(ctx, i) })
	}}
}

// bentWait is a group that is right except for what its Wait returns.
type bentWait struct {
	peer.Group
	instead func() error
}

func (g bentWait) Wait() error {
	_ = g.Group.Wait()
	return g.instead()
}

// flaws are groups that are right except for one thing.
var flaws = map[string]groupOpener{
	"right": group,
	"makes its context of another": func(_ context.Context, limit int, work peer.GroupWork) peer.Group {
		return group(context.Background(), limit, work)
	},
	"keeps the context of the first round": func(ctx context.Context, limit int, work peer.GroupWork) peer.Group {
		var first context.Context
		var once sync.Once
		return group(ctx, limit, bentTasks(work, func(ctx context.Context, task func(context.Context) error) error {
			once.Do(func() { first = ctx })
			return task(first)
		}))
	},
	"cancels no task": func(ctx context.Context, limit int, work peer.GroupWork) peer.Group {
		return group(ctx, limit, bentTasks(work, func(ctx context.Context, task func(context.Context) error) error {
			return task(context.WithoutCancel(ctx))
		}))
	},
	"loses the error": func(ctx context.Context, limit int, work peer.GroupWork) peer.Group {
		return bentWait{group(ctx, limit, work), func() error { return nil }}
	},
	"returns the last error": func(ctx context.Context, limit int, work peer.GroupWork) peer.Group {
		var last atomic.Pointer[error]
		return bentWait{group(ctx, limit, bentTasks(work, func(ctx context.Context, task func(context.Context) error) error {
			err := task(ctx)
			last.Store(&err)
			return err
		})), func() error { return *last.Load() }}
	},
	"returns an error for nothing": func(ctx context.Context, limit int, work peer.GroupWork) peer.Group {
		return bentWait{group(ctx, limit, work), func() error { return context.Canceled }}
	},
}

func TestChecksOfGroupsFindWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name  string
		check func(groupOpener, setting) error
		flaws []string
		hangs string // the one that the check finds by waiting in vain
	}{
		{"once", func(open groupOpener, s setting) error { return checkOnce(groupAsRunner(open), s) },
			[]string{"right", "makes its context of another", "keeps the context of the first round", "returns an error for nothing"}, ""},
		{"error", checkGroupError, []string{"right", "cancels no task", "loses the error", "returns the last error"}, "cancels no task"},
		{"parent", checkGroupParent, []string{"right", "makes its context of another", "loses the error"}, "makes its context of another"},
	} {
		for _, flaw := range c.flaws {
			for _, same := range []bool{false, true} {
				s := setting{limit: 2, producers: 2, tasks: 10, rounds: 2, same: same, patience: patience, together: 2}
				if flaw == c.hangs {
					s.patience = impatient
				}
				t.Run(c.name+"/"+flaw, func(t *testing.T) { judge(t, flaw == "right", c.check(flaws[flaw], s)) })
			}
		}
	}
}

func TestChecksFindWhatOnlyOneFormDoesWrong(t *testing.T) {
	wrong := map[string]peer.Peer{
		"visits a copy": {Loop: func(limit int, items []float64, body peer.Body) func() {
			return func() { plain.Loop(limit, slices.Clone(items), body)() }
		}},
		"runs when it is made": {Loop: func(limit int, items []float64, body peer.Body) func() {
			plain.Loop(limit, items, body)()
			return func() {}
		}},
		"takes values as they come": {Collect: func(limit, n int, fn func(int) (int, error)) ([]int, error) {
			var mu sync.Mutex
			var values []int
			_, err := plain.Collect(limit, n, func(i int) (int, error) {
				value, err := fn(i)
				mu.Lock()
				defer mu.Unlock()
				values = append(values, value)
				return value, err
			})
			return values, err
		}},
		"drops the last value": {Collect: func(limit, n int, fn func(int) (int, error)) ([]int, error) {
			values, err := plain.Collect(limit, n, fn)
			return values[:n-1], err
		}},
		"returns an error for nothing": {Collect: func(limit, n int, fn func(int) (int, error)) ([]int, error) {
			values, err := plain.Collect(limit, n, fn)
			return values, errors.Join(err, errors.New("nothing"))
		}},
		"consumes values as they come": {Stream: func(limit, n int, fn func(int) int, consume func(int)) {
			var mu sync.Mutex
			plain.Stream(limit, n, func(i int) int {
				value := fn(i)
				mu.Lock()
				defer mu.Unlock()
				consume(value)
				return value
			}, func(int) {})
		}},
		"consumes one twice": {Stream: func(limit, n int, fn func(int) int, consume func(int)) {
			plain.Stream(limit, n, fn, func(value int) {
				consume(value)
				if value == valueOf(4) {
					consume(value)
				}
			})
		}},
		"consumes several at once": {Stream: func(limit, n int, fn func(int) int, consume func(int)) {
			var live sync.WaitGroup
			plain.Stream(limit, n, fn, func(value int) { live.Go(func() { consume(value) }) })
			live.Wait()
		}},
	}
	s := setting{limit: 2, producers: 1, tasks: 10, rounds: 2}
	for name, p := range wrong {
		for _, f := range forms {
			if has(p, f.name) {
				t.Run(f.name+"/"+name, func(t *testing.T) { judge(t, false, f.checkOnce(p, s.of(p))) })
			}
		}
	}
}

func TestCheckOfErrorsFindsACollectorThatLosesThem(t *testing.T) {
	s := setting{limit: 2, tasks: 10, patience: patience}
	judge(t, true, checkCollectError(plain.Collect, s))
	judge(t, false, checkCollectError(func(limit, n int, fn func(int) (int, error)) ([]int, error) {
		values, _ := plain.Collect(limit, n, fn)
		return values, nil
	}, s))
}

func TestCheckOfFlowFindsAStreamThatConsumesAtTheEnd(t *testing.T) {
	s := setting{limit: 2, tasks: 10, patience: patience}
	judge(t, true, checkFlow(plain.Stream, s))
	s.patience = impatient
	judge(t, false, checkFlow(func(limit, n int, fn func(int) int, consume func(int)) {
		var values []int
		plain.Stream(limit, n, fn, func(value int) { values = append(values, value) })
		for _, value := range values {
			consume(value)
		}
	}, s))
}

func TestCheckOfSortsFindsWhatIsWrong(t *testing.T) {
	s := setting{limit: 2, tasks: 100, patience: patience}
	judge(t, true, checkSort(func(_ int, items []int) { slices.Sort(items) }, s))
	for name, sort := range map[string]sorter{
		"sorts a copy":     func(_ int, items []int) { slices.Sort(slices.Clone(items)) },
		"forgets the last": func(_ int, items []int) { slices.Sort(items[:max(0, len(items)-1)]) },
		"loses one": func(_ int, items []int) {
			slices.Sort(items)
			if len(items) > 50 {
				items[50] = items[49]
			}
		},
		"does not merge": func(_ int, items []int) {
			slices.Sort(items[:len(items)/2])
			slices.Sort(items[len(items)/2:])
		},
	} {
		t.Run(name, func(t *testing.T) { judge(t, false, checkSort(sort, s)) })
	}
	s.patience = impatient
	leak := leaker(t)
	judge(t, false, checkSort(func(_ int, items []int) {
		leak()
		slices.Sort(items)
	}, s))
}
