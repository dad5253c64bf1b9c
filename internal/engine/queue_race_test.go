package engine_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/internal/engine"
)

// One submitter has the lock, and another takes the last place by the fast path after the first
// has seen that it is free.
func TestQueueIsNotOverfilledByAFastPush(t *testing.T) {
	q := engine.NewQueue(1)
	if q.Push(0) != engine.Done {
		t.Fatal("an empty queue has no room")
	}
	var over atomic.Bool
	var fast sync.WaitGroup
	fast.Go(func() {
		for !over.Load() {
			q.PushFast(1)
		}
	})
	defer fast.Wait()
	defer over.Store(true)
	for range check.Scale(3_000_000, 300_000) {
		q.Pop()
		q.Push(2)
		if n := q.Len(); n > 1 {
			t.Fatalf("the queue for 1 task holds %d", n)
		}
	}
}
