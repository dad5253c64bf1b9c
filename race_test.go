package weir_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
)

// Interleavings that once went wrong, each as often as it takes little time.

func TestWaitSeesTasksThatBeginAndEndWhileItLooks(t *testing.T) {
	p := weir.New(4)
	defer p.Close()
	g := p.Group(context.Background())
	within(time.Minute, func() {
		for range scale(200_000, 5_000) {
			g.Go(func(context.Context) error {
				g.Go(succeed)
				return nil
			})
			ok(t, g.Wait())
		}
	})
}

func TestWaitDoesNotWaitForTheNextBatch(t *testing.T) {
	within(time.Minute, func() {
		for round := range scale(3000, 300) {
			g := weir.NewGroup(context.Background(), 2)
			first := g.Context()
			g.Go(succeed)
			g.Go(succeed)
			waited := make(chan struct{})
			go func() {
				ok(t, g.Wait())
				close(waited)
			}()
			for range round % 20 {
				runtime.Gosched()
			}
			g.Go(func(ctx context.Context) error {
				if ctx != first {
					<-waited
				}
				return nil
			})
			<-waited
			ok(t, g.Wait())
		}
	})
	noWorkers(t)
}

func TestWaitOfACancelledGroupFindsTasksAcceptedBesideIt(t *testing.T) {
	within(time.Minute, func() {
		for round := range scale(400, 100) {
			p := weir.New(1)
			v := newValve()
			ok(t, p.Submit(v.task)) // nobody comes to the group's tasks
			g := p.Group(context.Background())
			g.Go(succeed)
			ctx := g.Context()
			over := make(chan struct{})
			go func() {
				for ctx.Err() == nil {
					g.TryGo(succeed)
				}
				close(over)
			}()
			for range round % 50 {
				runtime.Gosched()
			}
			g.Cancel(errBoom)
			if err := g.Wait(); err != errBoom { //nolint:errorlint // the very cause, unwrapped
				t.Errorf("got error %v, want %v", err, errBoom)
			}
			<-over
			v.open()
			p.Close()
		}
	})
}

func TestAPrestartedGroupWithoutTasksLeavesNoWorkers(t *testing.T) {
	ok(t, weir.NewGroup(context.Background(), 4, weir.Prestart(4)).Wait())
	noWorkers(t)
}

// What an engine keeps for its next user must not belong to a bubble that has
// ended: to touch it is fatal.
func TestWhatWasUsedInABubbleCanBeUsedOutside(t *testing.T) {
	t.Run("the idle timer", func(t *testing.T) {
		p := weir.New(2)
		synctest.Test(t, func(t *testing.T) {
			ok(t, p.Submit(nothing))
			time.Sleep(time.Minute)
		})
		ok(t, p.Submit(nothing))
		p.Close()
	})
	t.Run("the places in the line", func(t *testing.T) {
		g := weir.NewGroup(context.Background(), 1, weir.Queue(0))
		more := func() {
			for range 3 {
				g.Go(func(context.Context) error {
					runtime.Gosched()
					return nil
				})
			}
			ok(t, g.Wait())
		}
		synctest.Test(t, func(*testing.T) { more() })
		more()
	})
}

func TestCrashOnPanicTellsNobodyThatTheTaskIsOver(t *testing.T) {
	for range scale(10, 3) {
		if output, err := child(t, "crash slowly"); err == nil {
			t.Errorf("the program ended well after a panic:\n%s", output)
		}
	}
}

// slowPanic keeps the program alive for a while: the runtime asks it for its text
// before it ends the program.
type slowPanic struct{}

func (slowPanic) Error() string {
	for range 1 << 14 {
		runtime.Gosched()
	}
	return "slow"
}

func crashSlowly() {
	p := weir.New(1, weir.CrashOnPanic())
	must(p.Submit(func() { panic(slowPanic{}) }))
	p.Wait()
}
