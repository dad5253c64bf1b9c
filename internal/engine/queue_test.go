package engine_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/64ed045f/weir/internal/engine"
)

// A queue must behave as a slice of bounded length, whichever of its two kinds
// of push is used and however its chain of rings grows, shrinks and is released.
func TestQueueIsAFIFOOfExactlyItsCapacity(t *testing.T) {
	for _, capacity := range []int{0, 1, 2, 31, 32, 33, 127, 128, 129, 1000, 5000, 20000, math.MaxInt} {
		rng := rand.New(rand.NewPCG(1, uint64(capacity)))
		q := engine.NewQueue(capacity)
		var model []int
		next, lastEnd := 0, uint64(0)
		for step := range 200 {
			// Alternate between floods and droughts of random size.
			for range rng.IntN(300) * (1 + step%17) {
				push := q.Push
				if rng.IntN(2) == 0 && q.PushFast(next) == engine.Done {
					push = func(int) engine.Outcome { return engine.Done }
				}
				if full := len(model) >= capacity; full != (push(next) != engine.Done) {
					t.Fatalf("capacity %d, step %d: push with %d queued: full is %v", capacity, step, len(model), full)
				} else if full {
					break
				}
				model = append(model, next)
				next++
			}
			for range rng.IntN(300) * (1 + (step+8)%17) {
				v, ok := q.Pop()
				if ok != (len(model) > 0) {
					t.Fatalf("capacity %d, step %d: pop with %d queued: %v", capacity, step, len(model), ok)
				}
				if !ok {
					break
				}
				if v != model[0] {
					t.Fatalf("capacity %d, step %d: popped %d, want %d", capacity, step, v, model[0])
				}
				model = model[1:]
			}
			if rng.IntN(5) == 0 {
				q.Release()
			}
			if q.Len() != len(model) || q.Ready() != (len(model) > 0) || q.Accepted() != uint64(next) {
				t.Fatalf("capacity %d, step %d: len %d, ready %v, accepted %d; want %d of %d", capacity, step, q.Len(), q.Ready(), q.Accepted(), len(model), next)
			}
			begin, end := q.Span()
			if begin > end || end < lastEnd || (begin == end) != (len(model) == 0) {
				t.Fatalf("capacity %d, step %d: %d queued between positions %d and %d, after %d", capacity, step, len(model), begin, end, lastEnd)
			}
			lastEnd = end
		}
	}
}

func TestQueueGivesMemoryBack(t *testing.T) {
	q := engine.NewQueue(math.MaxInt)
	const flood = 1_000_000
	for i := range flood {
		q.Push(i)
	}
	if q.Slots() < flood {
		t.Fatalf("%d slots hold %d tasks", q.Slots(), flood)
	}
	for range flood {
		q.Pop()
	}
	q.Pop()
	if most := 4096; q.Slots() > most {
		t.Errorf("%d slots are left of a flood, want at most %d", q.Slots(), most)
	}
	q.Release()
	if q.Slots() != 0 {
		t.Errorf("%d slots are left of an unused queue", q.Slots())
	}
}

// A bounded queue ends in one ring of its capacity, from which on it does not
// allocate.
func TestQueueSettlesInOneRing(t *testing.T) {
	const capacity = 1000
	q := engine.NewQueue(capacity)
	for range 20 {
		for q.Push(0) == engine.Done {
		}
		for range capacity {
			q.Pop()
		}
	}
	q.Push(0)
	if q.Slots() != capacity {
		t.Errorf("%d slots, want %d", q.Slots(), capacity)
	}
	if allocs := testing.AllocsPerRun(10_000, func() { q.Push(0); q.Pop() }); allocs != 0 {
		t.Errorf("%v allocations for a push and a pop", allocs)
	}
}

// The void tasks are gone, the others keep their order, and so do positions between them.
func TestQueueClosesUpOnWhatIsVoid(t *testing.T) {
	for _, every := range []int{1, 2, 3, 400, 1000} {
		q := engine.NewQueue(math.MaxInt)
		var at []uint64
		for i := range 500 {
			_, end := q.Span()
			at = append(at, end)
			q.Push(i)
		}
		for range 100 {
			q.Pop()
		}
		void := func(v int) bool { return v%every == 0 }
		behind := make([]*uint64, 0, 400)
		var left []int
		for i := 100; i < 500; i++ {
			behind = append(behind, &at[i])
			if !void(i) {
				left = append(left, i)
			}
		}
		removed, ok := q.Compact(void, behind...)
		if want := 400 - len(left); !ok || removed != want || q.Len() != len(left) {
			t.Fatalf("every %d: closed up on %d (%v), want %d; %d are left, want %d", every, removed, ok, want, q.Len(), len(left))
		}
		q.Push(500)
		for _, want := range append(left, 500) {
			begin, _ := q.Span()
			for i := 100; i < 500; i++ {
				if before := at[i] > begin; before != (want < i) {
					t.Fatalf("every %d: is %d before the position of %d: %v", every, want, i, before)
				}
			}
			if v, ok := q.Pop(); !ok || v != want {
				t.Fatalf("every %d: popped %d (%v), want %d", every, v, ok, want)
			}
		}
	}
}
