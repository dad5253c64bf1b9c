package engine_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/engine"
)

// Bids come, go, age and pay in random order; which is next is what a look at all of them says.
func TestTheNextBidIsTheBestOfAll(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		b, now := engine.NewBids(), time.Duration(1)
		var all, in []*engine.Bid
		for range 12 {
			aging := time.Duration(0)
			if r.IntN(2) == 0 {
				aging = time.Duration(1 + r.IntN(20))
			}
			all = append(all, b.Add(int32(r.IntN(6)-1), int32(1+r.IntN(4)), aging))
		}
		for step := range 300 {
			now += time.Duration(r.IntN(10))
			switch x := all[r.IntN(len(all))]; {
			case !slices.Contains(in, x):
				b.Enter(x, now, now-time.Duration(r.IntN(30)))
				in = append(in, x)
			case r.IntN(3) == 0:
				b.Leave(x, now)
				in = slices.DeleteFunc(in, func(y *engine.Bid) bool { return y == x })
			default:
				b.Charge(x, now-time.Duration(r.IntN(50)), now)
			}
			got, want := b.Best(now), b.Naive(in, now)
			if got != want {
				t.Fatalf("seed %d, step %d: the next is %v, want %v of %d", seed, step, got, want, len(in))
			}
			if got != nil && r.IntN(4) == 0 {
				b.Begins(got)
			}
		}
	}
}

// A lane that bids is not behind those that have had a place since.
func TestABidHasNoClaimToWhatItHasNotUsed(t *testing.T) {
	b, now := engine.NewBids(), time.Duration(0)
	worked, came := b.Add(0, 1, 0), b.Add(0, 1, 0)
	for range 1000 {
		now += time.Second
		b.Enter(worked, now, now)
		b.Leave(worked, now)
		b.Begins(worked)
		b.Enter(came, now, now) // wants the place meanwhile
		b.Charge(worked, now, now+time.Second)
		b.Begins(worked)
		b.Leave(came, now+time.Second)
	}
	b.Enter(came, now, now)
	if behind := worked.Used() - came.Used(); behind > float64(2*time.Second) {
		t.Errorf("a bid is %v behind one that has worked", time.Duration(behind))
	}
}

// An aged bid is passed over for those that it would come after without its age, not for others.
func TestAnAgedBidComesBeforeThoseOfALowerPriority(t *testing.T) {
	b := engine.NewBids()
	low, first, second := b.Add(-3, 1, 0), b.Add(-1, 1, 1), b.Add(-1, 1, 1)
	for _, x := range []*engine.Bid{low, first, second} {
		b.Enter(x, 0, 0)
	}
	now := time.Second
	if b.Best(now) != first {
		t.Error("the first one is not next")
	}
	b.Begins(first)
	b.Leave(first, now)
	if b.Best(now) != second {
		t.Error("the second one is not next")
	}
}
