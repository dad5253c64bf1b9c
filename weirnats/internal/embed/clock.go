package embed

import (
	"fmt"
	"time"

	"github.com/64ed045f/weir/weirnats/internal/check"
)

// The server uses the wall clock to note when leases began. It waits by the monotonic clock, which nothing
// sets, and which stands still while the machine sleeps. So when the wall clock is set back, or the machine
// wakes up, what waits for its time comes too late by as much. That is true of a message for later, a message
// that waits for its next try, and a message whose process has ended. A new start corrects it.

// leastJump is by how much the wall clock must have been set to cause a new start.
const leastJump = 10 * time.Second

// lookTime is how often the two clocks are compared.
var lookTime = time.Second

// ahead returns by how much the wall clock has gained on the monotonic clock since that time.
var ahead = func(since time.Time) time.Duration {
	now := time.Now()
	return now.Round(0).Sub(since.Round(0)) - now.Sub(since)
}

// watch makes the server start again when the wall clock is set, until the server is released.
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

// jumps is called when the wall clock was set forward by d, or back if d is negative.
func (s *Server) jumps(d time.Duration) {
	s.mu.Lock()
	s.back -= min(d, 0)
	log := s.log
	s.mu.Unlock()
	s.to.Warn(fmt.Sprintf("weirnats: the clock was set by %v, so the embedded server on %s starts anew", d, s.path))
	s.breaks(log, fmt.Errorf("the clock was set by %v", d))
}

// setBack moves the times that the server has noted into the past, by as much as the clock was set back. If it
// fails, the next call goes on where it was.
func (s *Server) setBack() error {
	for {
		if s.setting == nil {
			s.mu.Lock()
			back := s.back
			s.back = 0
			s.mu.Unlock()
			if back == 0 {
				return nil
			}
			s.setting = &setting{by: back, done: make(map[string]bool)}
		}
		if err := check.SetBack(s.store, s.setting.by, s.setting.done); err != nil {
			return err
		}
		s.setting = nil
	}
}

// setting says by how much the times are moved, and in which files they are moved already.
type setting struct {
	by   time.Duration
	done map[string]bool
}
