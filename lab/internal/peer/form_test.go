package peer_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/lab/internal/peer"
)

// A form is one of the ways in which a peer runs tasks, seen as a runner: the checks
// of runners hold for all of them.
type form struct {
	name   string // the field of [peer.Peer]
	runner func(p peer.Peer, s setting) opener

	same    bool // the tasks are all the same
	alone   bool // there is one producer, and the tasks differ
	ordered bool // the values of the tasks come in their order
	limited bool // it holds the limit also where [peer.Peer.Unlimited] says that Open does not
}

var forms = []form{
	{name: "Open", runner: func(p peer.Peer, _ setting) opener { return unnumbered(p.Open) }, same: true},
	{name: "Set", runner: func(p peer.Peer, _ setting) opener { return unnumbered(p.Set) }, same: true},
	{name: "Queued", runner: func(p peer.Peer, s setting) opener {
		return unnumbered(func(limit int, task func()) peer.Runner { return p.Queued(limit, s.tasks, task) })
	}, same: true},
	{name: "Group", runner: groupAsRunner},
	{name: "Loop", runner: loopAsRunner, alone: true, limited: true},
	{name: "Collect", runner: collectAsRunner, alone: true, ordered: true},
	{name: "Stream", runner: streamAsRunner, alone: true, ordered: true, limited: true},
}

// has says whether the peer has the field of that name, or lacks it.
func has(p peer.Peer, field string) bool { return !reflect.ValueOf(p).FieldByName(field).IsNil() }

func (f form) checkOnce(p peer.Peer, s setting) error {
	s.overtaken = f.ordered
	return checkOnce(f.runner(p, s), s)
}

func (f form) checkLimit(p peer.Peer, s setting) error {
	s.gated = true
	if p.Unlimited && f.limited {
		s.must, s.may = min(s.limit, s.tasks), s.limit
	}
	return checkLimit(f.runner(p, s), s)
}

// adapted is a form as a runner. Its Wait returns what only this form can do wrong.
type adapted struct {
	submit  func(lo, hi int) error
	wait    func() error // nil if Submit waits
	close   func()       // nil if there is nothing to close
	against atomic.Pointer[error]
}

func (a *adapted) complain(err error) {
	if err != nil {
		a.against.CompareAndSwap(nil, &err)
	}
}

func (a *adapted) Submit(lo, hi int) { a.complain(a.submit(lo, hi)) }

func (a *adapted) Wait() error {
	if a.wait != nil {
		a.complain(a.wait())
	}
	if err := a.against.Load(); err != nil {
		return *err
	}
	return nil
}

func (a *adapted) Close() {
	if a.close != nil {
		a.close()
	}
}

type parentKey struct{}

// groupAsRunner complains unless the tasks get a context that is alive and made from the
// parent, and no error comes out.
func groupAsRunner(p peer.Peer, s setting) opener {
	return func(limit int, run func(i int)) peer.Runner {
		a := new(adapted)
		task := func(ctx context.Context, i int) error {
			if ctx.Value(parentKey{}) != true {
				a.complain(errors.New("the context is not made from the parent"))
			}
			if err := ctx.Err(); err != nil {
				a.complain(fmt.Errorf("the context of a task: %w", err))
			}
			run(i)
			return nil
		}
		parent := context.WithValue(context.Background(), parentKey{}, true)
		g := p.Group(parent, limit, s.groupWork(task))
		a.submit = func(lo, hi int) error { g.Submit(lo, hi); return nil }
		a.wait, a.close = g.Wait, g.Close
		return a
	}
}

// loopAsRunner makes a loop once, and runs it in each round. It complains unless the body
// got each item in its place.
func loopAsRunner(p peer.Peer, s setting) opener {
	open := p.Loop
	if s.gated {
		open = slowStart(p)
	}
	return func(limit int, task func(i int)) peer.Runner {
		items := make([]float64, s.tasks)
		run := open(limit, items, bodyOf(func(item *float64) {
			i := int(*item)
			task(i)
			*item = float64(i) + 0.5
		}))
		return &adapted{submit: func(int, int) error {
			for i := range items {
				items[i] = float64(i)
			}
			run()
			for i, item := range items {
				if want := float64(i) + 0.5; item != want {
					return fmt.Errorf("item %d is %v, want %v", i, item, want)
				}
			}
			return nil
		}}
	}
}

// slowStart lets an item that takes its time come before the others: par.Range begins alone, until it has
// seen that the items are worth company.
func slowStart(p peer.Peer) func(limit int, items []float64, body peer.Body) (run func()) {
	return func(limit int, items []float64, body peer.Body) func() {
		numbers := []float64{-1}
		for i := range items {
			numbers = append(numbers, float64(i))
		}
		return p.Loop(limit, numbers, bodyOf(func(number *float64) {
			if *number < 0 {
				time.Sleep(time.Millisecond)
				return
			}
			body.Item(&items[int(*number)])
		}))
	}
}

func bodyOf(item func(*float64)) peer.Body {
	return peer.Body{Item: item, Try: func(_ context.Context, at *float64) error {
		item(at)
		return nil
	}}
}

// valueOf is what task i returns: never the zero value of an empty place.
func valueOf(i int) int { return 3*i + 1 }

func checkValues(values []int, n int) error {
	if len(values) != n {
		return fmt.Errorf("%d values, want %d", len(values), n)
	}
	for i, value := range values {
		if value != valueOf(i) {
			return fmt.Errorf("value %d is %d, want %d", i, value, valueOf(i))
		}
	}
	return nil
}

// collectAsRunner complains unless the values are there, in order, and no error.
func collectAsRunner(p peer.Peer, _ setting) opener {
	return func(limit int, task func(i int)) peer.Runner {
		return &adapted{submit: func(lo, hi int) error {
			values, err := p.Collect(limit, hi-lo, func(i int) (int, error) {
				task(lo + i)
				return valueOf(i), nil
			})
			return errors.Join(err, checkValues(values, hi-lo))
		}}
	}
}

// streamAsRunner complains unless the values were consumed one at a time and in order.
func streamAsRunner(p peer.Peer, _ setting) opener {
	return func(limit int, task func(i int)) peer.Runner {
		return &adapted{submit: func(lo, hi int) error {
			var mu sync.Mutex
			var values []int
			var consuming, atOnce atomic.Int32
			p.Stream(limit, hi-lo, func(i int) int {
				task(lo + i)
				return valueOf(i)
			}, func(value int) {
				if consuming.Add(1) > 1 {
					atOnce.Add(1)
				}
				mu.Lock()
				values = append(values, value)
				mu.Unlock()
				if value == valueOf(0) {
					time.Sleep(time.Millisecond) // for another to come
				}
				consuming.Add(-1)
			})
			if n := atOnce.Load(); n > 0 {
				return fmt.Errorf("%d values were consumed while another was", n)
			}
			return checkValues(values, hi-lo)
		}}
	}
}
