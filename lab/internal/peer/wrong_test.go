package peer_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/64ed045f/weir/lab/internal/peer"
)

// Each check must accept the honest runner below, and all forms made of it, and
// find what is wrong with those that are bent.

// honest is a runner without a library, as long as nothing is replaced.
type honest struct {
	run   func(i int)
	slots chan struct{}
	live  sync.WaitGroup

	submit         func(lo, hi int) // in place of its own
	waited, closed func()           // at the end of Wait and Close
}

func openHonest(limit int, work peer.Work) *honest {
	h := &honest{run: work.Each, slots: make(chan struct{}, limit), waited: func() {}, closed: func() {}}
	if work.Same != nil {
		h.run = func(int) { work.Same() }
	}
	h.submit = h.hand
	return h
}

// right opens an honest runner.
func right(limit int, work peer.Work) peer.Runner { return openHonest(limit, work) }

func (h *honest) hand(lo, hi int) {
	for i := lo; i < hi; i++ {
		h.slots <- struct{}{}
		h.live.Go(func() {
			h.run(i)
			<-h.slots
		})
	}
}

func (h *honest) Submit(lo, hi int) { h.submit(lo, hi) }
func (h *honest) Wait()             { h.live.Wait(); h.waited() }
func (h *honest) Close()            { h.closed() }

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

// A form is what can be made of a runner, with the checks that it must pass.
type form struct {
	name        string
	producers   int
	same        bool // whether its tasks can all be one function
	once, limit func(open opener, s setting) error
}

var forms = []form{
	{"runner", 2, true, checkOnce, checkLimit},
	{
		"group", 2, true,
		func(open opener, s setting) error { return checkGroupOnce(groupWith(open, none), s) },
		func(open opener, s setting) error { return checkLimit(groupAsRunner(groupWith(open, none)), s) },
	},
	{
		"loop", 1, false,
		func(open opener, s setting) error { return checkLoop(loopWith(open), s) },
		func(open opener, s setting) error { return checkLimit(loopAsRunner(loopWith(open)), s) },
	},
	{
		"collector", 1, false,
		func(open opener, s setting) error { return checkCollect(collectWith(open), s) },
		func(open opener, s setting) error { return checkLimit(collectAsRunner(collectWith(open)), s) },
	},
	{
		"stream", 1, false,
		func(open opener, s setting) error { return checkStream(streamWith(open), s) },
		func(open opener, s setting) error { return checkLimit(streamAsRunner(streamWith(open)), s) },
	},
}

func TestChecksFindWhatIsWrongInEachForm(t *testing.T) {
	limitOf := func(h *honest, limit int) { h.slots = make(chan struct{}, limit) }
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	for _, c := range []struct {
		name     string
		inLimit  bool          // whether the check of the limit is to find it
		runners  bool          // whether only a runner that is bent in this way is wrong
		differ   bool          // whether it shows only in tasks that differ
		patience time.Duration // of the check
		bend     func(h *honest)
	}{
		{name: "right", patience: patience},
		{name: "right", inLimit: true, patience: patience},

		{name: "drops one", patience: patience, bend: func(h *honest) {
			h.submit = func(lo, hi int) { h.hand(lo, hi-1) }
		}},
		{name: "runs one twice", patience: patience, bend: func(h *honest) {
			h.waited = func() { h.run(0) }
		}},
		{name: "runs the next in place of one", differ: true, patience: patience, bend: func(h *honest) {
			h.submit = func(lo, hi int) { h.hand(max(lo, 1), hi) }
			h.waited = func() { h.run(1) }
		}},
		{name: "invents an index", runners: true, differ: true, patience: patience, bend: func(h *honest) {
			h.submit = func(lo, hi int) {
				h.hand(lo+1, hi)
				h.hand(-1, 0)
			}
		}},
		{name: "does nothing in the second round", runners: true, patience: patience, bend: func(h *honest) {
			h.waited = func() { h.submit = func(int, int) {} }
		}},
		{name: "runs the last only after Wait", runners: true, patience: patience, bend: func(h *honest) {
			h.submit = func(lo, hi int) { h.hand(lo, min(hi, 9)) }
			h.closed = func() { h.run(9) }
		}},
		{name: "runs one more in Close", patience: patience, bend: func(h *honest) {
			h.closed = func() { h.run(0) }
		}},
		{name: "never returns from Wait", patience: impatient, bend: func(h *honest) {
			h.waited = func() { <-forever }
		}},
		{name: "leaves goroutines", patience: impatient, bend: func(h *honest) {
			h.closed = func() { leak(t) }
		}},

		{name: "exceeds the limit", inLimit: true, patience: patience, bend: func(h *honest) { limitOf(h, 3) }},
		{name: "has no limit", inLimit: true, patience: patience, bend: func(h *honest) { limitOf(h, 1000) }},
		{name: "stays below the limit", inLimit: true, patience: impatient, bend: func(h *honest) { limitOf(h, 1) }},
	} {
		open := func(limit int, work peer.Work) peer.Runner {
			h := openHonest(limit, work)
			if c.bend != nil {
				c.bend(h)
			}
			return h
		}
		for _, f := range forms {
			if c.runners && f.name != "runner" {
				continue
			}
			for _, same := range []bool{false, true} {
				if same && (c.differ || !f.same) {
					continue
				}
				s := setting{limit: 2, producers: f.producers, tasks: 10, rounds: 2, same: same, patience: c.patience, must: 2, may: 2}
				check := f.once
				if c.inLimit {
					check = f.limit
				}
				t.Run(f.name+"/"+c.name, func(t *testing.T) { judge(t, c.bend == nil, check(open, s)) })
			}
		}
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
	for _, c := range []struct {
		name      string
		missing   int // places
		producers int
		same      bool
		patience  time.Duration
	}{
		{"right", 0, 2, false, patience},
		{"right/same", 0, 2, true, patience},
		{"one too small", 1, 2, false, impatient},
		{"none", 10, 1, false, impatient},
	} {
		// A goroutine that waits for one of the workers is a place in the queue.
		open := func(limit, n int, work peer.Work) peer.Runner {
			h := openHonest(limit+n-c.missing, work)
			workers, run := make(chan struct{}, limit), h.run
			h.run = func(i int) {
				workers <- struct{}{}
				run(i)
				<-workers
			}
			return h
		}
		t.Run(c.name, func(t *testing.T) {
			s := setting{limit: 2, producers: c.producers, tasks: 10, same: c.same, patience: c.patience}
			judge(t, c.missing == 0, checkQueued(open, s))
		})
	}
}

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
		{"once", checkGroupOnce, []flaw{none, orphan, stale, alwaysError}, ""},
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

func TestChecksOfLoopsFindWhatIsWrong(t *testing.T) {
	s := setting{limit: 2, tasks: 10, rounds: 2, patience: patience}
	for name, run := range map[string]looper{
		"visits a copy": func(limit int, items []float64, body peer.Body) func() {
			return func() { loopWith(right)(limit, slices.Clone(items), body)() }
		},
		"runs when it is made": func(limit int, items []float64, body peer.Body) func() {
			loopWith(right)(limit, items, body)()
			return func() {}
		},
	} {
		t.Run(name, func(t *testing.T) { judge(t, false, checkLoop(run, s)) })
	}
}

func TestCheckOfNewFindsALeak(t *testing.T) {
	s := setting{limit: 2, rounds: 2, patience: impatient}
	judge(t, true, checkNew(func(int) func() { return func() {} }, s))
	judge(t, false, checkNew(func(int) func() { leak(t); return func() {} }, s))
}
