package peers_test

import (
	"errors"
	"flag"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

var update = flag.Bool("update", false, "write the names in testdata")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errBoom = errors.New("boom")

// endless is a pool with a queue that never ends, as pond and workerpool make one. It is closed at the end of the test.
func endless(t *testing.T, limit int) *weir.Pool {
	p := weir.New(limit, weir.Queue(weir.Unbounded))
	t.Cleanup(p.Close)
	return p
}

// nap is what tasks do that take a millisecond and are counted.
func nap(running *check.Gauge) {
	running.Enter()
	defer running.Leave()
	time.Sleep(time.Millisecond)
}

// hold submits n tasks that block at the valve it returns, and returns when they run, or are queued.
func hold(t *testing.T, submit func(task func()) error, n int) *check.Valve {
	t.Helper()
	v := check.NewValve()
	for range n {
		check.OK(t, submit(v.Hold))
	}
	synctest.Wait()
	return v
}
