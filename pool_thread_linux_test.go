package weir_test

import (
	"runtime"
	"syscall"
	"testing"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/errgroup"
	"github.com/64ed045f/weir/internal/check"
)

// What the documentation says of code that wants its thread destroyed.
func TestGoexitDestroysALockedThread(t *testing.T) {
	for name, run := range map[string]func(functions []func()){
		"pool": func(functions []func()) {
			p := weir.New(1)
			defer p.Close()
			for _, f := range functions {
				check.OK(t, p.Submit(f))
			}
		},
		"errgroup": func(functions []func()) {
			var g errgroup.Group
			g.SetLimit(1)
			for _, f := range functions {
				g.Go(func() error { f(); return nil })
			}
			check.OK(t, g.Wait())
		},
	} {
		t.Run(name, func(t *testing.T) {
			var locked int
			functions := []func(){func() {
				runtime.LockOSThread()
				locked = syscall.Gettid()
				runtime.Goexit()
			}}
			for range 100 {
				functions = append(functions, func() {
					if syscall.Gettid() == locked {
						t.Error("a later function has the thread")
					}
				})
			}
			run(functions)
		})
	}
}
