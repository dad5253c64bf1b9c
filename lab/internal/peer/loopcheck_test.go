package peer_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/lab/internal/peer"
)

type looper func(limit int, items []float64, body peer.Body) (run func())

// checkLoop proves that the body was called exactly once for each item, in its place,
// each time the loop was run.
func checkLoop(open looper, s setting) error {
	before := runtime.NumGoroutine()
	items := make([]float64, s.tasks)
	var t tally
	run := open(s.limit, items, bodyOf(func(item *float64) {
		i := int(*item)
		t.run(i)
		*item = float64(i) + 0.5
	}))
	for round := range s.rounds {
		for i := range items {
			items[i] = float64(i)
		}
		t = tally{ran: make([]atomic.Int32, s.tasks)}
		if err := s.await("loop", run); err != nil {
			return err
		}
		if err := t.check(1, false); err != nil {
			return fmt.Errorf("after round %d: %w", round, err)
		}
		for i, item := range items {
			if want := float64(i) + 0.5; item != want {
				return fmt.Errorf("item %d is %v after round %d, want %v", i, item, round, want)
			}
		}
	}
	return checkGoroutines(before, s.patience)
}

func bodyOf(item func(*float64)) peer.Body {
	return peer.Body{Item: item, Try: func(_ context.Context, at *float64) error {
		item(at)
		return nil
	}}
}

// loopAsRunner lets a loop pass the check of the limit, with one producer. Before
// the tasks comes an item that takes its time: par.Range begins alone, until it has seen
// that the items are worth company.
func loopAsRunner(run looper) opener {
	return func(limit int, work peer.Work) peer.Runner {
		return inOneGo(func(lo, hi int) {
			items := []float64{-1}
			for i := lo; i < hi; i++ {
				items = append(items, float64(i))
			}
			run(limit, items, bodyOf(func(item *float64) {
				if *item < 0 {
					time.Sleep(time.Millisecond)
					return
				}
				work.Each(int(*item))
			}))()
		})
	}
}

// inOneGo is a runner whose Submit hands tasks over and waits for them.
type inOneGo func(lo, hi int)

func (f inOneGo) Submit(lo, hi int) { f(lo, hi) }
func (inOneGo) Wait()               {}
func (inOneGo) Close()              {}
