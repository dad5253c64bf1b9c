package peer_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/lab/internal/peer"
)

// The checks return an error, rather than fail a test, so that wrong_test.go can ask
// whether they find what is wrong. They use real time: test bubbles are beyond some
// of the libraries.

// An opener is a form of a peer whose tasks have an index, even if it is always 0.
type opener func(limit int, task func(i int)) peer.Runner

// unnumbered returns an opener of tasks that are all the same.
func unnumbered(open func(limit int, task func()) peer.Runner) opener {
	return func(limit int, task func(i int)) peer.Runner { return open(limit, func() { task(0) }) }
}

// A setting is how a check uses a peer.
type setting struct {
	limit, producers, tasks, rounds int

	same     bool          // whether all tasks are one function
	patience time.Duration // for what must come: far more than it can need

	must, may int // how many tasks must come to run at once, and how many may
	together  int // how many producers there are if only as many tasks as the limit come

	gated     bool // whether the first tasks wait for others to begin
	overtaken bool // whether task 1 ends before task 0
}

func (s setting) String() string {
	return fmt.Sprintf("limit=%d/producers=%d/tasks=%d/same=%t", s.limit, s.producers, s.tasks, s.same)
}

func (s setting) groupWork(task func(ctx context.Context, i int) error) peer.GroupWork {
	if s.same {
		return peer.GroupWork{Same: func(ctx context.Context) error { return task(ctx, 0) }}
	}
	return peer.GroupWork{Each: task}
}

// await runs f, and complains if it takes too long. f is then left to itself.
func (s setting) await(what string, f func()) error { return s.receive(what, begin(f)) }

// begin runs f in a goroutine of its own.
func begin(f func()) (ended <-chan struct{}) {
	end := make(chan struct{})
	go func() {
		defer close(end)
		f()
	}()
	return end
}

func (s setting) receive(what string, from <-chan struct{}) error {
	late := time.NewTimer(s.patience)
	defer late.Stop()
	select {
	case <-from:
		return nil
	case <-late.C:
		return fmt.Errorf("%s: nothing after %v", what, s.patience)
	}
}

// submit hands over the tasks from lo to hi in equal parts, one from each producer,
// and returns when all Submits have.
func (s setting) submit(to peer.Runner, lo, hi int) {
	var live sync.WaitGroup
	n := hi - lo
	for k := range s.producers {
		live.Go(func() { to.Submit(lo+k*n/s.producers, lo+(k+1)*n/s.producers) })
	}
	live.Wait()
}

// checkOnce proves that each task of each round ran exactly once, and before Wait
// returned; and that no goroutine is left after Close. The race detector reports it if Wait does not wait for the memory
// of the tasks as well.
func checkOnce(open opener, s setting) error {
	before := runtime.NumGoroutine()
	t := tally{same: s.same, ran: make([]int, s.tasks)}
	var task atomic.Pointer[func(i int)]
	task.Store(new(t.run)) // until there is a round
	r := open(s.limit, func(i int) { (*task.Load())(i) })
	for round := range s.rounds {
		task.Store(new(s.overtake(t.run)))
		var failed error
		err := s.await("submit and wait", func() {
			s.submit(r, 0, s.tasks)
			failed = r.Wait()
		})
		if err != nil {
			return err
		}
		if err := errors.Join(failed, t.check(round+1)); err != nil {
			return fmt.Errorf("after Wait of round %d: %w", round, err)
		}
	}
	if err := s.await("close", r.Close); err != nil {
		return err
	}
	if err := checkGoroutines(before, s.patience); err != nil {
		return err
	}
	if err := t.check(s.rounds); err != nil {
		return fmt.Errorf("after Close: %w", err)
	}
	return nil
}

// overtake lets task 1 end before task 0, where both may run at once: a library that
// takes values as they come would otherwise have them in order by chance.
func (s setting) overtake(task func(i int)) func(i int) {
	if !s.overtaken || s.limit < 2 || s.tasks < 2 {
		return task
	}
	ended := make(chan struct{})
	end := sync.OnceFunc(func() { close(ended) })
	return func(i int) {
		if i == 0 {
			<-ended
		}
		task(i)
		if i == 1 {
			end()
		}
	}
}

