package reuse_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

func TestAllTestsThatCheckLearnOfAFault(t *testing.T) {
	p := newPool()
	a, b, late := &recorder{}, &recorder{}, &recorder{}
	reuse.Check(a)
	reuse.Check(b)
	x := p.Get()
	missing := p.Get()
	p.Put(x)
	p.Put(x)
	reuse.Check(late)
	a.end()
	wantFault(t, a.found(), "*reuse_test.request put twice, put")
	wantFault(t, b.found(), "*reuse_test.request put twice, put")
	b.end()
	wantNone(t, b.found())
	p.Put(missing) // in time, since one still checks
	got := line(1)
	y := p.Get()
	late.end()
	wantNone(t, a.found())
	wantNone(t, b.found())
	wantFault(t, late.found(), "*reuse_test.request not put back, got", got)
	p.Put(y) // no test checks any more
	p.Put(y)
}

// strict fails the test if it gets a report after its end.
type strict struct {
	recorder
	t     *testing.T
	ended atomic.Bool
}

func (s *strict) Errorf(format string, args ...any) {
	if s.ended.Load() {
		s.t.Error("told after the end")
	}
}

func TestChecksMayBeginAndEndAtAnyTime(t *testing.T) {
	pointers := newPool()
	values := reuse.Pool[[]int]{New: func() []int { return make([]int, 1) }}
	shared := newPool()
	var users, testers sync.WaitGroup
	var over atomic.Bool
	for range 4 {
		users.Go(func() {
			for !over.Load() {
				x := pointers.Get()
				x.id++
				if x.id != 1 {
					t.Errorf("got an object with number %d", x.id)
				}
				pointers.Put(x)
				values.Put(append(values.Get(), 1)[:1])
				// A fault each time: there is something to tell at any time.
				y := newRequest()
				shared.Put(y)
				shared.Put(newRequest())
				runtime.Gosched()
			}
		})
	}
	for range 3 {
		testers.Go(func() {
			for range check.Scale(300, 30) {
				s := &strict{t: t}
				reuse.Check(s)
				runtime.Gosched()
				s.end()
				s.ended.Store(true)
			}
		})
	}
	testers.Wait()
	over.Store(true)
	users.Wait()
}

// blocker blocks its callers until the test lets them go.
type blocker struct {
	recorder
	told, release chan struct{}
}

func (b *blocker) Errorf(string, ...any) {
	close(b.told)
	<-b.release
}

func TestATestThatHasEndedGetsNoReport(t *testing.T) {
	first := &blocker{told: make(chan struct{}), release: make(chan struct{})}
	second := &recorder{}
	reuse.Check(first)
	reuse.Check(second)
	p := newPool()
	var wg sync.WaitGroup
	wg.Go(func() { p.Put(newRequest()) }) // a fault, to be reported to both
	<-first.told
	second.end()
	close(first.release)
	wg.Wait()
	first.end()
	wantNone(t, second.found())
}

func TestNothingIsHeldWhenChecksAreOver(t *testing.T) {
	p := newPool()
	var held weak.Pointer[request]
	wantNone(t, faults(func() {
		x := p.Get()
		held = weak.Make(x)
		p.Put(x)
		runtime.GC()
		if held.Value() == nil {
			t.Error("the quarantine is empty")
		}
	}))
	runtime.GC()
	if held.Value() != nil {
		t.Error("what was in quarantine is held")
	}
}

func TestCheckWithoutTestPanics(t *testing.T) {
	check.Panics(t, "reuse: test must not be nil, got nil", func() { reuse.Check(nil) })
}

func TestCheckWorksInABubble(t *testing.T) {
	p := reuse.Pool[*request]{New: newRequest}
	c := reuse.Pool[chan int]{New: func() chan int { return make(chan int, 1) }}
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			reuse.Check(t)
			for range 10 {
				go func() {
					p.Use(func(r *request) { r.id++ })
					c.Use(func(c chan int) { c <- 1; <-c })
				}()
			}
			synctest.Wait()
		})
	}
	check.Equal(t, "faults after the bubbles", len(faults(func() { p.Put(p.Get()) })), 0)
}

// Any test is a TB.
var _ reuse.TB = testing.TB(nil)

// TestWhatChildLeaks is run by the test after it, in a process of its own: it fails.
func TestWhatChildLeaks(t *testing.T) {
	if os.Getenv(failEnv) == "" {
		t.Skip("it is to fail")
	}
	reuse.Check(t) // this line is reported
	_ = newPool().Get()
}

const failEnv = "REUSE_TEST_FAIL"

func TestARealTestFailsAtTheLineOfItsCheck(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestWhatChildLeaks$")
	cmd.Env = append(os.Environ(), failEnv+"=1")
	out, err := cmd.CombinedOutput()
	source, readErr := os.ReadFile("check_session_test.go")
	check.OK(t, readErr)
	before, _, _ := strings.Cut(string(source), "// this line is "+"reported")
	want := fmt.Sprintf("check_session_test.go:%d: reuse: *reuse_test.request not put back", strings.Count(before, "\n")+1)
	if err == nil || !strings.Contains(string(out), want) {
		t.Errorf("%v, and no %q in:\n%s", err, want, out)
	}
}
