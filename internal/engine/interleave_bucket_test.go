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
	ofStock("two take one token", 1, func(s *stock) {
		s.Go("other", s.takes)
		s.takes()
	}),
	ofStock("three come for one token", 1, func(s *stock) {
		s.Go("one", s.waits)
		s.Go("other", s.waits)
		s.waits()
	}),
	ofStock("one of two that wait leaves", 1, func(s *stock) {
		s.takes()
		w := s.waiter()
		if s.bucket.Join(w) {
			return
		}
		s.Go("other", s.waits)
		s.bucket.Leave(w)
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
			s.bucket.Leave(w) // else it is about to be granted its token
		}
	}),
	ofStock("the rate falls and rises while one takes", 1, func(s *stock) {
		s.takes()
		s.Go("sets", func() {
			s.bucket.Set(1, time.Hour, 1)
			s.bucket.Set(1, time.Second, 1)
		})
		s.takes()
	}),
	ofStock("the rate falls while a waiter joins", 1, func(s *stock) {
		s.takes()
		s.Go("sets", func() { s.bucket.Set(1, 2*time.Second, 1) })
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
}

func ofStock(name string, burst int, body func(s *stock)) step.Scene {
	return step.Scene{Name: name, Quick: 2, Deep: 3, Free: 2, Clock: step.WhenQuiet, Body: func(r *step.Run) {
		s := &stock{Run: r, burst: int64(burst), begin: time.Now(), bucket: engine.NewBucket(1, time.Second, burst)}
		body(s)
		s.Join()
		time.Sleep(5 * time.Second)
		s.Quietly(func() {
			for range s.burst {
				s.Check(s.bucket.Take(), "the bucket does not fill")
			}
			s.Check(!s.bucket.Take(), "the bucket has more than fits it")
		})
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
