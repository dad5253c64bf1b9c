package reuse

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// TB is what [Check] needs of a test. A [testing.TB] is one.
type TB interface {
	// Helper marks the function that calls it as one that reports for its own caller.
	Helper()

	// Errorf fails the test. Any goroutine may call it. It must not use pools.
	Errorf(format string, args ...any)

	// Cleanup has f called when the test ends.
	Cleanup(f func())
}

// Check has every [Pool] and [Buffers] of the program watch its users, from now to the end of the
// test. Call it first in the test. These faults fail the test:
//
//   - An object is put twice. The report has the stacks of both calls.
//   - An object is put that did not come from this pool. If the pool was used without checks
//     before, this is reported only if another pool has handed the object out, for otherwise it
//     may have come from this pool at that time.
//   - An object is written to after Put. The report names what was written, and has the stack
//     of the Put. It comes a few operations later, of any pool, or at the end of the test.
//   - An object is not put back by the end of the test. The report has the stack of its Get. The
//     test must wait for the goroutines that it has started: what they still use is reported, too.
//   - New returns an object that is in use, or was put.
//
// A checked pool uses no object twice: each Get calls New, if there is one. Put overwrites the
// object with poison, so that code that reads it gets nonsense or panics, and holds it in
// quarantine, where Check finds writes to it. The quarantine holds some 1000 objects, or 16 MiB:
// Check does not find what is written to an object after it has left the quarantine.
//
// Integers are poisoned with bytes 0xDB, floating-point numbers with NaN, bools with true, and
// strings with "reuse: used after Put". Pointers, slices, maps, channels, functions and interfaces
// become nil, and types of the packages sync and sync/atomic zero. Put overwrites the value behind
// a pointer, the whole array of a slice, also if the slice is behind a pointer or in a
// [bytes.Buffer], and what an interface holds; it empties a map. It leaves alone what these refer
// to in turn, see [Pool.Poison], and what Keep refuses. To the race detector the poison is a
// write: it reports code that uses the object at the same time.
//
// Check recognizes each pointer, map and channel, and each slice unless it has grown. Of other
// types, such as structs, strings and functions, and of pointers to types without size, it only
// counts how many are got and put.
//
// The checks are one switch for the whole program, since one pool may serve many tests. With
// parallel tests no report is false if each test that uses pools calls Check before it does. But
// Check reports a fault to all tests that check at the time, as it cannot tell which test caused
// it; and it reports an object that is not put back at the end of the last of the tests that
// overlap, since until then another test may put it.
//
// While checks are on, a lock puts all calls of Get and Put in order. That can hide races from the
// race detector, so run the tests without Check as well. While they are off, each Get and Put
// costs one load and one branch more.
func Check(t TB) {
	must(t != nil, "test must not be nil", "nil")
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

// checks is what the checks know of all pools while there are sessions.
var checks watch

type watch struct {
	mu       sync.Mutex
	sessions []*session // never written to in place: readers take it along
	ledger   ledger
}

// session is one call of Check.
type session struct {
	test  TB
	mu    sync.Mutex // held during Errorf, which must not be called once the test has ended
	ended bool
}

// do calls f under the lock, and then tells the tests the faults that it found. It returns false,
// and does not call f, if no test checks any more.
func (w *watch) do(f func(l *ledger)) bool {
	sessions, faults := w.locked(f)
	reportAll(sessions, faults)
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

func reportAll(sessions []*session, faults []string) {
	for _, fault := range faults {
		for _, s := range sessions {
			s.test.Helper()
			s.report(fault)
		}
	}
}

func (s *session) report(fault string) {
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
	reportAll(told, faults)
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
}
