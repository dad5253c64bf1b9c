package engine_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/64ed045f/weir/internal/engine"
)

func TestRingHoldsExactlyItsCapacityInOrder(t *testing.T) {
	for _, capacity := range []int{1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 100} {
		r := engine.NewRing(capacity, 12345)
		pushed, popped := 0, 0
		for lap := range 5 {
			for r.Len() < capacity {
				if o := r.Push(pushed); o != engine.Done {
					t.Fatalf("capacity %d, lap %d: push with %d held: outcome %d", capacity, lap, r.Len(), o)
				}
				pushed++
			}
			if o := r.Push(-1); o != engine.None {
				t.Fatalf("capacity %d, lap %d: push onto a full ring: outcome %d", capacity, lap, o)
			}
			// Leave some in, so that the laps begin at different slots.
			for r.Len() > lap%capacity {
				v, o := r.Pop()
				if o != engine.Done || v != popped {
					t.Fatalf("capacity %d, lap %d: popped %d (outcome %d), want %d", capacity, lap, v, o, popped)
				}
				popped++
			}
		}
		for r.Len() > 0 {
			r.Pop()
		}
		if _, o := r.Pop(); o != engine.None {
			t.Fatalf("capacity %d: pop off an empty ring: outcome %d", capacity, o)
		}
	}
}

func TestRingLetsOnlyTheLockHolderThroughAClosedGate(t *testing.T) {
	r := engine.NewRing(4, 0)
	r.Push(1)
	r.Gate(true)
	if o := r.Push(2); o != engine.Barred {
		t.Errorf("push through a closed gate: outcome %d", o)
	}
	if _, o := r.Pop(); o != engine.Barred {
		t.Errorf("pop through a closed gate: outcome %d", o)
	}
	if o := r.PushHeld(2); o != engine.Done {
		t.Errorf("push by the lock's holder: outcome %d", o)
	}
	if v, o := r.PopHeld(); o != engine.Done || v != 1 {
		t.Errorf("pop by the lock's holder: %d, outcome %d", v, o)
	}
	r.Gate(false)
	if v, o := r.Pop(); o != engine.Done || v != 2 {
		t.Errorf("pop after the gate opened: %d, outcome %d", v, o)
	}
}

func TestRingKeepsConsumersBeforeTheStop(t *testing.T) {
	r := engine.NewRing(4, 0)
	r.Push(1)
	r.StopAtTail()
	r.Push(2)
	if v, o := r.Pop(); o != engine.Done || v != 1 {
		t.Errorf("pop before the stop: %d, outcome %d", v, o)
	}
	if _, o := r.Pop(); o != engine.Barred {
		t.Errorf("pop at the stop: outcome %d", o)
	}
}

func TestRingPassesEachValueOnceAndInOrder(t *testing.T) {
	const producers, consumers = 3, 3
	each := 50_000
	if testing.Short() {
		each = 400
	}
	for _, capacity := range []int{1, 2, 3, 7, 64} {
		r := engine.NewRing(capacity, 0)
		var wg sync.WaitGroup
		for p := range producers {
			wg.Go(func() {
				for i := range each {
					for r.Push(p*each+i) != engine.Done {
						runtime.Gosched()
					}
				}
			})
		}
		seen := make([][]int, consumers)
		var left sync.WaitGroup
		left.Add(producers * each)
		stop := make(chan struct{})
		go func() { left.Wait(); close(stop) }()
		for c := range consumers {
			wg.Go(func() {
				for {
					if v, o := r.Pop(); o == engine.Done {
						seen[c] = append(seen[c], v)
						left.Done()
						continue
					}
					select {
					case <-stop:
						return
					default:
						runtime.Gosched()
					}
				}
			})
		}
		wg.Wait()
		times := make([][]int, producers)
		for p := range times {
			times[p] = make([]int, each)
		}
		for _, values := range seen {
			// What one consumer takes from one producer comes in order.
			last := [producers]int{-1, -1, -1}
			for _, v := range values {
				p, i := v/each, v%each
				if i <= last[p] {
					t.Fatalf("capacity %d: %d of producer %d after %d", capacity, i, p, last[p])
				}
				last[p] = i
				times[p][i]++
			}
		}
		for p := range times {
			for i, n := range times[p] {
				if n != 1 {
					t.Fatalf("capacity %d: value %d of producer %d came %d times", capacity, i, p, n)
				}
			}
		}
	}
}
