package embed

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// A server whose files cannot be written, for example because the disk is full, says so only in its log. From
// then on it refuses some messages, does not answer others, and goes on to deliver messages but forgets that
// they are done. It does not recover. So it is ended at once, and started again when its folder can be
// written. Connections wait for that, as they do for a server in another process.

// The pauses before a new start. They grow while the server soon breaks again, because each start reads all
// files.
const (
	leastPause = 100 * time.Millisecond
	mostPause  = 10 * time.Second
	// soonTime is how long a server must have run for the next pause to be the shortest again.
	soonTime = time.Minute
)

// Health returns an error while the server cannot write, until another one has started.
func (s *Server) Health() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// runs makes n the server. It reports false if n is broken already.
func (s *Server) runs(n *server.Server, log *logger) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if log.isBroken() || s.back > 0 {
		return false
	}
	s.nats, s.log, s.broken, s.started = n, log, nil, time.Now()
	return true
}

// breaks is called, by a goroutine of the server with that log, when that server is broken.
func (s *Server) breaks(log *logger, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.log != log || s.broken != nil || s.isOver() {
		return
	}
	s.broken = err
	if time.Since(s.started) > soonTime {
		s.pause = 0
	}
	s.reviving.Add(1)
	go s.revive(s.nats)
}

func (s *Server) isOver() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

// revive ends a broken server, and starts another when the folder can be written.
func (s *Server) revive(old *server.Server) {
	defer s.reviving.Done()
	end(old)
	for last := ""; ; {
		s.pause = min(max(2*s.pause, leastPause), mostPause)
		select {
		case <-time.After(s.pause):
		case <-s.over:
			return
		}
		err := s.reload()
		if err == nil {
			err = s.launch()
		}
		if err == nil {
			s.to.Warn("weirnats: embedded server on " + s.path + " has started again")
			return
		}
		if text := err.Error(); text != last { // log an error once, not at each attempt
			s.to.Error("weirnats: embedded server on "+s.path+" cannot start again yet", "error", err)
			last = text
		}
	}
}

// probeSize is how many bytes must fit on the disk.
const probeSize = 64 << 10

// probe returns an error if the folder of the server cannot be written.
func (s *Server) probe() error {
	name := filepath.Join(s.store, "weir.probe")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(make([]byte, probeSize))
		err = errors.Join(err, f.Close(), os.Remove(name))
	}
	if err != nil {
		return fmt.Errorf("weirnats: folder %s cannot be written: %w", s.path, err)
	}
	return nil
}

// finish ends the server for good.
func (s *Server) finish() {
	s.mu.Lock()
	close(s.over)
	s.mu.Unlock()
	s.reviving.Wait()
	end(s.nats)
}
