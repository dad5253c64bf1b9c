// Package books keeps count of what a library was given to do and of what it did, and
// compares the two. What does not add up is a breach.
package books

import (
	"fmt"
	"runtime"
	"sync"
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
	return append([]Breach(nil), j.breaches...)
}

func (j *Journal) add(b Breach) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.breaches) == most {
		return
	}
	if len(j.breaches) == 0 {
		b.Stacks = Stacks()
		close(j.failed)
	}
	j.breaches = append(j.breaches, b)
}

// Stacks returns those of all goroutines.
func Stacks() string {
	for buf := make([]byte, 1<<16); ; buf = make([]byte, 2*len(buf)) {
		if n := runtime.Stack(buf, true); n < len(buf) {
			return string(buf[:n])
		}
	}
}

// Breach notes that a promise was not kept.
func (b *Book) Breach(format string, args ...any) {
	b.journal.add(Breach{Load: b.Load, What: fmt.Sprintf(format, args...)})
}
