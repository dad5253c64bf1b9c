package books

import (
	"sync/atomic"
	"time"
)

// Book is what one load has counted in all its rounds. Its methods may be called by any
// number of goroutines at once.
type Book struct {
	Load    string
	journal *Journal
	ops     atomic.Uint64 // all operations that were completed; the watchdog looks at it

	rounds, accepted, finished, handedBack, rejected, panicked, exited atomic.Uint64

	stall atomic.Int64
	peak  atomic.Uint64 // how many ran at once, and under which limit: see full
}

// New returns the book of a load.
func New(load string, journal *Journal) *Book { return &Book{Load: load, journal: journal} }

// Tally is what a book has counted.
type Tally struct {
	Rounds     uint64
	Accepted   uint64
	Finished   uint64
	HandedBack uint64 // also tasks that their cancelled group has discarded
	Rejected   uint64
	Panicked   uint64 // of those finished
	Exited     uint64 // of those finished: by runtime.Goexit

	Peak      int           // the most that ran at once,
	PeakLimit int           // when this was the limit
	Stall     time.Duration // the longest that a task was queued, a worker free, and nothing started
}

// Tally returns the counts so far.
func (b *Book) Tally() Tally {
	peak := b.peak.Load()
	return Tally{
		Rounds:     b.rounds.Load(),
		Accepted:   b.accepted.Load(),
		Finished:   b.finished.Load(),
		HandedBack: b.handedBack.Load(),
		Rejected:   b.rejected.Load(),
		Panicked:   b.panicked.Load(),
		Exited:     b.exited.Load(),
		Peak:       int(peak >> 32),
		PeakLimit:  int(uint32(peak)),
		Stall:      time.Duration(b.stall.Load()),
	}
}

// Add adds another book's counts, as that of the same load in another process.
func (t *Tally) Add(other Tally) {
	t.Rounds += other.Rounds
	t.Accepted += other.Accepted
	t.Finished += other.Finished
	t.HandedBack += other.HandedBack
	t.Rejected += other.Rejected
	t.Panicked += other.Panicked
	t.Exited += other.Exited
	t.Stall = max(t.Stall, other.Stall)
	if other.Peak > t.Peak {
		t.Peak, t.PeakLimit = other.Peak, other.PeakLimit
	}
}

// Round counts a round that is over.
func (b *Book) Round() {
	b.rounds.Add(1)
	b.ops.Add(1)
}

// Op counts one completed operation of any kind: the load does not hang.
func (b *Book) Op() { b.ops.Add(1) }

// Ops returns how often something was completed.
func (b *Book) Ops() uint64 { return b.ops.Load() }

// Check notes a breach unless ok, and returns ok.
func (b *Book) Check(ok bool, format string, args ...any) bool {
	if !ok {
		b.Breach(format, args...)
	}
	return ok
}

// sawPeak keeps the highest number that ran at once, with the limit of that time.
func (b *Book) sawPeak(running, limit int64) {
	seen := uint64(running)<<32 | uint64(uint32(min(limit, 1<<31-1)))
	for {
		old := b.peak.Load()
		if seen>>32 <= old>>32 || b.peak.CompareAndSwap(old, seen) {
			return
		}
	}
}

func (b *Book) sawStall(d time.Duration) {
	for {
		old := b.stall.Load()
		if int64(d) <= old || b.stall.CompareAndSwap(old, int64(d)) {
			return
		}
	}
}
