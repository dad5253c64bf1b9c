package engine_test

import (
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/step"
)

// bucketScenes are about tokens of a bucket that has one.
var bucketScenes = []step.Scene{
	ofStock("two come for one token", 1, func(s *stock) {
		s.Go("one", s.waits)
		s.waits()
	}),
	ofStock("a newcomer takes while a waiter joins", 1, func(s *stock) {
		s.takes()
		s.Go("newcomer", s.takes)
		s.waits()
	}),
	ofStock("a token is returned while a waiter joins", 1, func(s *stock) {
		s.takes()
		s.Go("returns", s.returns)
		s.waits()
	}),
	ofStock("a waiter leaves while it is served", 1, func(s *stock) {
		s.takes()
		w := s.waiter()
		if !s.bucket.Join(w) {
			s.Go("other", s.waits)
			if !s.bucket.Leave(w) {
				s.gets()
				return
			}
			s.left.Add(1)
		}
	}),
	ofStock("the rate rises while a waiter joins", 1, func(s *stock) {
		s.takes()
		s.Go("sets", func() { s.bucket.Set(1, time.Second, 2) })
		s.waits()
	}),
}

// stock is a bucket that gets a token a second, with books about them.
type stock struct {
	*step.Run
	bucket *engine.Bucket
	begin  time.Time
	burst  int64
	taken  atomic.Int64
	left   atomic.Int64 // waiters that have left
}

func ofStock(name string, burst int, body func(s *stock)) step.Scene {
	return step.Scene{Name: name, Quick: 2, Deep: 3, Free: 2, Clock: step.WhenQuiet, Body: func(r *step.Run) {
		s := &stock{Run: r, burst: int64(burst), begin: time.Now(), bucket: engine.NewBucket(1, time.Second, burst)}
		body(s)
		s.Join()
		time.Sleep(5 * time.Second)
		s.Quietly(func() { s.Check(s.bucket.Take(), "the bucket does not fill") })
	}}
}

// gets notes a token that was taken.
func (s *stock) gets() {
	n := s.taken.Add(1)
	s.Check(n <= s.burst+int64(time.Since(s.begin)/time.Second), "%d tokens after %v", n, time.Since(s.begin))
}

func (s *stock) takes() {
	if s.bucket.Take() {
		s.gets()
	}
}

func (s *stock) waiter() *engine.TokenWaiter {
	return &engine.TokenWaiter{Grant: func(int) { s.gets() }}
}

func (s *stock) returns() {
	s.taken.Add(-1)
	s.bucket.Return(1)
}

func (s *stock) waits() {
	served := make(chan struct{}, 1)
	w := &engine.TokenWaiter{Grant: func(int) {
		s.gets()
		served <- struct{}{}
	}}
	if s.bucket.Join(w) {
		s.gets()
		return
	}
	<-served
}
