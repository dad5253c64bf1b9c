package leaks_test

import (
	"bytes"
	"context"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/64ed045f/weir/verify/leaks_test.waitForever"))
}

// forever returns the stacks of the goroutines that can never go on, since no goroutine that runs can
// reach what they wait for. Go 1.26 can find them if it was built with
// GOEXPERIMENT=goroutineleakprofile.
func forever(t *testing.T) (stacks []string) {
	t.Helper()
	profile := pprof.Lookup("goroutineleak")
	if profile == nil {
		t.Skip("this program was built without GOEXPERIMENT=goroutineleakprofile")
	}
	var out bytes.Buffer
	check.OK(t, profile.WriteTo(&out, 2))
	for stack := range strings.SplitSeq(out.String(), "\n\n") {
		if strings.Contains(stack, "(leaked)") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

// A program that drops a future, a group, a stream or a pool leaves no goroutine behind that waits forever.
func TestWhatIsDroppedLeavesNoGoroutineThatCanNeverGoOn(t *testing.T) {
	func() {
		p := weir.New(4, weir.IdleTimeout(time.Millisecond))
		for range 100 {
			weir.Async(t.Context(), p, func(context.Context) (int, error) { return 1, nil })
		}
		g := p.Group(t.Context())
		g.Go(succeed)
		for _, err := range par.Stream(t.Context(), []int{1, 2, 3}, func(_ context.Context, n int) (int, error) { return n, nil }, par.On(p)) {
			check.OK(t, err)
			break
		}
		_ = p.WaitContext(ended(t)) // the cause of that context, unless all tasks have finished
		p.Wait()
		p.Pause() // with no goroutine left to resume it
		check.OK(t, p.TrySubmit(nothing))
	}()
	for _, stack := range forever(t) {
		if strings.Contains(stack, "waitForever") {
			continue
		}
		t.Errorf("a goroutine can never go on:\n%s", stack)
	}
}

// waitForever is what must not happen, once: so the test sees that the profile finds such a goroutine.
func waitForever(begun chan<- struct{}) {
	close(begun)
	<-make(chan struct{})
}

func TestAGoroutineThatCanNeverGoOnIsSeen(t *testing.T) {
	begun := make(chan struct{})
	if pprof.Lookup("goroutineleak") != nil {
		go waitForever(begun)
		<-begun
	}
	if stacks := strings.Join(forever(t), "\n\n"); !strings.Contains(stacks, "leaks_test.waitForever") {
		t.Errorf("it is not among them:\n%s", stacks)
	}
}
