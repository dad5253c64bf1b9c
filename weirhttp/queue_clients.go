package weirhttp

import (
	"container/heap"

	"github.com/64ed045f/weir/internal/keys"
)

// clients holds the keys of the requests that run or wait.
type clients struct {
	perKey      int // how many requests of each key may run
	perKeyQueue int // how many requests of each key may wait
	hasKeys     bool
	byKey       keys.Map[string, *client]
	due         dueClients
}

// client is the state of one key.
type client struct {
	key     string
	running int
	waiting int
	waiters priorityQueue
	index   int // in the heap of due clients, -1 if not due
}

// mayRun reports whether one more request of c may run; c is nil if none of its requests runs or waits.
func (s *clients) mayRun(c *client) bool { return c == nil || c.running < s.perKey }

// full reports whether no more requests of c may wait; c is nil if none of its requests runs or waits.
func (s *clients) full(c *client) bool {
	if c == nil {
		return s.hasKeys && s.perKeyQueue == 0
	}
	return c.waiting >= s.perKeyQueue
}

// known returns the client with the key, and makes it if there is none. Without keys it returns nil.
func (s *clients) known(key string) *client {
	if !s.hasKeys {
		return nil
	}
	c := s.byKey.Get(key)
	if c == nil {
		c = &client{key: key, waiters: priorityQueue{links: ofClient}, index: -1}
		s.byKey.Set(key, c)
	}
	return c
}

// forget drops a client without requests. The queue remembers a key only while it has requests, so that
// clients that invent keys cannot fill the memory.
func (s *clients) forget(c *client) {
	if c != nil && c.running == 0 && c.waiting == 0 {
		s.byKey.Delete(c.key)
	}
}

// update adds a client to the due clients or removes it from them, after the client has changed.
func (s *clients) update(c *client) {
	isDue := c.waiting > 0 && s.mayRun(c)
	switch {
	case isDue && c.index < 0:
		heap.Push(&s.due, c)
	case isDue:
		heap.Fix(&s.due, c.index)
	case c.index >= 0:
		heap.Remove(&s.due, c.index)
	}
}

// dueClients is a heap of the clients that have a waiting request that may run. The client whose waiter runs
// next comes first. Without the heap, a goroutine that frees a slot would have to look at all requests of
// clients that may not run.
type dueClients struct {
	clients     []*client
	newestFirst bool
}

func (d *dueClients) first(i int) *waiter { return d.clients[i].waiters.first(d.newestFirst) }

// Len implements [heap.Interface].
func (d *dueClients) Len() int { return len(d.clients) }

// Less implements [heap.Interface].
func (d *dueClients) Less(i, j int) bool {
	a, b := d.first(i), d.first(j)
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	return a.number < b.number != d.newestFirst
}

// Swap implements [heap.Interface].
func (d *dueClients) Swap(i, j int) {
	d.clients[i], d.clients[j] = d.clients[j], d.clients[i]
	d.clients[i].index, d.clients[j].index = i, j
}

// Push implements [heap.Interface].
func (d *dueClients) Push(c any) {
	added := c.(*client)
	added.index = len(d.clients)
	d.clients = append(d.clients, added)
}

// Pop implements [heap.Interface].
func (d *dueClients) Pop() any {
	last := len(d.clients) - 1
	c := d.clients[last]
	d.clients[last] = nil
	d.clients = trim(d.clients[:last])
	c.index = -1
	return c
}
