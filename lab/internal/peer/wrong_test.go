package peer_test

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/lab/internal/peer"
)

// Two peers that are right, and need no library.
var (
	plain     = peer.Find(peer.Go)
	semaphore = peer.Find("semaphore")
)

// bent is a runner without a library, which is right as long as nothing is replaced.
type bent struct {
	peer.Runner
	run            func()           // runs a task
	submit         func(lo, hi int) // in place of its own
	waited, closed func()           // at the end of Wait and Close
}

func (b *bent) Submit(lo, hi int) { b.submit(lo, hi) }
func (b *bent) Wait() error       { defer b.waited(); return b.Runner.Wait() }
func (b *bent) Close()            { b.closed() }

// runner is a peer whose Open is right except for what bend does, and for the limit, unless that is 0.
func runner(limit int, bend func(b *bent)) peer.Peer {
	return peer.Peer{Open: func(right int, task func()) peer.Runner {
		b := &bent{Runner: semaphore.Open(cmp.Or(limit, right), task), run: task, waited: func() {}, closed: func() {}}
		b.submit = b.Runner.Submit
		bend(b)
		return b
	}}
}

// around is work whose tasks are called by call.
func around(work peer.GroupWork, call func(ctx context.Context, task func(context.Context) error) error) peer.GroupWork {
	if work.Same != nil {
		return peer.GroupWork{Same: func(ctx context.Context) error { return call(ctx, work.Same) }}
	}
	return peer.GroupWork{Each: func(ctx context.Context, i int) error {
		return call(ctx, func(ctx context.Context) error { return work.Each(ctx, i) })
	}}
}

// answering is a runner whose Wait returns what answer does.
type answering struct {
	peer.Runner
	answer func(err error) error
}

func (a answering) Wait() error { return a.answer(a.Runner.Wait()) }

// narrow is a peer whose queue has that many places too few. A goroutine that waits for one of the workers is a place in the queue.
func narrow(missing int) peer.Peer {
	return peer.Peer{Queued: func(limit, n int, task func()) peer.Runner {
		workers := make(chan struct{}, limit)
		return semaphore.Open(limit+n-missing, func() {
			workers <- struct{}{}
			task()
			<-workers
		})
	}}
}

func sorting(sort func(items []int)) peer.Peer {
	return peer.Peer{Sort: func(_ int, items []int) { sort(items) }}
}

// impatient is for checks that find out by waiting in vain.
const impatient = 50 * time.Millisecond

