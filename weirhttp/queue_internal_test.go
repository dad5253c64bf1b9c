package weirhttp

import (
	"strconv"
	"testing"

	"github.com/64ed045f/weir/internal/check"
)

// A server that is never quite idle must give the room back, too.
func TestTheRoomForABurstIsGivenBackThoughOneClientStays(t *testing.T) {
	const burst = 10_000
	q := queue{size: burst + 1, all: priorityQueue{links: ofAll}, clients: clients{perKey: 1, perKeyQueue: 1, hasKeys: true}}
	enter := func(i int) *waiter {
		w := &waiter{priority: i, client: q.known(strconv.Itoa(i)), ready: make(chan struct{})}
		q.push(w)
		return w
	}
	enter(-1)
	var all []*waiter
	for i := range burst {
		all = append(all, enter(i))
	}
	for _, w := range all {
		q.remove(w)
		q.forget(w.client)
	}
	if first, last := q.all.first(false), q.all.last(false); first != last || q.order.First() != q.order.Last() {
		t.Error("more than one is left")
	}
	if n := cap(q.due.clients); n > 2*spare {
		t.Errorf("one client that is due has room for %d", n)
	}
	if q.byKey.Len() != 1 || q.next() == nil || q.next().priority != -1 {
		t.Error("the one that stayed is lost")
	}
}

// Priorities that are all different cost the same for each request, however many wait.
func TestAPriorityCostsTheSameHoweverManyThereAre(t *testing.T) {
	check.Flat(t, 1000, func(n int) (f, end func()) {
		q := queue{size: 2 * n, all: priorityQueue{links: ofAll}}
		for i := range n {
			q.push(&waiter{priority: -2 * i})
		}
		return func() {
			for i := range 100 {
				w := &waiter{priority: -2*(i*n/100) - 1}
				q.push(w)
				if first, last := q.all.first(false), q.all.last(false); first.priority != 0 || last.priority != -2*(n-1) && last != w {
					t.Error("the first is", first.priority, "and the last", last.priority)
				}
				q.remove(w)
			}
		}, func() {}
	})
}
