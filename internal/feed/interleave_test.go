package feed_test

import (
	"sync/atomic"
	"testing"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/feed"
	"github.com/64ed045f/weir/internal/step"
)

// Each scene is a program whose interleavings the explorer goes through. Here they run with the real
// scheduler, a few times each.
func TestInterleavings(t *testing.T) { step.Test(t, scenes...) }

var scenes = []step.Scene{
	scene("a result comes while the loop begins", 1, func(r *readers) {
		r.Go("task", func() { r.ends(0) })
		r.loop()
	}),
	scene("two results come at once", 2, func(r *readers) {
		r.Go("task", func() { r.ends(0) })
		r.Go("other task", func() { r.ends(1) })
		r.loop()
	}),
	scene("one task after another ends", 2, func(r *readers) {
		r.Go("worker", func() {
			r.ends(0)
			r.ends(1)
		})
		r.loop()
	}),
	scene("the body of the loop gives another task", 1, func(r *readers) {
		r.more = 1
		r.Go("task", func() { r.ends(0) })
		r.loop()
	}),
	scene("the body of the loop gives another task while others end", 2, func(r *readers) {
		r.more = 1
		r.Go("task", func() { r.ends(0) })
		r.Go("other task", func() { r.ends(1) })
		r.loop()
	}),
	scene("three results come while the loop deals with the first", 3, func(r *readers) {
		r.Go("task", func() { r.ends(0) })
		r.Go("worker", func() {
			r.ends(1)
			r.ends(2)
		})
		r.loop()
	}),
}

// readers are the tasks of a batch, the loop over their results, and the goroutine that waits for the end.
type readers struct {
	*step.Run
	intake  engine.Intake
	tally   engine.Tally
	feed    feed.Feed[result]
	results []*result
	given   atomic.Int64
	more    int // tasks that the body of the loop gives
	turn    chan struct{}
	end     chan struct{}
	over    chan struct{}
}

type result struct {
	feed.Item[result]
	seen bool // by the loop
}

func scene(name string, tasks int, body func(r *readers)) step.Scene {
	return step.Scene{Name: name, Quick: 2, Deep: 3, Free: 1, Body: func(run *step.Run) {
		r := &readers{Run: run, turn: make(chan struct{}, 1), end: make(chan struct{}, 1), over: make(chan struct{})}
		r.tally.Init(&r.intake)
		r.feed.Init(&r.tally, func(m *result) *feed.Item[result] { return &m.Item })
		for range tasks + 1 {
			r.results = append(r.results, new(result))
		}
		for range tasks {
			r.begins()
		}
		body(r)
		r.Join()
		for i := range r.given.Load() {
			r.Check(r.results[i].seen, "result %d was never seen", i)
		}
	}}
}

func (r *readers) begins() {
	_, ok := r.intake.Begin()
	r.Check(ok, "the batch has ended while the loop has something to do")
	r.given.Add(1)
}

// ends ends the task with a number.
func (r *readers) ends(i int) {
	if r.feed.Finish(r.results[i], &r.results[i].Item) {
		signal(r.turn)
	}
	r.tells(r.tally.End(1))
}

func (r *readers) tells(tell bool) {
	if tell {
		signal(r.end)
	}
}

func signal(turn chan struct{}) {
	select {
	case turn <- struct{}{}:
	default:
	}
}

// loop sees all results, as a range over them does.
func (r *readers) loop() {
	number, ok := r.intake.Begin()
	held := ok && r.tally.Enter()
	if ok {
		r.tells(r.tally.Withdraw(number))
	}
	r.Go("waiter", func() {
		for !r.tally.Seal() {
			<-r.end
		}
		close(r.over)
	})
	r.feed.Watch(held)
	for i := range r.given.Load() {
		if m := r.results[i]; m.Finished() {
			r.sees(m)
		}
	}
	for {
		m, tell := r.feed.Next()
		r.tells(tell)
		if m == nil {
			select {
			case <-r.turn:
				continue
			case <-r.over:
			}
			if m, _ := r.feed.Next(); m != nil {
				r.Failf("the batch has ended with results to come")
			}
			return
		}
		for ; m != nil; m = r.feed.After(m) {
			if !m.seen {
				r.sees(m)
			}
		}
	}
}

func (r *readers) sees(m *result) {
	r.Check(!m.seen, "a result is seen twice")
	m.seen = true
	if r.more > 0 {
		r.more--
		i := int(r.given.Load())
		r.begins()
		r.Go("another task", func() { r.ends(i) })
	}
}
