package embed

import "time"

// SetClock sets by how much the clock on the wall went ahead, as servers that start from now on see it, and returns what ends that.
func SetClock(by func() time.Duration) (restore func()) {
	old, oldTime := ahead, lookTime
	ahead, lookTime = func(time.Time) time.Duration { return by() }, 10*time.Millisecond
	return func() { ahead, lookTime = old, oldTime }
}

// MostStored returns how many bytes the server takes at most.
func (s *Server) MostStored() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nats.JetStreamConfig().MaxStore
}
