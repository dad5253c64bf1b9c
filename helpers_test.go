package weir_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// A test named TestPromiseNN holds the promise of that number in the package
// documentation. It must fail when the rule behind the promise is broken, and was
// seen to do so.

// goroutinesAtStart is how many there are before the first test: what the
// import of the package has started, and the main goroutine.
var goroutinesAtStart int

func TestMain(m *testing.M) {
	goroutinesAtStart = runtime.NumGoroutine()
	check.Main(m, children, func() int { return weir.Default().Stats().Workers }) // no test can close it
}

// noWorkers fails the test if workers are left. Those that are about to end get
// the time for it: a goroutine that has nothing more to do is still counted.
func noWorkers(t testing.TB) {
	t.Helper()
	if !check.Tries(1<<12, func() bool { return workerGoroutines() == 0 }) {
		t.Errorf("workers are left:\n%s", check.Stacks())
	}
}

// workerGoroutines counts the goroutines that the engine has started.
func workerGoroutines() int {
	return check.Goroutines("github.com/64ed045f/weir/internal/engine")
}

// yield lets others run so many times.
func yield(times int) {
	for range times {
		runtime.Gosched()
	}
}

// eventually is for what needs no time, only turns of other goroutines.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	if !check.Tries(1<<20, condition) {
		t.Errorf("never came: %s", what)
	}
}

// block makes n tasks on the pool that run, and block at the valve it returns.
// In a bubble only.
func block(t testing.TB, p *weir.Pool, n int) *check.Valve {
	t.Helper()
	v := check.NewValve()
	for range n {
		check.OK(t, p.Submit(v.Hold))
	}
	synctest.Wait()
	check.Equal(t, "blocked tasks", v.Running(), n)
	return v
}

func nothing() {}

var errBoom = errors.New("boom")

func explode() { panic(errBoom) }

func explodeInGroup(context.Context) error { panic(errBoom) }

func exitInGroup(context.Context) error {
	runtime.Goexit()
	return nil
}

func succeed(context.Context) error { return nil }

// untilCancelled is a task that ends with its group.
func untilCancelled(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func queueName(n int) string {
	if n == weir.Unbounded {
		return "unbounded"
	}
	return fmt.Sprint(n)
}

// heap returns how many bytes of the heap are in use.
func heap() uint64 {
	runtime.GC()
	runtime.GC() // what has finalizers, or was in a sync.Pool
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
