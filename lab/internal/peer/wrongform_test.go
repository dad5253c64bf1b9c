package peer_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/64ed045f/weir/lab/internal/peer"
)

// bentGroup is a group made of a runner, right except for its flaw.
type bentGroup struct {
	peer.Runner
	flaw   flaw
	parent context.Context
	ctx    context.Context
	cancel context.CancelFunc
	mu     sync.Mutex
	err    error
}

type flaw string

const (
	none        flaw = "right"
	orphan      flaw = "makes its context of another"
	stale       flaw = "keeps the context of the first round"
	cancelsNone flaw = "cancels no task"
	noError     flaw = "loses the error"
	lastError   flaw = "returns the last error"
	alwaysError flaw = "returns an error for nothing"
)

func groupWith(open opener, flaw flaw) groupOpener {
	return func(ctx context.Context, limit int, work peer.GroupWork) peer.Group {
		g := &bentGroup{flaw: flaw, parent: ctx}
		if flaw == orphan {
			g.parent = context.Background()
		}
		g.renew()
		tasks := peer.Work{Each: func(i int) { g.note(work.Each(g.ctx, i)) }}
		if work.Same != nil {
			tasks = peer.Work{Same: func() { g.note(work.Same(g.ctx)) }}
		}
		g.Runner = open(limit, tasks)
		return g
	}
}

func (g *bentGroup) renew() { g.ctx, g.cancel = context.WithCancel(g.parent) }

// note takes in what a task returns.
func (g *bentGroup) note(err error) {
	if err == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.flaw != noError && (g.err == nil || g.flaw == lastError) {
		g.err = err
	}
	if g.flaw != cancelsNone {
		g.cancel()
	}
}

func (g *bentGroup) Wait() error {
	g.Runner.Wait()
	g.cancel()
	if g.flaw != stale {
		g.renew()
	}
	if g.flaw == alwaysError {
		return context.Canceled
	}
	return g.err
}

func (g *bentGroup) Close() {
	g.cancel()
	g.Runner.Close()
}

func TestChecksOfGroupsFindWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name  string
		check func(groupOpener, setting) error
		flaws []flaw
		hangs flaw // the one that the check finds by waiting in vain
	}{
		{"once", func(open groupOpener, s setting) error { return checkOnce(groupAsRunner(open), s) }, []flaw{none, orphan, stale, alwaysError}, ""},
		{"error", checkGroupError, []flaw{none, cancelsNone, noError, lastError}, cancelsNone},
		{"parent", checkGroupParent, []flaw{none, orphan, noError}, orphan},
	} {
		for _, flaw := range c.flaws {
			for _, same := range []bool{false, true} {
				s := setting{limit: 2, producers: 2, tasks: 10, rounds: 2, same: same, patience: patience, together: 2}
				if flaw == c.hangs {
					s.patience = impatient
				}
				t.Run(c.name+"/"+string(flaw), func(t *testing.T) {
					judge(t, flaw == none, c.check(groupWith(right, flaw), s))
				})
			}
		}
	}
}

func loopWith(open opener) looper {
	return func(limit int, items []float64, body peer.Body) func() {
		return func() { runAll(open, limit, len(items), func(i int) { body.Item(&items[i]) }) }
	}
}

// runAll runs n tasks on a runner of their own.
func runAll(open opener, limit, n int, task func(i int)) {
	r := open(limit, peer.Work{Each: task})
	r.Submit(0, n)
	r.Wait()
	r.Close()
}

func collectWith(open opener) collector {
	return func(limit, n int, fn func(i int) (int, error)) ([]int, error) {
		values, errs := make([]int, n), make([]error, n)
		runAll(open, limit, n, func(i int) { values[i], errs[i] = fn(i) })
		return values, errors.Join(errs...)
	}
}

// streamWith is an ordered stream made of a runner. It consumes the empty value of a task
// that the runner has dropped.
func streamWith(open opener) streamer {
	return func(limit, n int, fn func(i int) int, consume func(int)) {
		values := make([]chan int, n)
		for i := range values {
			values[i] = make(chan int, 2) // a wrong runner may run a task twice
		}
		all := make(chan struct{})
		go func() {
			defer close(all)
			runAll(open, limit, n, func(i int) { values[i] <- fn(i) })
			for _, value := range values {
				close(value)
			}
		}()
		for _, value := range values {
			consume(<-value)
		}
		<-all
	}
}

func TestChecksFindWhatOnlyOneFormDoesWrong(t *testing.T) {
	wrong := map[string]peer.Peer{
		"visits a copy": {Loop: func(limit int, items []float64, body peer.Body) func() {
			return func() { loopWith(right)(limit, slices.Clone(items), body)() }
		}},
		"runs when it is made": {Loop: func(limit int, items []float64, body peer.Body) func() {
			loopWith(right)(limit, items, body)()
			return func() {}
		}},
		"takes values as they come": {Collect: func(limit, n int, fn func(int) (int, error)) ([]int, error) {
			var mu sync.Mutex
			var values []int
			_, err := collectWith(right)(limit, n, func(i int) (int, error) {
				value, err := fn(i)
				mu.Lock()
				defer mu.Unlock()
				values = append(values, value)
				return value, err
			})
			return values, err
		}},
		"drops the last value": {Collect: func(limit, n int, fn func(int) (int, error)) ([]int, error) {
			values, err := collectWith(right)(limit, n, fn)
			return values[:n-1], err
		}},
		"returns an error for nothing": {Collect: func(limit, n int, fn func(int) (int, error)) ([]int, error) {
			values, err := collectWith(right)(limit, n, fn)
			return values, errors.Join(err, errors.New("nothing"))
		}},
		"consumes values as they come": {Stream: func(limit, n int, fn func(int) int, consume func(int)) {
			var mu sync.Mutex
			streamWith(right)(limit, n, func(i int) int {
				value := fn(i)
				mu.Lock()
				defer mu.Unlock()
				consume(value)
				return value
			}, func(int) {})
		}},
		"consumes one twice": {Stream: func(limit, n int, fn func(int) int, consume func(int)) {
			streamWith(right)(limit, n, fn, func(value int) {
				consume(value)
				if value == valueOf(4) {
					consume(value)
				}
			})
		}},
		"consumes several at once": {Stream: func(limit, n int, fn func(int) int, consume func(int)) {
			var live sync.WaitGroup
			streamWith(right)(limit, n, fn, func(value int) { live.Go(func() { consume(value) }) })
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
	judge(t, true, checkCollectError(collectWith(right), s))
	judge(t, false, checkCollectError(func(limit, n int, fn func(int) (int, error)) ([]int, error) {
		values, _ := collectWith(right)(limit, n, fn)
		return values, nil
	}, s))
}

func TestCheckOfFlowFindsAStreamThatConsumesAtTheEnd(t *testing.T) {
	s := setting{limit: 2, tasks: 10, patience: patience}
	judge(t, true, checkFlow(streamWith(right), s))
	s.patience = impatient
	judge(t, false, checkFlow(func(limit, n int, fn func(int) int, consume func(int)) {
		var values []int
		streamWith(right)(limit, n, fn, func(value int) { values = append(values, value) })
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
