package peer_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/64ed045f/weir/lab/internal/peer"
)

// Each check must accept the honest runner, group or loop below, and find what is
// wrong with those made from it.

// honest is a runner without a library.
type honest struct {
	run   func(i int)
	slots chan struct{}
	live  sync.WaitGroup
}

func openHonest(limit int, work peer.Work) *honest {
	h := &honest{run: work.Each, slots: make(chan struct{}, limit)}
	if work.Same != nil {
		h.run = func(int) { work.Same() }
	}
	return h
}

func (h *honest) Submit(lo, hi int) {
	for i := lo; i < hi; i++ {
		h.slots <- struct{}{}
		h.live.Go(func() {
			h.run(i)
			<-h.slots
		})
	}
}

func (h *honest) Wait()  { h.live.Wait() }
func (h *honest) Close() {}

// wrong is an honest runner with some of its methods replaced.
type wrong struct {
	*honest
	submit      func(lo, hi int)
	wait, close func()
}

func (w wrong) Submit(lo, hi int) {
	if w.submit != nil {
		w.submit(lo, hi)
	} else {
		w.honest.Submit(lo, hi)
	}
}

func (w wrong) Wait() {
	w.honest.Wait()
	if w.wait != nil {
		w.wait()
	}
}

func (w wrong) Close() {
	w.honest.Close()
	if w.close != nil {
		w.close()
	}
}

// impatient is for checks that find out by waiting in vain.
const impatient = 50 * time.Millisecond

// judge runs a check on something honest or wrong.
func judge(t *testing.T, honest bool, err error) {
	t.Helper()
	if honest && err != nil {
		t.Errorf("the check refuses what is right: %v", err)
	}
	if !honest && err == nil {
		t.Error("the check finds nothing wrong")
	}
	if !honest && err != nil {
		t.Log("found:", err)
	}
}

func TestChecksOfRunnersFindWhatIsWrong(t *testing.T) {
	once := func(open opener) error {
		return checkOnce(open, setting{2, 2, 10, 2, false, patience})
	}
	onceSame := func(open opener) error {
		return checkOnce(open, setting{2, 2, 10, 2, true, patience})
	}
	leftover := func(open opener) error {
		return checkOnce(open, setting{2, 2, 10, 2, false, impatient})
	}
	limit := func(open opener) error {
		return checkLimit(open, setting{2, 2, 10, 1, false, patience}, 2, 2)
	}
	limitSame := func(open opener) error {
		return checkLimit(open, setting{2, 1, 10, 1, true, patience}, 2, 2)
	}
	reach := func(open opener) error {
		return checkLimit(open, setting{2, 1, 10, 1, false, impatient}, 2, 2)
	}

	right := func(limit int, work peer.Work) peer.Runner { return openHonest(limit, work) }
	dropsOne := func(limit int, work peer.Work) peer.Runner {
		h := openHonest(limit, work)
		return wrong{honest: h, submit: func(lo, hi int) { h.Submit(lo, hi-1) }}
	}
	runsOneTwice := func(limit int, work peer.Work) peer.Runner {
		h := openHonest(limit, work)
		return wrong{honest: h, submit: func(lo, hi int) {
			h.Submit(lo, hi)
			h.Submit(lo, lo+1)
		}}
	}
	exceedsLimit := func(limit int, work peer.Work) peer.Runner { return openHonest(limit+1, work) }
	staysBelowLimit := func(limit int, work peer.Work) peer.Runner { return openHonest(limit-1, work) }
	for _, c := range []struct {
		name   string
		honest bool
		check  func(opener) error
		open   opener
	}{
		{"right/once", true, once, right},
		{"right/once/same", true, onceSame, right},
		{"right/limit", true, limit, right},
		{"right/limit/same", true, limitSame, right},
		{"right/reach", true, reach, right},

		{"drops one", false, once, dropsOne},
		{"drops one/same", false, onceSame, dropsOne},
		{"runs one twice", false, once, runsOneTwice},
		{"runs one twice/same", false, onceSame, runsOneTwice},
		{"runs the next in place of one", false, once, func(limit int, work peer.Work) peer.Runner {
			h := openHonest(limit, work)
			return wrong{honest: h, submit: func(lo, hi int) {
				h.Submit(lo+1, lo+2)
				h.Submit(lo+1, hi)
			}}
		}},
		{"invents an index", false, once, func(limit int, work peer.Work) peer.Runner {
			h := openHonest(limit, work)
			return wrong{honest: h, submit: func(lo, hi int) {
				h.Submit(lo+1, hi)
				h.Submit(-1, 0)
			}}
		}},
		{"does nothing in the second round", false, once, func(limit int, work peer.Work) peer.Runner {
			h := openHonest(limit, work)
			waited := false
			return wrong{honest: h, wait: func() { waited = true }, submit: func(lo, hi int) {
				if !waited {
					h.Submit(lo, hi)
				}
			}}
		}},
		{"runs the last only after Wait", false, once, func(limit int, work peer.Work) peer.Runner {
			h := openHonest(limit, work)
			return wrong{honest: h, submit: func(lo, hi int) { h.Submit(lo, hi-1) }, close: func() { h.run(9) }}
		}},
		{"runs one more in Close", false, once, func(limit int, work peer.Work) peer.Runner {
			h := openHonest(limit, work)
			return wrong{honest: h, close: func() { h.run(0) }}
		}},
		{"never returns from Wait", false, leftover, func(limit int, work peer.Work) peer.Runner {
			forever := make(chan struct{})
			t.Cleanup(func() { close(forever) })
			return wrong{honest: openHonest(limit, work), wait: func() { <-forever }}
		}},
		{"leaves goroutines", false, leftover, func(limit int, work peer.Work) peer.Runner {
			return wrong{honest: openHonest(limit, work), close: func() { leak(t) }}
		}},

		{"exceeds the limit", false, limit, exceedsLimit},
		{"exceeds the limit/same", false, limitSame, exceedsLimit},
		{"has no limit", false, limit, func(_ int, work peer.Work) peer.Runner { return openHonest(1000, work) }},
		{"stays below the limit", false, reach, staysBelowLimit},
	} {
		t.Run(c.name, func(t *testing.T) { judge(t, c.honest, c.check(c.open)) })
	}
}

