package engine_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/64ed045f/weir/internal/engine"
)

func TestChainIsAList(t *testing.T) {
	const members = 5
	var c engine.Chain
	var want []int
	for range 10_000 {
		n := rand.IntN(members)
		at := slices.Index(want, n)
		switch {
		case at >= 0:
			want = slices.Delete(want, at, at+1)
			c.Remove(n)
		case rand.IntN(2) == 0:
			want = slices.Insert(want, 0, n)
			c.Add(n)
		default:
			want = append(want, n)
			c.Append(n)
		}
		if got := c.All(); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		if absent := rand.IntN(members); !slices.Contains(want, absent) {
			c.Remove(absent)
		}
	}
}
