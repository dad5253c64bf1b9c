package errgroup

import (
	"sync"
	"sync/atomic"
)

// lined, set in limit.word, says that somebody stands in the line. It is larger
// than any limit: with it nobody is let in who has not waited.
const lined = 1 << 62

// limit bounds how many functions are active, and holds the line of those
// that wait for that.
type limit struct {
	most int64
	word atomic.Int64 // active functions, and lined

	mu     sync.Mutex
	turn   sync.Cond      // wakes who stands in the line, in order
	line   []func() error // what they wait with; not empty exactly when lined is set
	joined uint64         // who has joined the line, ever
	served uint64         // who has left it
}

// newLimited returns a lane with a limit of n.
func newLimited(n int) *lane {
	var l struct {
		lane
		limit
	}
	l.most = min(int64(n), lined-1)
	l.turn.L = &l.mu
	l.lane.limit = &l.limit
	return &l.lane
}

// tryEnter lets a function in if there is room, and nobody waits.
func (l *limit) tryEnter() bool {
	for {
		word := l.word.Load()
		if word >= l.most {
			return false
		}
		if l.word.CompareAndSwap(word, word+1) {
			return true
		}
	}
}

// enter waits until f is let in. It reports true if there was room, and false if f
// has got the place of a function that has ended: then leave has returned it to
// who runs it.
func (l *limit) enter(f func() error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.line) == 0 {
		word := l.word.Load()
		if word < l.most {
			if l.word.CompareAndSwap(word, word+1) {
				return true
			}
		} else if l.word.CompareAndSwap(word, word|lined) {
			break
		}
	}
	l.line = append(l.line, f)
	place := l.joined
	l.joined++
	for l.served <= place {
		l.turn.Wait()
	}
	return false
}

// leave makes the place of a function free that has ended, or gives it to the first in
// the line and returns what that waits with, to be run at once.
func (l *limit) leave() func() error {
	if !l.free() {
		return nil
	}
	return l.pass()
}

// free makes a place free, and reports whether somebody stood in the line.
func (l *limit) free() bool { return l.word.Add(-1)&lined != 0 }

// pass gives a free place to the first in the line. Since free there may have come
// to be another line, and somebody may have taken the place.
func (l *limit) pass() func() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.line) == 0 || l.active() >= l.most {
		return nil
	}
	f := l.line[0]
	l.line[0] = nil
	l.line = l.line[1:]
	l.word.Add(1)
	if len(l.line) == 0 {
		l.word.And(^lined)
	}
	l.served++
	l.turn.Signal()
	return f
}

func (l *limit) active() int64 { return l.word.Load() &^ lined }
