// Package rounds has a checker draw something again and again, each time from another seed, and looks at what the
// process holds meanwhile.
package rounds

import (
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// SpinEnv is the environment variable that says how many goroutines compute meanwhile, without a pause.
const SpinEnv = "WEIR_SPIN"

// Rounds are flags of a test.
type Rounds struct {
	Times    *int           // how often each round is made
	Patience *time.Duration // after which a round hangs
	seed     *uint64
	number   *int
	length   *time.Duration
}

// Flags defines the flags of a checker: -name.seed and so on. It loses its patience with a round that hangs for so long.
func Flags(name string, patience time.Duration) Rounds {
	return Rounds{
		flag.Int(name+".times", 1, "repeat each round so often"),
		flag.Duration(name+".patience", patience, "a round in which nothing happens for so long hangs"),
		flag.Uint64(name+".seed", 0, "the seed of the first round; 0 stands for any"),
		flag.Int(name+".n", 0, "make so many rounds; 0 stands for as many as the time allows"),
		flag.Duration(name+".for", 0, "how long to go on; 0 stands for some seconds"),
	}
}

// Each calls round with one seed after the other, until the test has failed or the time is over: the usual one,
// unless a flag says otherwise. It fails the test if the process holds more and more.
func (r Rounds) Each(t *testing.T, usual time.Duration, round func(seed uint64)) {
	t.Helper()
	length := usual
	if *r.length > 0 {
		length = *r.length
	}
	seed := *r.seed
	if seed == 0 {
		seed = rand.Uint64N(1 << 40)
	}
	defer spin()()
	var series []Vitals
	begin, n := time.Now(), 0
	for ; !t.Failed() && (n < *r.number || *r.number == 0 && time.Since(begin) < length); n++ {
		for range *r.Times {
			round(seed + uint64(n))
		}
		if *r.number == 0 && length >= long && time.Since(begin) > length*time.Duration(len(series))/looks {
			series = append(series, measure())
		}
	}
	for _, grows := range Growth(series) {
		t.Error(grows)
	}
	t.Logf("%d rounds from seed %d", n, seed)
}

// In a time that is long the process is looked at so often.
const (
	long  = 5 * time.Second
	looks = 20
)

// spin starts goroutines that compute in a loop which only the scheduler interrupts.
func spin() (stop func()) {
	var over atomic.Bool
	n, _ := strconv.Atoi(os.Getenv(SpinEnv)) // mostly none
	for range n {
		go func() {
			for !over.Load() {
				for x := uint32(1); x < math.MaxUint32>>8; x++ {
					runtime.KeepAlive(x)
				}
			}
		}()
	}
	return func() { over.Store(true) }
}
