package engine

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/internal/fifo"
)

const (
	tick = 4 // ticks per nanosecond

	// longest bounds the time that a bucket takes to fill: it must be a small part of what ticks can count.
	longest = 365 * 24 * time.Hour

	// A late timer makes up for the tokens of mostLate, or for one token if that takes longer. The tokens
	// were due while tasks waited for them.
	mostLate = time.Millisecond
)

// Bucket is a token bucket: it limits how many tasks begin in a time. A task that finds no token becomes a
// waiter. Waiters are served in the order of their arrival, by a timer that exists only while there are
// waiters. The bucket does not count tokens, but keeps the time at which it will be full. That is the generic
// cell rate algorithm (ITU-T I.371, 1996). There is a token as long as that time is not too far ahead; taking
// a token moves it further ahead.
type Bucket struct {
	// Invariant: while there are waiters, only grant takes tokens. A timer is armed for the next token, or is
	// about to be armed by the goroutine that has added the first waiter, has returned a token, or has
	// changed the rate. A waiter first counts in waiting and then looks at full. A goroutine that returns a
	// token first changes full and then looks at waiting. So one of the two sees the other.
	//
	// Invariant: full is changed by compare-and-swap only, by the rate that was in force when full was read:
	// see look. So Set, which changes both, does not lose a token that is taken meanwhile.
	begin    time.Time
	rate     atomic.Pointer[filling]
	full     atomic.Int64 // in ticks since begin; only lead compares it with now
	changing atomic.Bool  // rate may be newer than full; set under mu
	waiting  atomic.Int32 // the number of waiters

	mu      sync.Mutex
	waiters fifo.List[TokenWaiter]
	timer   *time.Timer // nil while there are no waiters: the next waiter may belong to another test bubble
}

// filling says how fast the bucket fills. All fields are in ticks.
type filling struct {
	every int64 // from one token to the next
	ahead int64 // how far full may be ahead while there is a token
	late  int64 // how much a late timer makes up for
}

// TokenWaiter waits for a token.
type TokenWaiter struct {
	// Grant is called, without a lock, when the waiter has a token. With Many the waiter may get more tokens,
	// which were due before the timer fired.
	Grant func(tokens int)
	Many  bool
	link  fifo.Link[TokenWaiter]
}

// NewBucket returns a full bucket that holds burst tokens and gets n tokens in each period per, evenly.
// FitsBucket must report true for the arguments.
func NewBucket(n int, per time.Duration, burst int) *Bucket {
	b := &Bucket{begin: time.Now()}
	b.rate.Store(newFilling(n, per, burst))
	return b
}

// FitsBucket reports whether NewBucket accepts the arguments.
func FitsBucket(n int, per time.Duration, burst int) bool {
	return n > 0 && per > 0 && burst > 0 && float64(per)/float64(n)*float64(burst) < float64(longest)
}

func newFilling(n int, per time.Duration, burst int) *filling {
	every := max(1, int64(math.Round(float64(per)*tick/float64(n))))
	return &filling{every: every, ahead: every * int64(burst-1), late: max(every, int64(mostLate)*tick)}
}

// Set changes the rate. If burst is not less than before, the bucket keeps its tokens.
func (b *Bucket) Set(n int, per time.Duration, burst int) {
	r := newFilling(n, per, burst)
	b.mu.Lock()
	old := b.rate.Load()
	b.changing.Store(true)
	b.rate.Store(r)
	for {
		full, now := b.full.Load(), b.now()
		missing := float64(max(0, old.lead(full, now))) / float64(old.every) // tokens
		missing = max(0, missing+float64(r.ahead)/float64(r.every)-float64(old.ahead)/float64(old.every))
		next := now + int64(missing*float64(r.every))
		if missing == 0 && full-now <= 0 {
			next = full // a goroutine that takes a token meanwhile may have read an earlier time
		}
		if next == full {
			next-- // so that the compare-and-swap of a goroutine that takes a token meanwhile fails
		}
		if b.full.CompareAndSwap(full, next) {
			break
		}
	}
	b.changing.Store(false)
	b.mu.Unlock()
	b.rearm()
}

// look returns full, and the rate by which full was set, unless full has changed since. A caller that holds
// the mutex does not block here.
func (b *Bucket) look() (full int64, r *filling) {
	for {
		full, r = b.full.Load(), b.rate.Load() // in this order
		if !b.changing.Load() {
			return full, r
		}
		b.mu.Lock()   // until the change is over
		b.mu.Unlock() //nolint:staticcheck // as above
	}
}

