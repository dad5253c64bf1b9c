package errgroup_test

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"
	"weak"

	"github.com/64ed045f/weir/errgroup"
	"github.com/64ed045f/weir/internal/check"
)

// Producers write tail, consumers write head: on one cache line they would hinder
// each other. A small group should not be larger than it must.
func TestLayout(t *testing.T) {
	check.Equal(t, "offset of tail", errgroup.TailOffset, errgroup.CacheLine)
	check.Equal(t, "offset of head", errgroup.HeadOffset, 2*errgroup.CacheLine)
	check.Equal(t, "size of a ring", errgroup.RingHeader, 3*errgroup.CacheLine)
	if unsafe.Sizeof(uintptr(0)) == 8 && !check.Race { // which needs to know more of it
		check.Equal(t, "size of a group", unsafe.Sizeof(errgroup.Group{}), 64)
	}
}

// Whoever gives up a search leaves nothing in the ring, at whatever moment others push.
func TestNothingIsLeftBehindByASearch(t *testing.T) {
	check.Within(time.Minute, func() {
		r := errgroup.NewRing(4)
		searcher := make(chan struct{})
		popped := 0
		var searching sync.WaitGroup
		searching.Go(func() {
			for range searcher {
				for {
					if r.Pop() != nil {
						popped++
					} else if r.GiveUp() {
						break
					}
				}
			}
		})
		pushed := 0
		for round := range check.Scale(1_000_000, 100_000) {
			switch in, nobody := r.Push(succeed); {
			case in:
				pushed++
			case nobody:
				if r.Pop() != nil {
					t.Errorf("round %d: nobody searches, but there is a function in the ring", round)
					pushed--
				}
				searcher <- struct{}{}
			default: // full
				runtime.Gosched()
			}
		}
		close(searcher)
		searching.Wait()
		check.Equal(t, "popped", popped, pushed)
	})
}

func TestARingIsMadeWhenItPaysAndLargeOnesAreNotKept(t *testing.T) {
	for _, limit := range []int{-1, 20_000} {
		synctest.Test(t, func(t *testing.T) {
			g := limited(limit)
			for range errgroup.Before {
				g.Go(succeed)
			}
			check.OK(t, g.Wait())
			check.Equal(t, "ring of a small group", errgroup.RingOf(g), 0)
			g.Go(succeed)
			check.OK(t, g.Wait())
			check.Equal(t, "ring of a larger group", errgroup.RingOf(g), errgroup.FirstRing)

			// The first of them blocks, and so does everybody who takes the others:
			// they are in rings, or blocked, when the last has been added.
			for range 3 {
				v := check.NewValve()
				for range 10_000 {
					g.Go(v.Try)
				}
				synctest.Wait()
				check.Equal(t, "running", v.Running(), 10_000)
				v.Open()
				check.OK(t, g.Wait())
				if n := errgroup.RingOf(g); n > errgroup.KeptRing {
					t.Errorf("a ring for %d functions is kept", n)
				}
			}
		})
	}
}

func TestFinishedFunctionsAreNotKept(t *testing.T) {
	for _, limit := range []int{-1, 1, 2, 100} {
		g := limited(limit)
		var kept []weak.Pointer[[1 << 10]int]
		for range 2 * errgroup.Before {
			large := new([1 << 10]int)
			kept = append(kept, weak.Make(large))
			g.Go(func() error {
				large[0]++
				return nil
			})
		}
		check.OK(t, g.Wait())
		for range 2 {
			runtime.GC()
		}
		for i, p := range kept {
			if p.Value() != nil {
				t.Errorf("limit %d: function %d is kept", limit, i)
			}
		}
		runtime.KeepAlive(g)
	}
}
