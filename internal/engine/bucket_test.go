package engine_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/internal/engine"
)

// naive is a token bucket as the books have it: it counts tokens, in nanoseconds of filling.
type naive struct {
	every  time.Duration
	burst  int
	filled time.Duration // what the tokens are worth
	at     time.Time
}

func (b *naive) fill() {
	now := time.Now()
	b.filled = min(b.filled+now.Sub(b.at), b.every*time.Duration(b.burst))
	b.at = now
}

func (b *naive) take() bool {
	if b.fill(); b.filled < b.every {
		return false
	}
	b.filled -= b.every
	return true
}

func (b *naive) put() {
	b.fill()
	b.filled += b.every
}

func TestABucketIsLikeOneThatCountsTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for seed := range uint64(2000) {
			random := rand.New(rand.NewPCG(seed, 0))
			every, burst := time.Duration(1+random.IntN(50)), 1+random.IntN(5)
			b := engine.NewBucket(1, every, burst)
			want := naive{every: every, burst: burst, filled: every * time.Duration(burst), at: time.Now()}
			taken := 0
			for step := range 50 {
				switch random.IntN(6) {
				case 0:
					time.Sleep(time.Duration(random.IntN(200)))
				case 1:
					if taken > 0 {
						b.Return(1)
						want.put()
						taken = 0 // one that is returned later than it would be there again anyway is not the same
					}
				case 2:
					time.Sleep(time.Second) // so that both are full
					tokens := burst
					every, burst = time.Duration(1+random.IntN(50)), 1+random.IntN(5)
					b.Set(1, every, burst)
					want = naive{every: every, burst: burst, filled: every * time.Duration(min(tokens, burst)), at: time.Now()}
					taken = 0
				default:
					got, want := b.Take(), want.take()
					if got != want {
						t.Fatalf("seed %d, step %d: Take is %v, want %v", seed, step, got, want)
					}
					taken = 0
					if got {
						taken = 1
					}
				}
			}
		}
	})
}

// Those that wait get their tokens in turn, at the times at which they are due, also when some leave.
func TestWaitersAreServedInTurnAndOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := engine.NewBucket(10, time.Second, 2)
		begin := time.Now()
		var mu sync.Mutex
		var got []int
		var at []time.Duration
		waiters := make([]engine.TokenWaiter, 8)
		for i := range waiters {
			waiters[i].Grant = func(n int) {
				mu.Lock()
				defer mu.Unlock()
				if n != 1 {
					t.Errorf("waiter %d got %d tokens", i, n)
				}
				got, at = append(got, i), append(at, time.Since(begin))
			}
			if in := b.Join(&waiters[i]); in != (i < 2) {
				t.Errorf("waiter %d has a token at once: %v", i, in)
			}
		}
		if b.Take() {
			t.Error("a newcomer overtakes those that wait")
		}
		for _, i := range []int{2, 5, 7} {
			if !b.Leave(&waiters[i]) {
				t.Errorf("waiter %d cannot leave", i)
			}
		}
		time.Sleep(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if want := []int{3, 4, 6}; !slices.Equal(got, want) {
			t.Errorf("served: %v, want %v", got, want)
		}
		if want := []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 300 * time.Millisecond}; !slices.Equal(at, want) {
			t.Errorf("at %v, want %v", at, want)
		}
		if b.Leave(&waiters[3]) {
			t.Error("a waiter that was served can leave")
		}
	})
}

func TestTokensAreThereEarlierWhenTheRateRisesOrOneIsReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := engine.NewBucket(1, time.Hour, 1)
		b.Take()
		begin := time.Now()
		served := make(chan time.Duration, 2)
		first := engine.TokenWaiter{Grant: func(int) { served <- time.Since(begin) }}
		b.Join(&first)
		time.Sleep(time.Second)
		b.Return(1)
		if d := <-served; d != time.Second {
			t.Errorf("served after %v although a token was returned", d)
		}
		second := engine.TokenWaiter{Grant: first.Grant}
		b.Join(&second)
		time.Sleep(time.Minute)
		b.Set(1, time.Minute, 3) // 3539 of 3600 parts of a token are missing, as the first one has waited for its own from the beginning
		if d, want := <-served, time.Second+time.Minute+time.Minute*3539/3600; d.Round(time.Microsecond) != want.Round(time.Microsecond) {
			t.Errorf("served after %v, want %v", d, want)
		}
	})
}

