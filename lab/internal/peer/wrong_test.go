package peer_test

import (
	"cmp"
	"runtime"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/lab/internal/peer"
)

// Each check must accept a peer without a library, and find what is wrong with those that are bent.

// bent is a runner without a library, which is right as long as nothing is replaced.
type bent struct {
	peer.Runner
	run            func(i int)      // runs a task
	submit         func(lo, hi int) // in place of its own
	waited, closed func()           // at the end of Wait and Close
}

func (b *bent) Submit(lo, hi int) { b.submit(lo, hi) }
func (b *bent) Wait()             { b.Runner.Wait(); b.waited() }
func (b *bent) Close()            { b.closed() }

// impatient is for checks that find out by waiting in vain.
const impatient = 50 * time.Millisecond

// judge runs a check on something honest or wrong.
func judge(t *testing.T, honest bool, err error) {
	t.Helper()
	t.Log("found:", err)
	if honest != (err == nil) {
		t.Errorf("the check was asked about something that is right: %t", honest)
	}
}

func TestChecksFindWhatIsWrong(t *testing.T) {
	leak := leaker(t)
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	for _, c := range []struct {
		name     string
		atOnce   int           // how many tasks the check of the limit waits for; 0 for the other check
		differ   bool          // whether it shows only in tasks that differ
		patience time.Duration // of the check
		limit    int           // what it makes of the limit of 2; 0 for 2
		bend     func(b *bent)
	}{
		{name: "right", patience: patience},
		{name: "right", atOnce: 2, patience: patience},

		{name: "drops one", patience: patience, bend: func(b *bent) {
			b.submit = func(lo, hi int) { b.Runner.Submit(lo, hi-1) }
		}},
		{name: "runs one twice", patience: patience, bend: func(b *bent) {
			b.waited = func() { b.run(0) }
		}},
		{name: "runs the next in place of one", differ: true, patience: patience, bend: func(b *bent) {
			b.submit = func(lo, hi int) { b.Runner.Submit(max(lo, 1), hi) }
			b.waited = func() { b.run(1) }
		}},
		{name: "invents an index", differ: true, patience: patience, bend: func(b *bent) {
			b.submit = func(lo, hi int) {
				b.Runner.Submit(lo+1, hi)
				b.Runner.Submit(-1, 0)
			}
		}},
		{name: "does nothing in the second round", patience: patience, bend: func(b *bent) {
			b.waited = func() { b.submit = func(int, int) {} }
		}},
		{name: "runs the last only after Wait", patience: patience, bend: func(b *bent) {
			b.submit = func(lo, hi int) { b.Runner.Submit(lo, min(hi, 9)) }
			b.closed = func() { b.run(9) }
		}},
		{name: "runs one more in Close", patience: patience, bend: func(b *bent) {
			b.closed = func() { b.run(0) }
		}},
		{name: "never returns from Wait", patience: impatient, bend: func(b *bent) {
			b.waited = func() { <-forever }
		}},
		{name: "leaves goroutines", patience: impatient, bend: func(b *bent) {
			b.closed = leak
		}},

		{name: "exceeds the limit", atOnce: 3, patience: patience, limit: 3},
		{name: "has no limit", atOnce: 3, patience: patience, limit: 1000},
		{name: "stays below the limit", atOnce: 2, patience: impatient, limit: 1},
	} {
		open := func(limit int, work peer.Work) peer.Runner {
			b := &bent{Runner: semaphore.Open(cmp.Or(c.limit, limit), work), run: runs(work), waited: func() {}, closed: func() {}}
			b.submit = b.Runner.Submit
			if c.bend != nil {
				c.bend(b)
			}
			return b
		}
		all := []setting{{limit: 2, producers: 1, tasks: 10, rounds: 2}, {limit: 2, producers: 2, tasks: 10, rounds: 2}}
		if !c.differ {
			all = append(all, setting{limit: 2, producers: 2, tasks: 10, rounds: 2, same: true})
		}
		for _, s := range all {
			s = s.of(peer.Peer{})
			s.patience, s.must = c.patience, c.atOnce
			check := checkOnce
			if c.atOnce > 0 {
				check = checkLimit
			}
			t.Run(c.name, func(t *testing.T) { judge(t, c.name == "right", check(open, s)) })
		}
	}
}

// leaker returns a function that leaves goroutines for the rest of the test. The test ends when they have ended: those that
// are just ending would hide as many from the next check that counts.
func leaker(t *testing.T) (leak func()) {
	before := runtime.NumGoroutine()
	forever := make(chan struct{})
	t.Cleanup(func() {
		close(forever)
		check.OK(t, checkGoroutines(before, patience))
	})
	return func() {
		for range 200 {
			go func() { <-forever }()
		}
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
			workers, run := make(chan struct{}, limit), runs(work)
			return semaphore.Open(limit+n-c.missing, peer.Work{Each: func(i int) {
				workers <- struct{}{}
				run(i)
				<-workers
			}})
		}
		t.Run(c.name, func(t *testing.T) {
			s := setting{limit: 2, producers: c.producers, tasks: 10, same: c.same, patience: c.patience}
			judge(t, c.missing == 0, checkQueued(open, s))
		})
	}
}

func TestCheckOfNewFindsALeak(t *testing.T) {
	s := setting{limit: 2, rounds: 2, patience: impatient}
	judge(t, true, checkNew(func(int) func() { return func() {} }, s))
	leak := leaker(t)
	judge(t, false, checkNew(func(int) func() { leak(); return func() {} }, s))
}