// A tally counts how often each task ran.
type tally struct {
	same    bool  // all tasks are one, and only counted together
	ran     []int // each for its task alone
	total   atomic.Int64
	strange atomic.Int64 // tasks with an index that no producer handed over
}

func (t *tally) run(i int) {
	t.total.Add(1)
	switch {
	case t.same:
	case i < 0 || i >= len(t.ran):
		t.strange.Add(1)
	default:
		t.ran[i]++
	}
}

func (t *tally) check(times int) error {
	if n := t.strange.Load(); n > 0 {
		return fmt.Errorf("%d tasks had an index that is none", n)
	}
	if got, want := t.total.Load(), int64(times*len(t.ran)); got != want {
		return fmt.Errorf("%d tasks ran, want %d", got, want)
	}
	if i := slices.IndexFunc(t.ran, func(n int) bool { return n != times }); i >= 0 && !t.same {
		return fmt.Errorf("task %d ran %d times, want %d", i, t.ran[i], times)
	}
	return nil
}

// checkGoroutines waits until no more goroutines live than before: the goroutines of some libraries
// end by themselves.
func checkGoroutines(before int, patience time.Duration) error {
	for until := time.Now().Add(patience); ; runtime.Gosched() {
		n := runtime.NumGoroutine()
		if n <= before {
			return nil
		}
		if time.Now().After(until) {
			return fmt.Errorf("%d goroutines left", n-before)
		}
	}
}

// checkLimit proves that as many tasks come to run at once as must, and never more
// than may. The first tasks block until must have begun and others had time to.
func checkLimit(open opener, s setting) error {
	var live check.Gauge
	gate := make(chan struct{})
	begun := make(chan struct{}, s.tasks)
	r := open(s.limit, func(int) {
		live.Enter()
		begun <- struct{}{}
		<-gate
		runtime.Gosched()
		live.Leave()
	})

	var failed, returned error
	ended := begin(func() {
		s.submit(r, 0, s.tasks)
		returned = r.Wait()
	})
	for k := range s.must {
		if failed = s.receive(fmt.Sprintf("start of task %d of %d at once", k+1, s.must), begun); failed != nil {
			break
		}
	}
	time.Sleep(time.Millisecond) // of real time: some of the libraries crash in a test bubble
	close(gate)
	if err := s.receive("submit and wait", ended); err != nil {
		return errors.Join(failed, err)
	}
	r.Close()
	if got := int(live.Peak.Load()); got > s.may {
		return fmt.Errorf("%d tasks ran at once, want at most %d", got, s.may)
	}
	return errors.Join(failed, returned)
}

// checkQueued proves that Submit never waits: while all workers are blocked, s.tasks
// more are handed over.
func checkQueued(p peer.Peer, s setting) error {
	t := tally{same: true, ran: make([]int, s.limit+s.tasks)}
	gate := make(chan struct{})
	begun := make(chan struct{}, s.limit+s.tasks)
	r := p.Queued(s.limit, s.tasks, func() {
		begun <- struct{}{}
		<-gate
		t.run(0)
	})

	s.submit(r, 0, s.limit)
	var failed error
	for range s.limit {
		if failed = s.receive("start of the first tasks", begun); failed != nil {
			break
		}
	}
	submitted := begin(func() { s.submit(r, s.limit, s.limit+s.tasks) })
	if failed == nil {
		failed = s.receive("submit while all workers are blocked", submitted)
	}
	close(gate)
	var returned error
	err := s.await("wait and close", func() {
		<-submitted
		returned = r.Wait()
		r.Close()
	})
	if err != nil {
		return errors.Join(failed, err)
	}
	return errors.Join(failed, returned, t.check(1))
}

// checkNew proves that a pool that nothing used leaves no goroutine.
func checkNew(p peer.Peer, s setting) error {
	before := runtime.NumGoroutine()
	for range s.rounds {
		if err := s.await("end of an unused pool", p.New(s.limit)); err != nil {
			return err
		}
	}
	return checkGoroutines(before, s.patience)
}
