package weir_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// A caller that has learned of a task's end finds its place free, however the task ended.
func TestThePlaceOfAFutureIsFreeWhenGetReturns(t *testing.T) {
	tasks := map[string]func(context.Context) (int, error){
		"returned": func(context.Context) (int, error) { return 1, nil },
		"panicked": func(context.Context) (int, error) { panic(errBoom) },
		"exited":   func(context.Context) (int, error) { runtime.Goexit(); return 0, nil },
	}
	for name, task := range tasks {
		t.Run(name, func(t *testing.T) {
			p := weir.New(1, weir.Queue(0))
			defer p.Close()
			for range check.Scale(2000, 500) {
				_, _ = weir.Async(t.Context(), p, task).Get(t.Context())
				if err := p.TrySubmit(nothing); err != nil {
					t.Fatal(err)
				}
				p.Wait()
			}
		})
	}
}

func TestThePlaceOfACallIsFreeWhenItReturns(t *testing.T) {
	uses := map[string]func(int, int){
		"returned": func(int, int) {},
		"panicked": func(_, arg int) {
			if arg == 1 {
				explode()
			}
		},
		"exited": func(_, arg int) {
			if arg == 1 {
				runtime.Goexit()
			}
		},
	}
	for name, use := range uses {
		t.Run(name, func(t *testing.T) {
			p := weir.NewStateful(1, func() (int, error) { return 0, nil }, use, nil, weir.Queue(0))
			defer p.Close()
			for range check.Scale(2000, 500) {
				if err := p.Call(t.Context(), 1); errors.Is(err, weir.ErrClosed) {
					t.Fatal(err)
				}
				if err := p.TryInvoke(2); err != nil {
					t.Fatal(err)
				}
				p.Wait()
			}
		})
	}
}