// Each test must find what is wrong with peers that are bent. That the tests accept what is right shows in the peers without a library.
func TestTheTestsFindWhatIsWrong(t *testing.T) {
	leak := leaker(t)
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	for _, c := range []struct {
		name string
		by   string // the tests that must find it, in each setting
		peer peer.Peer

		impatient bool // the tests find it by waiting in vain
		atOnce    int  // how many tasks the test of the limit waits for
		differ    bool // it shows only in tasks that differ
	}{
		{name: "drops one", by: "once", peer: runner(0, func(b *bent) { b.submit = func(lo, hi int) { b.Runner.Submit(lo, hi-1) } })},
		{name: "runs one twice", by: "once", peer: runner(0, func(b *bent) { b.waited = func() { b.run() } })},
		{name: "runs the next in place of one", by: "once", differ: true, peer: peer.Peer{Group: func(ctx context.Context, _ int, work peer.GroupWork) peer.Runner {
			return semaphore.Group(ctx, 1, peer.GroupWork{Each: func(ctx context.Context, i int) error { return work.Each(ctx, max(i, 1)) }})
		}}},
		{name: "invents an index", by: "once", differ: true, peer: peer.Peer{Group: func(ctx context.Context, limit int, work peer.GroupWork) peer.Runner {
			return semaphore.Group(ctx, limit, peer.GroupWork{Each: func(ctx context.Context, i int) error { return work.Each(ctx, i-1) }})
		}}},
		{name: "does nothing in the second round", by: "once", peer: runner(0, func(b *bent) {
			b.waited = func() { b.submit = func(int, int) {} }
		})},
		{name: "runs the last only after Wait", by: "once", peer: runner(0, func(b *bent) {
			b.submit = func(lo, hi int) { b.Runner.Submit(lo, min(hi, 9)) }
			b.closed = func() { b.run() }
		})},
		{name: "runs one more in Close", by: "once", peer: runner(0, func(b *bent) { b.closed = func() { b.run() } })},
		{name: "never returns from Wait", by: "once", impatient: true, peer: runner(0, func(b *bent) { b.waited = func() { <-forever } })},
		{name: "leaves goroutines", by: "once", impatient: true, peer: runner(0, func(b *bent) { b.closed = leak })},
		{name: "exceeds the limit", by: "limit", atOnce: 3, peer: runner(3, func(*bent) {})},
		{name: "has no limit", by: "limit", atOnce: 3, peer: runner(1000, func(*bent) {})},
		{name: "stays below the limit", by: "limit", atOnce: 2, impatient: true, peer: runner(1, func(*bent) {})},

		{name: "has a queue that is one too small", by: "queued", impatient: true, peer: narrow(1)},
		{name: "has no queue", by: "queued", impatient: true, peer: narrow(10)},
		{name: "leaves goroutines of a new pool", by: "new", impatient: true, peer: peer.Peer{New: func(int) func() { leak(); return func() {} }}},

		{name: "makes its context of another", by: "once", peer: peer.Peer{Group: func(_ context.Context, limit int, work peer.GroupWork) peer.Runner {
			return semaphore.Group(context.Background(), limit, work)
		}}},
		{name: "does not end with its parent", by: "parent", impatient: true, peer: peer.Peer{Group: func(ctx context.Context, limit int, work peer.GroupWork) peer.Runner {
			return semaphore.Group(context.WithoutCancel(ctx), limit, work)
		}}},
		{name: "keeps the context of the first round", by: "once", peer: peer.Peer{Group: func(ctx context.Context, limit int, work peer.GroupWork) peer.Runner {
			var first context.Context
			var once sync.Once
			return semaphore.Group(ctx, limit, around(work, func(ctx context.Context, task func(context.Context) error) error {
				once.Do(func() { first = ctx })
				return task(first)
			}))
		}}},
		{name: "cancels no task", by: "error", impatient: true, peer: peer.Peer{Group: func(ctx context.Context, limit int, work peer.GroupWork) peer.Runner {
			return semaphore.Group(ctx, limit, around(work, func(ctx context.Context, task func(context.Context) error) error {
				return task(context.WithoutCancel(ctx))
			}))
		}}},
		{name: "loses the error", by: "error parent", peer: peer.Peer{Group: func(ctx context.Context, limit int, work peer.GroupWork) peer.Runner {
			return answering{semaphore.Group(ctx, limit, work), func(error) error { return nil }}
		}}},
		{name: "returns the last error", by: "error", peer: peer.Peer{Group: func(ctx context.Context, limit int, work peer.GroupWork) peer.Runner {
			var last atomic.Pointer[error]
			return answering{semaphore.Group(ctx, limit, around(work, func(ctx context.Context, task func(context.Context) error) error {
				err := task(ctx)
				last.Store(&err)
				return err
			})), func(error) error { return *last.Load() }}
		}}},
		{name: "returns an error for nothing", by: "once", peer: peer.Peer{Group: func(ctx context.Context, limit int, work peer.GroupWork) peer.Runner {
			return answering{semaphore.Group(ctx, limit, work), func(error) error { return context.Canceled }}
		}}},

		{name: "visits a copy", by: "once", peer: peer.Peer{Loop: func(limit int, items []float64, body peer.Body) func() {
			return func() { plain.Loop(limit, slices.Clone(items), body)() }
		}}},
		{name: "runs when it is made", by: "once", peer: peer.Peer{Loop: func(_ int, items []float64, body peer.Body) func() {
			plain.Loop(1, items, body)()
			return func() {}
		}}},
		{name: "takes values as they come", by: "once", peer: peer.Peer{Collect: func(limit, n int, fn func(int) (int, error)) ([]int, error) {
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
		}}},
		{name: "drops the last value", by: "once", peer: peer.Peer{Collect: func(limit, n int, fn func(int) (int, error)) ([]int, error) {
			values, err := plain.Collect(limit, n, fn)
			return values[:n-1], err
		}}},
		{name: "collects an error for nothing", by: "once", peer: peer.Peer{Collect: func(limit, n int, fn func(int) (int, error)) ([]int, error) {
			values, err := plain.Collect(limit, n, fn)
			return values, errors.Join(err, errors.New("nothing"))
		}}},
		{name: "collects no errors", by: "failed", peer: peer.Peer{Collect: func(limit, n int, fn func(int) (int, error)) ([]int, error) {
			values, _ := plain.Collect(limit, n, fn)
			return values, nil
		}}},
		{name: "consumes values as they come", by: "once", peer: peer.Peer{Stream: func(limit, n int, fn func(int) int, consume func(int)) {
			var mu sync.Mutex
			plain.Stream(limit, n, func(i int) int {
				value := fn(i)
				mu.Lock()
				defer mu.Unlock()
				consume(value)
				return value
			}, func(int) {})
		}}},
		{name: "consumes one twice", by: "once", peer: peer.Peer{Stream: func(limit, n int, fn func(int) int, consume func(int)) {
			plain.Stream(limit, n, fn, func(value int) {
				consume(value)
				if value == valueOf(4) {
					consume(value)
				}
			})
		}}},
		{name: "consumes several at once", by: "once", peer: peer.Peer{Stream: func(limit, n int, fn func(int) int, consume func(int)) {
			var live sync.WaitGroup
			plain.Stream(limit, n, fn, func(value int) { live.Go(func() { consume(value) }) })
			live.Wait()
		}}},
		{name: "consumes at the end", by: "flow", impatient: true, peer: peer.Peer{Stream: func(limit, n int, fn func(int) int, consume func(int)) {
			var values []int
			plain.Stream(limit, n, fn, func(value int) { values = append(values, value) })
			for _, value := range values {
				consume(value)
			}
		}}},

		{name: "sorts a copy", by: "sort", peer: sorting(func(items []int) { slices.Sort(slices.Clone(items)) })},
		{name: "does not sort the last", by: "sort", peer: sorting(func(items []int) { slices.Sort(items[:max(0, len(items)-1)]) })},
		{name: "loses one", by: "sort", peer: sorting(func(items []int) {
			slices.Sort(items)
			if len(items) > 5 {
				items[5] = items[4]
			}
		})},
		{name: "does not merge", by: "sort", peer: sorting(func(items []int) {
			slices.Sort(items[:len(items)/2])
			slices.Sort(items[len(items)/2:])
		})},
		{name: "leaves goroutines of a sort", by: "sort", impatient: true, peer: sorting(func(items []int) { leak(); slices.Sort(items) })},
	} {
		found := 0
		for _, test := range tests {
			if !has(c.peer, test.field) || !slices.Contains(strings.Fields(c.by), test.name) {
				continue
			}
			all := []setting{{limit: 2, producers: 1, tasks: 10, rounds: 2}, {limit: 2, producers: 2, tasks: 10, rounds: 2}}
			if !c.differ {
				all = append(all, all...)
				all[0].same, all[1].same = true, true
			}
			for _, s := range test.fitting(all) {
				found++
				s = s.of(peer.Peer{})
				s.must = cmp.Or(c.atOnce, s.must)
				if c.impatient {
					s.patience = impatient
				}
				t.Run(c.name+"/"+test.name, func(t *testing.T) {
					err := test.check(c.peer, s)
					t.Log("found:", err)
					if err == nil {
						t.Error("the test has not found what is wrong")
					}
				})
			}
		}
		if found < len(strings.Fields(c.by)) {
			t.Errorf("%s: not all of the tests %q ran", c.name, c.by)
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
