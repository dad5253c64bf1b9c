package weirhttp

import (
	"strconv"
	"testing"
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
	if n := cap(q.all.levels); n > 2*spare {
		t.Errorf("one priority has room for %d", n)
	}
	if n := cap(q.due.clients); n > 2*spare {
		t.Errorf("one client that is due has room for %d", n)
	}
	if q.byKey.Len() != 1 || q.next() == nil || q.next().priority != -1 {
		t.Error("the one that stayed is lost")
	}
}
