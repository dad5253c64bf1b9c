package par_test

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

func TestMain(m *testing.M) { check.Main(m, nil, nil) }

// wantPanic fails the test unless f panics as exploding functions do.
func wantPanic(t testing.TB, f func()) {
	t.Helper()
	value := check.Caught(f)
	p, isPanic := value.(*weir.Panic)
	if !isPanic {
		t.Errorf("panicked with %v, want a *weir.Panic", value)
		return
	}
	check.Error(t, p, errBoom)
	if !strings.Contains(string(p.Stack), "par_test.explode") {
		t.Errorf("the stack is not that of the panic:\n%s", p.Stack)
	}
}

// watched fails the test if goroutines that par has started are left behind. Those that
// are about to end get the time for it. Workers of pools do not count: they are
// idle, and how many there are changes while one whose task called Goexit is replaced.
func watched(t *testing.T) {
	t.Cleanup(func() {
		if !check.Tries(1<<16, func() bool { return goroutines() == 0 }) {
			t.Errorf("%d goroutines are left:\n%s", goroutines(), check.Stacks())
		}
	})
}

// goroutines counts those that par has started.
func goroutines() int { return check.Goroutines("github.com/64ed045f/weir/par.") }

// goroutine returns which one runs.
func goroutine() string {
	head := make([]byte, 32)
	return strings.Fields(string(head[:runtime.Stack(head, false)]))[1]
}

// counts says how often each of n items was seen.
type counts []atomic.Int32

func (c counts) each(t testing.TB, want int32) {
	t.Helper()
	for i := range c {
		if got := c[i].Load(); got != want {
			t.Errorf("item %d was seen %d times, want %d", i, got, want)
			return
		}
	}
}

// set collects what several goroutines add.
type set[T comparable] struct {
	mu sync.Mutex
	m  map[T]bool
}

func (s *set[T]) add(v T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m == nil {
		s.m = map[T]bool{}
	}
	s.m[v] = true
}

var errBoom = errors.New("boom")

func explode() { panic(errBoom) }

func sleep(d time.Duration) func(context.Context, int) error {
	return func(context.Context, int) error {
		time.Sleep(d)
		return nil
	}
}

func nothing(context.Context, int) error { return nil }

// upTo is the numbers from 0 to n.
func upTo(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// channel is the numbers from 0 to n in a channel, closed behind them.
func channel(n int) chan int {
	ch := make(chan int, n)
	for i := range n {
		ch <- i
	}
	close(ch)
	return ch
}

// results is the numbers from 0 to n as a sequence with errors.
func results(n int) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range n {
			if !yield(i, nil) {
				return
			}
		}
	}
}

// places are where functions may run.
func places(t *testing.T) map[string][]par.Option {
	pools := map[string]*weir.Pool{
		"pool of 1":               weir.New(1),
		"pool of 4":               weir.New(4),
		"pool of 2 without queue": weir.New(2, weir.Queue(0)),
		"pool of 1 without queue": weir.New(1, weir.Queue(0)),
	}
	all := map[string][]par.Option{"own goroutines": nil}
	for name, p := range pools {
		all[name] = []par.Option{par.On(p)}
		t.Cleanup(p.Close)
	}
	return all
}

func random(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}
