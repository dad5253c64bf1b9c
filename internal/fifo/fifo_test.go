package fifo_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/64ed045f/weir/internal/fifo"
)

func TestListIsAList(t *testing.T) {
	type member struct{ link fifo.Link[member] }
	var list fifo.List[member]
	var want []*member
	members := make([]member, 5)
	for range 10_000 {
		m := &members[rand.IntN(len(members))]
		at := slices.Index(want, m)
		switch {
		case at >= 0:
			want = slices.Delete(want, at, at+1)
			list.Remove(&m.link)
		case rand.IntN(2) == 0:
			want = slices.Insert(want, 0, m)
			list.Prepend(&m.link, m)
		default:
			want = append(want, m)
			list.Append(&m.link, m)
		}
		var forth, back []*member
		for l := list.First(); l != nil; l = l.Next() {
			forth = append(forth, l.Of())
		}
		for l := list.Last(); l != nil; l = list.Before(l) {
			back = append(back, l.Of())
		}
		slices.Reverse(back)
		if !slices.Equal(forth, want) || !slices.Equal(back, want) {
			t.Fatalf("got %v, and back %v, want %v", forth, back, want)
		}
		if absent := &members[rand.IntN(len(members))]; !slices.Contains(want, absent) {
			list.Remove(&absent.link)
			if absent.link.Of() != nil {
				t.Fatal("a link that stands in no list has a member")
			}
		}
	}
}
