package embed

import (
	"fmt"
	"time"

	"github.com/64ed045f/weir/weirnats/internal/check"
)

// The server notes by the clock on the wall when leases began, and waits by the other clock, which nothing sets and which stands still while the machine sleeps. So when the clock is set back, or
// the machine wakes up, what waits for its time comes too late by as much: a message for later, one that waits for its next try, and one whose process has ended. A new start sets that right.

// leastJump is by how much the clock on the wall must have been set for a new start.
const leastJump = 10 * time.Second

// lookTime is how often the two clocks are compared.
var lookTime = time.Second

// ahead returns by how much the clock on the wall went ahead of the other one since that time.
var ahead = func(since time.Time) time.Duration {
	now := time.Now()
	return now.Round(0).Sub(since.Round(0)) - now.Sub(since)
}

// watch has the server start anew when the clock on the wall is set, until it is over.
func (s *Server) watch() {
	ticker := time.NewTicker(lookTime)
	defer ticker.Stop()
	begun, last := time.Now(), time.Duration(0)
	for {
		select {
		case <-ticker.C:
		case <-s.over:
			return
		}
		now := ahead(begun)
		if jump := now - last; jump.Abs() >= leastJump {
			s.jumps(jump)
		}
		last = now
	}
}

// jumps is called when the clock on the wall was set forward by d.
func (s *Server) jumps(d time.Duration) {
	s.mu.Lock()
	s.back -= min(d, 0)
	log := s.log
	s.mu.Unlock()
	s.to.Warn(fmt.Sprintf("weirnats: the clock was set by %v, so the embedded server on %s starts anew", d, s.path))
	s.breaks(log, fmt.Errorf("the clock was set by %v", d))
}

// setBack moves what the server has noted to before a clock was set back.
func (s *Server) setBack() error {
	s.mu.Lock()
	back := s.back
	s.back = 0
	s.mu.Unlock()
	if back == 0 {
		return nil
	}
	return check.SetBack(s.store, back)
}
