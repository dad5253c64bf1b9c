package lane_test

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/internal/lane"
)

// Producers write tail, consumers write head: on one cache line they would hinder
// each other. A small group should not be larger than it must.
func TestLayout(t *testing.T) {
	check.Equal(t, "offset of tail", lane.TailOffset, lane.CacheLine)
	check.Equal(t, "offset of head", lane.HeadOffset, 2*lane.CacheLine)
	check.Equal(t, "size of a ring", lane.RingHeader, 3*lane.CacheLine)
	if unsafe.Sizeof(uintptr(0)) == 8 {
		check.Equal(t, "size of a group", unsafe.Sizeof(lane.Group{}), 64)
	}
}

// A goroutine that gives up its search leaves nothing in the ring, no matter when others push.
func TestNothingIsLeftBehindByASearch(t *testing.T) {
	check.Within(time.Minute, func() {
		r := lane.NewRing(4)
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
			switch in, unsearched := r.Push(succeed); {
			case in:
				pushed++
			case unsearched:
				if r.Pop() != nil {
					t.Errorf("round %d: no goroutine searches, but there is a function in the ring", round)
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
			g := new(lane.Group)
			g.SetLimit(limit)
			for range lane.Before {
				g.Go(succeed)
			}
			check.OK(t, g.Wait())
			check.Equal(t, "ring of a small group", lane.RingOf(g), 0)
			g.Go(succeed)
			check.OK(t, g.Wait())
			check.Equal(t, "ring of a larger group", lane.RingOf(g), lane.FirstRing)

			// Each function blocks the goroutine that takes it: when the last has been added, they are
			// in rings, or blocked.
			for range 3 {
				v := check.NewValve()
				for range 10_000 {
					g.Go(v.Try)
				}
				synctest.Wait()
				check.Equal(t, "running", v.Running(), 10_000)
				v.Open()
				check.OK(t, g.Wait())
				if n := lane.RingOf(g); n > lane.KeptRing {
					t.Errorf("a ring for %d functions is kept", n)
				}
			}
		})
	}
}

// Many callers that find a ring full at once make one ring in its place, not one each.
func TestAFullRingIsReplacedOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(16))
	const callers = 64
	each := check.Scale(8_000, 2_000)
	worst := uint64(0)
	for range 5 {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		g := new(lane.Group)
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				for range each {
					g.Go(succeed)
				}
			})
		}
		all.Wait()
		check.OK(t, g.Wait())
		runtime.ReadMemStats(&after)
		worst = max(worst, after.TotalAlloc-before.TotalAlloc)
	}
	// All functions are in rings at once, at worst: the largest has four times as much room, the others a third of that.
	if most := uint64(callers * each * 16 * 4 * 4 / 3); worst > most {
		t.Errorf("%d functions took %d MiB, want at most %d", callers*each, worst>>20, most>>20)
	}
}

func succeed() error { return nil }
