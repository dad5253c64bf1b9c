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

	// Cleanup registers f to be called when the test ends.
	Cleanup(f func())
}

// Check makes every [Pool] and [Buffers] of the program watch its users, from now to the end of the test.
// Call it first in the test. It fails the test if an object
//
//   - is put twice;
//   - is put that did not come from this pool;
//   - is written to after Put;
//   - is not put back by the end of the test, for which the test must wait for its goroutines;
//   - is returned by New while it is in use, or after it was put.
//
// A checked pool uses no object twice: each Get calls New, if it is set. Put overwrites the object with
// poison. The checks are one switch for the whole program, since one pool may serve many tests. Tests in the
// package documentation says what Check finds, and what it does not.
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

// checksOn is whether there are sessions. Get and Put read it.
var checksOn atomic.Bool

// checks records what happens to the objects of all pools while there are sessions.
var checks watch

type watch struct {
	mu       sync.Mutex
	sessions []*session // never changed in place: readers keep the slice after unlocking
	ledger   ledger
}

// session is one call of Check.
type session struct {
	test  TB
	mu    sync.Mutex // held during Errorf, which must not be called once the test has ended
	ended bool
}

// do calls f under the lock, and then reports to the tests the faults that f found. It returns false, and
// does not call f, if no test checks any more.
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
	sessions := w.sessions
	w.sessions = slices.DeleteFunc(slices.Clone(sessions), func(other *session) bool { return other == s })
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
	reportAll(sessions, faults)
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
}
