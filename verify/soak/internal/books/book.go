// Package books keeps count of what a library was given to do and of what it did, and
// compares the two. What does not add up is a breach.
package books

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/64ed045f/weir/internal/check"
)

// Breach is a promise that was not kept.
type Breach struct {
	Load   string // under which it showed
	What   string // what was promised, and what was seen
	Stacks string // of all goroutines at that moment; only with the first breach
}

// Journal holds the breaches of a process. Its methods may be called by any number of
// goroutines at once.
type Journal struct {
	mu       sync.Mutex
	breaches []Breach
	failed   chan struct{}
}

// most bounds how many breaches are kept: one mistake can show in every task.
const most = 20

// NewJournal returns an empty one.
func NewJournal() *Journal { return &Journal{failed: make(chan struct{})} }

// Failed returns a channel that is closed with the first breach.
func (j *Journal) Failed() <-chan struct{} { return j.failed }

// Breaches returns those so far.
func (j *Journal) Breaches() []Breach {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.breaches)
}

func (j *Journal) add(b Breach) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.breaches) == most {
		return
	}
	if len(j.breaches) == 0 {
		b.Stacks = check.Stacks()
		close(j.failed)
	}
	j.breaches = append(j.breaches, b)
}

// Book is what one load has counted in all its rounds. Its methods may be called by any
// number of goroutines at once.
type Book struct {
	Load    string
	journal *Journal
	ops     atomic.Uint64 // all operations that were completed; the watchdog looks at it

	mu    sync.Mutex
	tally Tally
}

// New returns the book of a load.
func New(load string, journal *Journal) *Book { return &Book{Load: load, journal: journal} }

// Tally is what a book has counted.
type Tally struct {
	Rounds     uint64
	Accepted   uint64
	Finished   uint64
	HandedBack uint64
	Rejected   uint64
	Panicked   uint64 // of those finished
}

// Add adds another's counts.
func (t *Tally) Add(other Tally) {
	t.Rounds += other.Rounds
	t.Accepted += other.Accepted
	t.Finished += other.Finished
	t.HandedBack += other.HandedBack
	t.Rejected += other.Rejected
	t.Panicked += other.Panicked
}

// Tally returns the counts so far.
func (b *Book) Tally() Tally {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tally
}

// Add adds to the counts.
func (b *Book) Add(t Tally) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tally.Add(t)
}

// Round counts a round that is over.
func (b *Book) Round() {
	b.Add(Tally{Rounds: 1})
	b.Op()
}

// Op counts one completed operation of any kind: the load does not hang.
func (b *Book) Op() { b.ops.Add(1) }

// Ops returns how often something was completed.
func (b *Book) Ops() uint64 { return b.ops.Load() }

// Breach notes that a promise was not kept.
func (b *Book) Breach(format string, args ...any) {
	b.journal.add(Breach{Load: b.Load, What: fmt.Sprintf(format, args...)})
}

// Check notes a breach unless ok, and returns ok.
func (b *Book) Check(ok bool, format string, args ...any) bool {
	if !ok {
		b.Breach(format, args...)
	}
	return ok
}
