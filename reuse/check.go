package reuse

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// TB is what [Check] needs of a test. A [testing.TB] is one.
type TB interface {
	// Helper marks its caller as one whose line says nothing.
	Helper()

	// Errorf fails the test. Any goroutine may call it. It must not use pools.
	Errorf(format string, args ...any)

	// Cleanup has f called when the test ends.
	Cleanup(f func())
}

// Check has all pools of the program watch their users, from now to the end of the test.
// Call it first in the test. These faults fail the test:
//
//   - An object is put twice. The report has the stacks of both calls.
//   - An object is put that was not got from this pool. If the pool was in use without
//     checks before, then the object may have been got at that time, and is reported only if another
//     pool has handed it out.
//   - An object is written to after Put. The report names what was written, and has the stack
//     of the Put. It comes a few operations later, of any pool, or at the end of the test.
//   - An object is not put back by the end of the test. The report has the stack of its Get. The
//     test must wait for goroutines that it has started, or what they use is missing.
//   - New returns an object that is in use, or was put.
//
// Objects that were got before may be put without complaint. A checked pool uses no object
// twice: each Get calls New, if there is one. What is put is overwritten by poison, so that who
// reads it gets nonsense or panics, and stays in quarantine, where writes to it are
// found. The quarantine holds about 1000 objects, or 16 MiB: use of what was put long before is not
// found.
//
// The poison of numbers is bytes 0xDB, of floating-point numbers NaN, of bools true, and of strings
// "reuse: used after Put". Pointers, slices, maps, channels, functions and interfaces become
// nil, types of the packages sync and sync/atomic zero. What is overwritten is the struct, array or
// other value that a pointer points to, the whole array of a slice, also of one behind a
// pointer or in a [bytes.Buffer], and for interfaces what they hold; a map is emptied. It is not
// overwritten what these refer to, see [Pool.Poison], nor what Keep refuses. The race
// detector, if it is on, takes the poison for what it is, a write, and so tells the line of whoever
// uses the object at the same time.
//
// Pointers, maps and channels are known each by itself. Slices are, too, as long as they do not grow. Of
// other types, such as structs, strings and functions, and pointers to types without size, Check counts
// only how many are got and put.
//
// The checks are one switch for the whole program, as one pool may serve many tests. When
// tests run in parallel, and each that uses pools calls Check before it does, no report is
// false. A fault is reported to all tests that check at the time: nobody can tell whose
// it is. And what is not put back shows when no other test runs that might do it: at the end of
// the last of those that overlap, to which it is reported.
//
// While checks are on, all calls of Get and Put are ordered by a lock. That can hide races from
// the race detector, so run the tests without Check as well. When they are off, their price is a
// load and a branch for each Get and Put.
func Check(t TB) {
	if t == nil {
		panic("reuse: test must not be nil, got nil")
	}
	t.Helper()
	s := &session{test: t}
	t.Cleanup(func() {
		t.Helper()
		s.end()
	})
	checks.mu.Lock()
	if len(checks.sessions) == 0 {
		checks.ledger = newLedger()
	}
	checks.sessions = append(slices.Clip(checks.sessions), s)
	checksOn.Store(true)
	checks.mu.Unlock()
}

// checksOn is whether there are sessions. Get and Put look at it.
var checksOn atomic.Bool

// checks is what there is to know while there are sessions, of all pools.
var checks watch

type watch struct {
	mu       sync.Mutex
	sessions []*session // never written to in place: readers take it along
	ledger   ledger
}

// session is one call of Check.
type session struct {
	test  TB
	mu    sync.Mutex // held while Errorf is called: a test that has ended must not be told anything
	ended bool
}

// do calls f under the lock, unless no one checks any more, and then tells what faults it found.
func (w *watch) do(f func(l *ledger)) bool {
	sessions, faults := w.locked(f)
	tell(sessions, faults)
	return len(sessions) > 0
}

func (w *watch) locked(f func(l *ledger)) (sessions []*session, faults []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.sessions) > 0 {
		f(&w.ledger)
		w.ledger.look(looks, looksBytes)
	}
	return w.sessions, w.ledger.takeFaults()
}

func tell(sessions []*session, faults []string) {
	for _, fault := range faults {
		for _, s := range sessions {
			s.test.Helper()
			s.tell(fault)
		}
	}
}

func (s *session) tell(fault string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.test.Helper()
		s.test.Errorf("%s", fault)
	}
}

func (s *session) end() {
	s.test.Helper()
	w := &checks
	w.mu.Lock()
	told := w.sessions
	w.sessions = slices.DeleteFunc(slices.Clone(told), func(other *session) bool { return other == s })
	w.ledger.look(len(w.ledger.held), math.MaxInt)
	last := len(w.sessions) == 0
	if last {
		checksOn.Store(false)
		w.ledger.close()
	}
	faults := w.ledger.takeFaults()
	if last {
		w.ledger = ledger{}
	}
	w.mu.Unlock()
	tell(told, faults)
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
}