// leak leaves goroutines for the rest of the test: more than the goroutines of an earlier check
// that may just be ending.
func leak(t *testing.T) {
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	for range 20 {
		go func() { <-forever }()
	}
}

func TestCheckOfQueuesFindsOneThatIsTooSmall(t *testing.T) {
	// A goroutine that waits for one of the workers is a place in the queue.
	queue := func(room func(limit, n int) int) queueOpener {
		return func(limit, n int, work peer.Work) peer.Runner {
			h := openHonest(room(limit, n), work)
			workers, run := make(chan struct{}, limit), h.run
			h.run = func(i int) {
				workers <- struct{}{}
				run(i)
				<-workers
			}
			return h
		}
	}
	for _, c := range []struct {
		name string
		room func(limit, n int) int
		s    setting
		want bool
	}{
		{"right", func(limit, n int) int { return limit + n }, setting{2, 2, 10, 1, false, patience}, true},
		{"right/same", func(limit, n int) int { return limit + n }, setting{2, 2, 10, 1, true, patience}, true},
		{"one too small", func(limit, n int) int { return limit + n - 1 }, setting{2, 2, 10, 1, false, impatient}, false},
		{"none", func(limit, _ int) int { return limit }, setting{2, 1, 10, 1, false, impatient}, false},
	} {
		t.Run(c.name, func(t *testing.T) { judge(t, c.want, checkQueued(queue(c.room), c.s)) })
	}
}

// bentGroup is a group without a library, right except for its flaw.
type bentGroup struct {
	*honest
	flaw   flaw
	parent context.Context
	ctx    context.Context
	cancel context.CancelFunc
	mu     sync.Mutex
	err    error
}

type flaw string

const (
	none          flaw = "right"
	orphan        flaw = "makes its context of another"
	stale         flaw = "keeps the context of the first round"
	cancelsNobody flaw = "cancels nobody"
	noError       flaw = "loses the error"
	lastError     flaw = "returns the last error"
	alwaysError   flaw = "returns an error for nothing"
)

