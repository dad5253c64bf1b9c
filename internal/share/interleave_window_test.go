package share_test

import (
	"sync"

	"github.com/64ed045f/weir/internal/share"
	"github.com/64ed045f/weir/internal/step"
)

// stream has one producer at most, which ends when it is far enough ahead. The consumer starts another one only when Take says so.
type stream struct {
	*step.Run
	window share.Window[int]
	ahead  int
	items  int
	ready  chan int

	mu        sync.Mutex
	next      int
	producing bool
}

func windowScene(name string, ahead, items int) step.Scene {
	return step.Scene{Name: name, Quick: 2, Deep: 3, Free: 2, Body: func(r *step.Run) {
		s := &stream{Run: r, ahead: ahead, items: items, ready: make(chan int, items)}
		s.window.Init(ahead)
		s.producing = true
		s.Go("producer", s.produce)
		for i := range items {
			got := <-s.ready // for ever, if no producer has learned of the room
			s.Check(got == i, "item %d comes in place of %d", got, i)
			if s.window.Take(i + 1) {
				s.relieve()
			}
		}
		s.Join()
		s.Check(s.window.Taken() == items, "%d items are taken", s.window.Taken())
	}}
}

func (s *stream) produce() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.next < s.items && s.window.Asks(s.next) {
		s.Check(s.next < s.window.Taken()+s.ahead, "the producer is too far ahead")
		s.ready <- s.next
		s.next++
	}
	s.producing = false
}

func (s *stream) relieve() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.window.Lower()
	switch {
	case s.producing || s.next == s.items:
	case s.window.Admits(s.next):
		s.producing = true
		s.Go("producer", s.produce)
	default:
		s.window.Raise()
	}
}
