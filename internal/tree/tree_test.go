package tree_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/internal/tree"
)

func TestMain(m *testing.M) { check.Main(m, nil, nil) }

type number int

func (n number) Before(other number) bool { return n < other }

type object struct {
	number number
	node   tree.Node[number, object]
}

func TestATreeIsASetInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var set tree.Tree[number, object]
		want := map[number]*object{}
		for range 400 {
			n := number(r.IntN(100))
			o := want[n]
			check.Equal(t, "found", set.Find(n), o)
			if o == nil {
				o = &object{number: n}
				set.Add(&o.node, o, n)
				check.Equal(t, "key", o.node.Key(), n)
				want[n] = o
			} else {
				set.Remove(&o.node)
				set.Remove(&o.node) // which does nothing
				delete(want, n)
			}
			numbers := slices.Sorted(maps.Keys(want))
			if len(numbers) == 0 {
				check.Equal(t, "first of none", set.First().Of(), nil)
				check.Equal(t, "last of none", set.Last().Of(), nil)
				continue
			}
			check.Equal(t, "first", set.First().Of().number, numbers[0])
			check.Equal(t, "last", set.Last().Of().number, numbers[len(numbers)-1])
		}
	}
}