func openBentGroup(flaw flaw) groupOpener {
	return func(ctx context.Context, limit int, work peer.GroupWork) peer.Group {
		g := &bentGroup{flaw: flaw, parent: ctx}
		if flaw == orphan {
			g.parent = context.Background()
		}
		g.renew()
		run := work.Each
		if work.Same != nil {
			run = func(ctx context.Context, _ int) error { return work.Same(ctx) }
		}
		g.honest = openHonest(limit, peer.Work{Each: func(i int) {
			if err := run(g.ctx, i); err != nil {
				g.fail(err)
			}
		}})
		return g
	}
}

func (g *bentGroup) renew() { g.ctx, g.cancel = context.WithCancel(g.parent) }

func (g *bentGroup) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.flaw != noError && (g.err == nil || g.flaw == lastError) {
		g.err = err
	}
	if g.flaw != cancelsNobody {
		g.cancel()
	}
}

func (g *bentGroup) Wait() error {
	g.honest.Wait()
	g.cancel()
	if g.flaw != stale {
		g.renew()
	}
	if g.flaw == alwaysError {
		return context.Canceled
	}
	return g.err
}

func (g *bentGroup) Close() { g.cancel() }

func TestChecksOfGroupsFindWhatIsWrong(t *testing.T) {
	s := setting{2, 2, 10, 2, false, patience}
	hasty := setting{2, 2, 10, 2, false, impatient}
	same := setting{2, 1, 10, 2, true, patience}
	for _, c := range []struct {
		name  string
		check func(groupOpener, setting) error
		s     setting
		flaw  flaw
	}{
		{"once", checkGroupOnce, s, none},
		{"once/same", checkGroupOnce, same, none},
		{"once", checkGroupOnce, s, orphan},
		{"once", checkGroupOnce, s, stale},
		{"once", checkGroupOnce, s, alwaysError},
		{"error", checkGroupError, s, none},
		{"error/same", checkGroupError, same, none},
		{"error", checkGroupError, hasty, cancelsNobody},
		{"error", checkGroupError, s, noError},
		{"error", checkGroupError, s, lastError},
		{"parent", checkGroupParent, s, none},
		{"parent/same", checkGroupParent, same, none},
		{"parent", checkGroupParent, hasty, orphan},
		{"parent", checkGroupParent, s, noError},
	} {
		t.Run(c.name+"/"+string(c.flaw), func(t *testing.T) {
			judge(t, c.flaw == none, c.check(openBentGroup(c.flaw), c.s))
		})
	}
}

func TestChecksOfLoopsFindWhatIsWrong(t *testing.T) {
	right := func(_ int, items []float64, body peer.Body) func() {
		return func() {
			for i := range items {
				body.Item(&items[i])
			}
		}
	}
	for _, c := range []struct {
		name   string
		honest bool
		run    loop
	}{
		{"right", true, right},
		{"skips the first", false, func(limit int, items []float64, body peer.Body) func() {
			return right(limit, items[1:], body)
		}},
		{"visits one twice", false, func(limit int, items []float64, body peer.Body) func() {
			return func() {
				right(limit, items, body)()
				body.Item(&items[3])
			}
		}},
		{"visits a copy", false, func(limit int, items []float64, body peer.Body) func() {
			return func() { right(limit, slices.Clone(items), body)() }
		}},
		{"runs when it is made", false, func(limit int, items []float64, body peer.Body) func() {
			right(limit, items, body)()
			return func() {}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			judge(t, c.honest, checkLoop(c.run, setting{2, 1, 10, 2, false, patience}))
		})
	}

	t.Run("exceeds the limit", func(t *testing.T) {
		run := func(_ int, items []float64, body peer.Body) func() {
			return func() {
				var live sync.WaitGroup
				for i := range items {
					live.Go(func() { body.Item(&items[i]) })
				}
				live.Wait()
			}
		}
		judge(t, false, checkLimit(loopAsRunner(run), setting{2, 1, 10, 1, false, patience}, 2, 2))
	})
}

func TestCheckOfNewFindsALeak(t *testing.T) {
	s := setting{limit: 2, rounds: 2, patience: impatient}
	judge(t, true, checkNew(func(int) func() { return func() {} }, s))
	judge(t, false, checkNew(func(int) func() { leak(t); return func() {} }, s))
}