// Whatever takes them, no more tokens are given in any time than fit it.
func TestTokensKeepTheirDistance(t *testing.T) {
	const n, burst = 2000, 4
	b := engine.NewBucket(n, time.Second, burst)
	begin := time.Now()
	taken, last, away := 0, time.Duration(0), time.Duration(0) // away is how long the goroutine did not run: the burst may be less than what came meanwhile
	for last < 100*time.Millisecond {
		if b.Take() {
			taken++
		}
		now := time.Since(begin)
		if d := now - last; d > time.Second/n {
			away += d
		}
		last = now
	}
	if most, least := burst+int(last*n/time.Second)+1, int((last-away)*n/time.Second)*9/10; taken > most || taken < least {
		t.Errorf("%d tokens in %v, of which the goroutine did not run for %v: want from %d to %d", taken, last, away, least, most)
	}
}

// A program may run for long, and clocks in a test bubble and outside are decades apart.
func TestABucketIsFullAfterAnyRest(t *testing.T) {
	const year = 365 * 24 * time.Hour
	outside := engine.NewBucket(2, time.Second, 2)
	synctest.Test(t, func(t *testing.T) {
		inside := engine.NewBucket(2, time.Second, 2)
		for _, rest := range []int{0, 1, 29, 30, 36, 37, 60, 65} { // the clock ends in 2262
			time.Sleep(time.Duration(rest) * year)
			for name, b := range map[string]*engine.Bucket{"inside": inside, "outside": outside} {
				if rest%2 == 0 {
					b.Set(2, time.Second, 2)
				}
				begin, served := time.Now(), make(chan time.Duration)
				var waiters [3]engine.TokenWaiter
				at := []time.Duration{0, 0, time.Second / 2}
				for i := range waiters {
					waiters[i].Grant = func(int) { served <- time.Since(begin) }
					if now := b.Join(&waiters[i]); now != (at[i] == 0) {
						t.Fatalf("%s, after %d years: token %d is there: %v", name, rest, i, now)
					}
				}
				if d := <-served; d != at[2] {
					t.Errorf("%s, after %d years: the third token came after %v", name, rest, d)
				}
			}
		}
	})
	taken := 0
	for outside.Take() {
		taken++
	}
	if taken != 2 {
		t.Errorf("outside, after the bubble: %d tokens", taken)
	}
}

func TestFitsBucket(t *testing.T) {
	for _, c := range []struct {
		n     int
		per   time.Duration
		burst int
		fits  bool
	}{
		{1, 1, 1, true}, {1e9, time.Second, 1e6, true}, {1, time.Hour, 5000, true},
		{0, 1, 1, false}, {1, 0, 1, false}, {1, 1, 0, false}, {-1, 1, 1, false},
		{1, 1 << 62, 1, false}, {1, time.Hour, math.MaxInt, false},
	} {
		if got := engine.FitsBucket(c.n, c.per, c.burst); got != c.fits {
			t.Errorf("%d in %v, burst %d: %v", c.n, c.per, c.burst, got)
		}
	}
}

func BenchmarkToken(b *testing.B) {
	tokens := engine.NewBucket(1e9, time.Second, 1e9)
	for b.Loop() {
		tokens.Take()
	}
}

// A timer that was late makes up for a millisecond: of a limit that was lifted, that are a million tokens.
func TestALateTimerCostsTheSameHoweverManyTokensItMakesUpFor(t *testing.T) {
	const highest = 1_000_000_000
	check.Flat(t, highest/32, func(n int) (f, end func()) {
		return func() {
			synctest.Test(t, func(t *testing.T) {
				b := engine.NewBucket(1, time.Hour, 1)
				b.Take()
				got := make(chan int)
				w := engine.TokenWaiter{Many: true, Grant: func(tokens int) { got <- tokens }}
				check.Equal(t, "taken at once", b.Join(&w), false)
				b.Set(n, time.Second, 1)
				b.Return(n) // as if they had been due long ago
				if tokens := <-got; tokens < n/1100 || tokens > n/900 {
					t.Errorf("the waiter got %d tokens", tokens)
				}
			})
		}, func() {}
	})
}
