package errgroup_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/64ed045f/weir/errgroup"
	"github.com/64ed045f/weir/internal/check"
)

// children are what the test binary does when it is run by child.
var children = map[string]func(){
	"crash": func() {
		var g errgroup.Group
		g.Go(explode)
		_ = g.Wait()
		fmt.Println("Wait has returned")
		os.Exit(0)
	},
	"crash under a limit": func() {
		g := limited(1)
		for range 1000 {
			g.Go(succeed)
		}
		g.Go(explode)
		g.Go(func() error { fmt.Println("another one has started"); return nil })
		_ = g.Wait()
		fmt.Println("Wait has returned")
		os.Exit(0)
	},
	"crash slowly": func() {
		g := limited(1)
		g.Go(func() error { panic(slowPanic{}) })
		go g.Go(func() error { fmt.Println("another one has started"); os.Exit(0); return nil })
		_ = g.Wait()
		fmt.Println("Wait has returned")
		os.Exit(0)
	},
	"crash after Goexit": func() {
		var g errgroup.Group
		g.Go(func() error {
			defer func() { panic(errBoom) }()
			runtime.Goexit()
			return nil
		})
		_ = g.Wait()
		fmt.Println("Wait has returned")
		os.Exit(0)
	},
}

// slowPanic keeps the program alive for a while: the runtime asks it for its text
// before it ends the program.
type slowPanic struct{}

func (slowPanic) Error() string {
	for range 1 << 14 {
		runtime.Gosched()
	}
	return "slow boom"
}

func TestAPanicEndsTheProgramBeforeAnyWaitReturns(t *testing.T) {
	for _, test := range []struct{ name, stack string }{
		{"crash", "errgroup_test.explode"},
		{"crash under a limit", "errgroup_test.explode"},
		{"crash slowly", "errgroup_test.init"},
		{"crash after Goexit", "errgroup_test.init"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range check.Scale(5, 2) {
				out, err := check.Child(t, test.name)
				exit, isExit := errors.AsType[*exec.ExitError](err)
				if !isExit || exit.ExitCode() != 2 {
					t.Errorf("ended with %v, not as a panic ends a program", err)
				}
				for _, part := range []string{"panic: ", "boom", test.stack} {
					if !strings.Contains(out, part) {
						t.Errorf("%q is not in what the program wrote:\n%s", part, out)
					}
				}
				for _, part := range []string{"recovered", "Wait has returned", "another one has started"} {
					if strings.Contains(out, part) {
						t.Errorf("%q is in what the program wrote:\n%s", part, out)
					}
				}
			}
		})
	}
}

func TestGoexitEndsAFunctionWithoutError(t *testing.T) {
	for _, limit := range limits {
		check.Bubble(t, fmt.Sprintf("limit=%d", limit), func(t *testing.T) {
			g, ctx := errgroup.WithContext(context.Background())
			g.SetLimit(limit)
			for range 3 * len(limits) {
				g.Go(exit)
				g.Go(succeed)
			}
			synctest.Wait()
			check.OK(t, ctx.Err())
			check.OK(t, g.Wait())
			if limit < 0 {
				return
			}
			v := check.NewValve()
			for range limit {
				check.Equal(t, "with room", g.TryGo(v.Try), true)
			}
			check.Equal(t, "without", g.TryGo(v.Try), false)
			v.Open()
			check.OK(t, g.Wait())
		})
	}
	check.Bubble(t, "and lets in a function that waits", func(t *testing.T) {
		g := limited(1)
		v := check.NewValve()
		g.Go(func() error {
			_ = v.Try()
			return exit()
		})
		ran := 0
		var adding sync.WaitGroup
		for range 3 {
			adding.Go(func() {
				g.Go(func() error { ran++; return exit() })
			})
			synctest.Wait()
		}
		v.Open()
		adding.Wait()
		check.OK(t, g.Wait())
		check.Equal(t, "ran", ran, 3)
	})
	check.Bubble(t, "while it panics too", func(t *testing.T) {
		var g errgroup.Group
		g.Go(func() error {
			defer runtime.Goexit() // so the panic is gone
			return explode()
		})
		check.OK(t, g.Wait())
	})
	check.Bubble(t, "with an error of another one", func(t *testing.T) {
		var g errgroup.Group
		g.Go(exit)
		g.Go(fail)
		g.Go(exit)
		check.Equal(t, "first", g.Wait(), errBoom)
	})
}

func TestNoGoroutineIsLeft(t *testing.T) {
	for _, test := range []struct {
		name  string
		end   func() error
		first error
	}{
		{"return", succeed, nil},
		{"error", fail, errBoom},
		{"Goexit", exit, nil},
	} {
		for _, limit := range limits {
			t.Run(fmt.Sprintf("%s/limit=%d", test.name, limit), func(t *testing.T) {
				noneLeft(t) // of others
				synctest.Test(t, func(t *testing.T) {
					g := limited(limit)
					v := check.NewValve()
					n := 200
					if limit > 0 {
						n = min(n, limit)
					}
					for range n {
						g.Go(func() error {
							_ = v.Try()
							return test.end()
						})
					}
					synctest.Wait()
					check.Equal(t, "goroutines while all are blocked", goroutines(), n)
					// One of them goes on, and the others leave none behind.
					for range n - 1 {
						v.LetOne()
					}
					synctest.Wait()
					check.Equal(t, "goroutines while one is blocked", goroutines(), 1)
					v.Open()
					synctest.Wait()
					check.Equal(t, "goroutines without Wait", goroutines(), 0)
				})
				g := limited(limit)
				for range 1000 {
					g.Go(test.end)
				}
				noneLeft(t) // without Wait
				for range 1000 {
					g.Go(test.end)
				}
				check.Equal(t, "first", g.Wait(), test.first)
				noneLeft(t)
			})
		}
	}
}

func TestAGroupWorksInOneBubbleAfterTheOther(t *testing.T) {
	var without errgroup.Group
	under := limited(2)
	use := func(t *testing.T) {
		for _, g := range []*errgroup.Group{&without, under} {
			v := check.NewValve()
			for range 2 {
				g.Go(v.Try)
			}
			var adding sync.WaitGroup
			if g == under {
				adding.Go(func() { g.Go(v.Try) })
			}
			synctest.Wait()
			v.Open()
			adding.Wait()
			check.OK(t, g.Wait())
		}
	}
	for _, name := range []string{"first", "second"} {
		check.Bubble(t, name, use)
	}
	for range 3 {
		without.Go(succeed)
		under.Go(succeed)
	}
	check.OK(t, without.Wait())
	check.OK(t, under.Wait())
}

func TestFinishedFunctionsAreNotKept(t *testing.T) {
	for _, limit := range []int{-1, 1, 2, 100} {
		g := limited(limit)
		var kept []weak.Pointer[[1 << 10]int]
		for range 32 { // more than get a goroutine each
			large := new([1 << 10]int)
			kept = append(kept, weak.Make(large))
			g.Go(func() error {
				large[0]++
				return nil
			})
		}
		check.OK(t, g.Wait())
		for range 2 {
			runtime.GC()
		}
		for i, p := range kept {
			if p.Value() != nil {
				t.Errorf("limit %d: function %d is kept", limit, i)
			}
		}
		runtime.KeepAlive(g)
	}
}
