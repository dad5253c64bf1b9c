// Package load has the loads of the soak: each uses a part of the library as hard as it can, for a
// short round, with pools of its own, and keeps books on it. What exactly a call returns the models check; a load
// checks what must add up.
package load

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/internal/face"
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
		{Name: "submit", About: "100 goroutines submit in every way, with cancellations", Round: submit.round},
		{Name: "sleep", About: "many tasks sleep at once, with limits up to none", Round: sleep.round},
		{Name: "fault", About: "tasks panic or call runtime.Goexit", Round: fault.round},
		{Name: "resize", About: "the limit goes up and down", Round: resize.round},
		{Name: "pause", About: "pools are paused and resumed", Round: pause.round},
		{Name: "reopen", About: "pools are closed while others submit, and new ones made", Round: reopen.round},
		{Name: "shutdown", About: "pools are shut down with a deadline, and hand tasks back", Round: shutdown.round},
		{Name: "expire", About: "tasks expire in the queues of pools", Round: expire.round},
		{Name: "idle", About: "workers expire at once, and pools are dropped", Round: idle.round},
		{Name: "order", About: "one task at a time, in order", Round: order.round},
		{Name: "programs", About: "whole programs: groups, futures, loops, timers, lanes and leases in tasks, and what these wait for", Round: drawn},
		{Name: "http", About: "a limited handler, with requests that are given up", Round: serve},
	}
}

// Round is one go of a load.
type Round struct {
	*books.Book
	Rand *rand.Rand // for the goroutine of the round; others take a fork
}

func fork(rnd *rand.Rand) *rand.Rand { return rand.New(rand.NewPCG(rnd.Uint64(), rnd.Uint64())) }

// pick returns one of several values.
func pick[T any](rnd *rand.Rand, of ...T) T { return of[rnd.IntN(len(of))] }

// one reports true once in n times.
func one(rnd *rand.Rand, n int) bool { return rnd.IntN(n) == 0 }

// micros returns a time below n microseconds.
func micros(rnd *rand.Rand, n int) time.Duration {
	return time.Duration(rnd.IntN(n)) * time.Microsecond
}

// limit returns the limit of a pool.
func (r *Round) limit() int { return pick(r.Rand, 1, 1, 2, 2, 3, 4, 8, 16, 64) }

// options returns what any pool may be made with.
func (r *Round) options(more ...weir.Option) []weir.Option {
	queue := pick(r.Rand, 0, 1, 2, 16, 256, 4096, weir.Unbounded)
	opts := append([]weir.Option{weir.Queue(queue)}, more...)
	switch r.Rand.IntN(4) {
	case 0:
		opts = append(opts, weir.IdleTimeout(micros(r.Rand, 200)))
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
		rnd := fork(r.Rand)
		t.Go(func() { f(rnd) })
	}
}

// again calls a function, again and again, until stop is called.
func (t *team) again(r *Round, f func(rnd *rand.Rand)) (stop func()) {
	over := make(chan struct{})
	t.each(r, 1, func(rnd *rand.Rand) {
		for {
			select {
			case <-over:
				return
			default:
				f(rnd)
			}
		}
	})
	return func() {
		close(over)
		t.Wait()
	}
}

// toil is what a task does: most do nothing, some compute, yield or sleep.
type toil int

func anyToil(rnd *rand.Rand) toil { return toil(rnd.IntN(64)) }

func (t toil) do() {
	switch {
	case t < 8:
		Spin(int(t) * 100)
	case t < 14:
		runtime.Gosched()
	case t < 16:
		time.Sleep(time.Duration(t) * time.Microsecond)
	}
}

// Spin computes for n steps of a nanosecond or so.
func Spin(n int) {
	x := uint32(n)
	for range n {
		x = x*1664525 + 1013904223
	}
	if x == 0 {
		spun.Add(1) // so that the compiler cannot know beforehand that the result is unused
	}
}

var spun atomic.Uint32

// yields gives the processor away a few times.
func yields(rnd *rand.Rand, most int) {
	for range rnd.IntN(most) {
		runtime.Gosched()
	}
}

// someContext returns a context that lives on, is done, or is about to be.
func someContext(rnd *rand.Rand) (context.Context, context.CancelFunc) {
	switch rnd.IntN(8) {
	case 0:
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return ctx, cancel
	case 1, 2, 3:
		return deadline(rnd, 100)
	default:
		return context.WithCancel(context.Background())
	}
}

// deadline returns a context that is done within n microseconds.
func deadline(rnd *rand.Rand, n int) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), micros(rnd, n))
}

// givenUp is how calls end whose context is done.
var givenUp = []error{context.Canceled, context.DeadlineExceeded}

// settled audits the ledger of a closed pool, and checks what the pool has counted; also against the
// ledger, if the pool has had its tasks alone.
func (r *Round) settled(p face.Counts, ledger *books.Ledger, alone bool) (own books.Tally) {
	ledger.Quiet("Close")
	own = ledger.Audit()
	s := p.Stats()
	r.Check(s.Workers+s.Running+s.Suspended+s.Returning+s.Extra+s.Queued+s.Waiting+s.Idle == 0, "a closed pool still has something: %+v", s)
	r.Check(s.Accepted == s.Finished+s.HandedBack, "of a closed pool's tasks some are neither finished nor handed back: %+v", s)
	r.Check(!alone || s.Accepted == own.Accepted && s.Finished == own.Finished && s.Rejected == own.Rejected &&
		s.HandedBack == own.HandedBack && s.Panicked == own.Panicked,
		"a pool has counted %+v, and the books say %+v", s, own)
	return own
}