// now returns the time in ticks. It wraps around after 146 years.
func (b *Bucket) now() int64 { return int64(time.Since(b.begin)) * tick }

// lead returns how far full is ahead of now. If it is 0 or less, all tokens are there. lead also returns 0 if
// full is impossibly far ahead. Then the clock is another one, in a test bubble or outside, or the bucket was
// at rest for so many years that now has wrapped around.
func (r *filling) lead(full, now int64) int64 {
	lead := full - now
	if lead > 2*(r.ahead+r.every)+tick*int64(time.Second) {
		return 0
	}
	return lead
}

// isOld reports whether a token that was granted at the time since must go back.
func (b *Bucket) isOld(since int64) bool { return b.now()-since > b.rate.Load().late }

// Take takes a token, if there is one and there are no waiters.
func (b *Bucket) Take() bool { return b.waiting.Load() == 0 && b.take(b.now(), 0) }

// take takes a token. The token may have been there for a time of up to late.
func (b *Bucket) take(now, late int64) bool {
	for {
		full, r := b.look()
		lead := r.lead(full, now)
		if lead > r.ahead {
			if b.full.Load() != full {
				continue // the rate may be newer
			}
			return false
		}
		if b.full.CompareAndSwap(full, now+max(lead, -late)+r.every) {
			return true
		}
	}
}

// takeMissed takes the tokens for which there is no room in the bucket, as they were due before now, by late at most. It returns their number.
func (b *Bucket) takeMissed(now, late int64) (n int) {
	for {
		full, r := b.look()
		lead := max(r.lead(full, now), -late)
		if lead >= 0 {
			return 0
		}
		missed := (r.every - 1 - lead) / r.every
		if b.full.CompareAndSwap(full, now+lead+missed*r.every) {
			return int(missed)
		}
	}
}

// Return returns n tokens that were not used.
func (b *Bucket) Return(n int) {
	for {
		full, r := b.look()
		if b.full.CompareAndSwap(full, full-int64(n)*r.every) {
			break
		}
	}
	b.rearm()
}

// Full reports whether all tokens are there: the bucket is like a new one.
func (b *Bucket) Full() bool { return b.waiting.Load() == 0 && b.lead(b.now()) <= 0 }

// lead is how far the bucket is from full.
func (b *Bucket) lead(now int64) int64 {
	full, r := b.look()
	return r.lead(full, now)
}

// rearm must follow a change by which a token may be there earlier.
func (b *Bucket) rearm() {
	if b.waiting.Load() == 0 {
		return
	}
	b.mu.Lock()
	if b.waiters.First() != nil {
		b.arm(b.now())
	}
	b.mu.Unlock()
}

// Join takes a token and reports true, or appends w to the waiters and reports false.
func (b *Bucket) Join(w *TokenWaiter) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	first := b.waiters.First() == nil
	b.waiting.Add(1)
	now := b.now()
	if first && b.take(now, 0) {
		b.waiting.Add(-1)
		return true
	}
	b.waiters.Append(&w.link, w)
	if first {
		b.arm(now)
	}
	return false
}

// Leave removes w from the waiters. It reports false if w has been granted a token, or is about to be.
func (b *Bucket) Leave(w *TokenWaiter) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if w.link.Of() == nil {
		return false
	}
	b.waiters.Remove(&w.link)
	b.leaves()
	return true
}

// leaves must follow the removal of a waiter.
func (b *Bucket) leaves() {
	b.waiting.Add(-1)
	if b.waiters.First() == nil && b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
}

// arm sets the timer for the next token.
func (b *Bucket) arm(now int64) {
	d := time.Duration(max(0, b.lead(now)-b.rate.Load().ahead+tick-1) / tick)
	if b.timer == nil {
		b.timer = time.AfterFunc(d, b.grant)
	} else {
		b.timer.Reset(d)
	}
}

// grant gives the waiters the tokens that are there.
func (b *Bucket) grant() {
	var some [8]*TokenWaiter
	granted := some[:0]
	more := 0
	b.mu.Lock()
	now, r := b.now(), b.rate.Load()
	for l := b.waiters.First(); l != nil && b.take(now, r.late); l = b.waiters.First() {
		w := l.Of()
		b.waiters.Remove(l)
		granted = append(granted, w)
		if w.Many && b.waiters.First() == nil {
			more = b.takeMissed(now, r.late) // otherwise these tokens are lost
		}
		b.leaves()
	}
	if b.waiters.First() != nil {
		b.arm(now)
	}
	b.mu.Unlock()
	for i, w := range granted {
		if i < len(granted)-1 {
			w.Grant(1)
		} else {
			w.Grant(1 + more)
		}
	}
}
