// Package load has the loads of the soak: each uses a part of the library as hard as it can, for a
// short round, with pools of its own, and keeps books on it.
package load

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// Load is a kind of use. A round begins with nothing, and nothing is left when it returns: no
// goroutine, no timer.
type Load struct {
	Name  string
	About string
	Round func(r *Round)
}

// All returns the loads.
func All() []Load {
	return []Load{
		{"submit", "100 goroutines submit in every way, with cancellations", submit},
		{"block", "tasks that wait for each other, as many as the limit lets run", block},
		{"sleep", "sleeping tasks of a FuncPool, many at once", sleep},
		{"fault", "tasks that panic or call runtime.Goexit", fault},
		{"resize", "the limit goes up and down", resize},
		{"pause", "pools are paused and resumed", pause},
		{"nest", "groups in tasks of groups, 4 deep, with limits from 1", nest},
		{"group", "groups with errors, panics and cancellations, used again", group},
		{"results", "results of groups, in all four ways, and loops that are left", results},
		{"future", "futures, also of tasks that fail, and that wait for futures", future},
		{"par", "loops, streams and pipelines, also left by break", parallel},
		{"keeper", "leased objects that fail, expire and are closed", keeper},
		{"reuse", "pools of objects and buffers", recycle},
		{"stateful", "workers that own values", stateful},
		{"reopen", "pools are closed while others submit, and new ones made", reopen},
		{"shutdown", "pools are shut down with a deadline, and hand tasks back", shutdown},
		{"idle", "workers that expire at once, and pools that are dropped", idle},
		{"order", "tasks run, and submitters are served, in order", order},
		{"http", "a limited server on the loopback", serve},
		{"all", "all of it on one pool", together},
	}
}

// Round is one go of a load.
type Round struct {
	*books.Book
	Rand *rand.Rand // for the goroutine of the round; others take a Fork
}

// Fork returns a source of random numbers for another goroutine.
func (r *Round) Fork() *rand.Rand { return fork(r.Rand) }

func fork(rnd *rand.Rand) *rand.Rand { return rand.New(rand.NewPCG(rnd.Uint64(), rnd.Uint64())) }

// pick returns one of several values.
func pick[T any](rnd *rand.Rand, of ...T) T { return of[rnd.IntN(len(of))] }

// one reports true once in n times.
func one(rnd *rand.Rand, n int) bool { return rnd.IntN(n) == 0 }

// limit returns the limit of a pool.
func (r *Round) limit() int { return pick(r.Rand, 1, 1, 2, 2, 3, 4, 8, 16, 64) }

// queue returns the length of a queue.
func (r *Round) queue() int { return pick(r.Rand, 0, 1, 2, 16, 256, 4096, weir.Unbounded) }

// options returns what any pool may be made with.
func (r *Round) options(more ...weir.Option) []weir.Option {
	opts := append([]weir.Option{weir.Queue(r.queue())}, more...)
	switch r.Rand.IntN(4) {
	case 0:
		opts = append(opts, weir.IdleTimeout(time.Duration(r.Rand.IntN(200))*time.Microsecond))
	case 1:
		opts = append(opts, weir.Prestart(1))
	}
	return opts
}

// team is some goroutines of a round.
type team struct{ sync.WaitGroup }

// each runs a function n times at once, each with random numbers of its own.
func (t *team) each(r *Round, n int, f func(rnd *rand.Rand)) {
	for range n {
		rnd := r.Fork()
		t.Go(func() { f(rnd) })
	}
}

// toil is what a task does: most do nothing, some compute, yield or sleep.
type toil int

func anyToil(rnd *rand.Rand) toil { return toil(rnd.IntN(64)) }

func (t toil) do() {
	switch {
	case t < 8:
		spin(int(t) * 100)
	case t < 14:
		runtime.Gosched()
	case t < 16:
		time.Sleep(time.Duration(t) * time.Microsecond)
	}
}

// spin computes for n steps of a nanosecond or so.
func spin(n int) {
	x := uint32(n)
	for range n {
		x = x*1664525 + 1013904223
	}
	if x == 0 {
		spun.Add(1) // so that the compiler cannot know beforehand that the result is unused
	}
}

var spun atomic.Uint32

// someContext returns a context that lives on, is done, or is about to be.
func someContext(rnd *rand.Rand) (context.Context, context.CancelFunc) {
	switch rnd.IntN(8) {
	case 0:
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return ctx, cancel
	case 1, 2, 3:
		return context.WithTimeout(context.Background(), time.Duration(rnd.IntN(100))*time.Microsecond)
	default:
		return context.WithCancel(context.Background())
	}
}

// somewhat waits until a random part of the tasks that are sure to come has been given.
func somewhat(rnd *rand.Rand, ledger *books.Ledger, most int) {
	if most == 0 {
		return
	}
	for n := rnd.IntN(most); ledger.Given() < n; {
		runtime.Gosched()
	}
	spin(rnd.IntN(5000))
}

// counts is what any kind of pool can report.
type counts interface{ Stats() weir.Stats }

// places returns how many places a pool has now, for [books.Gauge.Ask].
func places(p counts) func() (n int, now any) {
	return func() (int, any) {
		s := p.Stats()
		return s.Limit + s.Extra, s
	}
}

// settled checks the counts of a closed pool, and, if it has had the tasks of the ledger alone, against these.
func (r *Round) settled(p counts, own *books.Tally) {
	s := p.Stats()
	r.Check(s.Workers == 0 && s.Running == 0 && s.Suspended == 0 && s.Returning == 0 && s.Extra == 0 &&
		s.Queued == 0 && s.Waiting == 0 && s.Idle == 0,
		"a closed pool still has something: %+v", s)
	r.Check(s.Accepted == s.Finished+s.HandedBack, "of a closed pool's tasks some are neither finished nor handed back: %+v", s)
	if own != nil {
		r.Check(s.Accepted == own.Accepted && s.Finished == own.Finished && s.Rejected == own.Rejected &&
			s.HandedBack == own.HandedBack && s.Panicked == own.Panicked,
			"a pool has counted %+v, and the books say %+v", s, *own)
	}
}
