package weir_test

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestLeavingALoopCancelsAndWaits(t *testing.T) {
	ways := map[string]func(t *testing.T, loop iter.Seq2[int, error]){
		"break": func(t *testing.T, loop iter.Seq2[int, error]) {
			for _, err := range loop {
				check.OK(t, err)
				break
			}
		},
		"return": func(t *testing.T, loop iter.Seq2[int, error]) {
			for _, err := range loop {
				check.OK(t, err)
				return
			}
		},
		"panic": func(t *testing.T, loop iter.Seq2[int, error]) {
			defer func() {
				if recover() == nil {
					panic("the loop has swallowed a panic")
				}
			}()
			for _, err := range loop {
				check.OK(t, err)
				panic("enough")
			}
		},
		"Goexit": func(t *testing.T, loop iter.Seq2[int, error]) {
			over := make(chan struct{})
			go func() {
				defer close(over)
				for _, err := range loop {
					check.OK(t, err)
					runtime.Goexit()
				}
			}()
			<-over
		},
		"stop of Pull": func(t *testing.T, loop iter.Seq2[int, error]) {
			next, stop := iter.Pull2(loop)
			_, err, more := next()
			check.OK(t, err)
			check.Equal(t, "yields", more, true)
			stop()
		},
	}
	makers := map[string]func(t *testing.T) (*weir.Group, func()){
		"workers of its own": func(t *testing.T) (*weir.Group, func()) {
			return weir.NewGroup(t.Context(), 3), noWorkersThen(t)
		},
		"on a pool": func(t *testing.T) (*weir.Group, func()) {
			p := weir.New(3)
			return p.Group(t.Context(), weir.KeepGoing()), p.Close
		},
	}
	for way, leave := range ways {
		for maker, newGroup := range makers {
			for _, name := range loopNames {
				check.Bubble(t, way+"/"+maker+"/"+name, func(t *testing.T) {
					g, end := newGroup(t)
					defer end()
					r := weir.NewResults[int](g)
					for range 3 {
						var ended atomic.Int32
						r.Go(gives(0))
						for range 5 { // 3 run, and 2 wait in the queue
							r.Go(func(ctx context.Context) (int, error) {
								<-ctx.Done()
								time.Sleep(time.Minute)
								ended.Add(1)
								return 1, nil
							})
						}
						synctest.Wait()
						leave(t, loops(r)[name])
						check.Equal(t, "running tasks waited for", ended.Load(), 3)
						// Nothing is left to the next batch.
						r.Go(gives(5))
						values, err := r.Wait()
						check.OK(t, err)
						equalSlices(t, "values of the next batch", values, []int{5})
					}
				})
			}
		}
	}
	for _, name := range loopNames {
		check.Bubble(t, "while tasks finish/"+name, func(t *testing.T) {
			// Results that no loop takes any more keep no task waiting.
			r := weir.NewResults[int](weir.NewGroup(t.Context(), 8))
			for range 20 {
				for range 40 {
					r.Go(func(context.Context) (int, error) { time.Sleep(time.Second); return 1, nil })
				}
				seen := 0
				for _, err := range loops(r)[name] {
					check.OK(t, err)
					if seen++; seen == 10 {
						break
					}
				}
				check.Equal(t, "seen", seen, 10)
			}
		})
	}
}

// noWorkersThen returns what fails the test if workers are left.
func noWorkersThen(t *testing.T) func() { return func() { noWorkers(t) } }

func TestPanicsComeOutOfLoops(t *testing.T) {
	for _, name := range loopNames {
		check.Bubble(t, "a task's panic comes out of the loop/"+name, func(t *testing.T) {
			r := weir.NewResults[int](weir.NewGroup(t.Context(), 3))
			r.Go(gives(0))
			synctest.Wait()
			r.Go(explodeWithResult)
			seen := 0
			p, isPanic := check.Caught(func() {
				for _, err := range loops(r)[name] {
					check.OK(t, err)
					seen++
				}
			}).(*weir.Panic)
			check.Equal(t, "panicked", isPanic, true)
			check.Error(t, p, errBoom)
			check.Equal(t, "seen", seen, 1)
			check.Equal(t, "results of the next batch", drain(t, loops(r)[name]), 0)
		})
		check.Bubble(t, "also after break/"+name, func(t *testing.T) {
			r := weir.NewResults[int](weir.NewGroup(t.Context(), 3))
			r.Go(gives(0))
			r.Go(func(ctx context.Context) (int, error) {
				<-ctx.Done()
				panic(errBoom)
			})
			synctest.Wait()
			_, isPanic := check.Caught(func() {
				for _, err := range loops(r)[name] {
					check.OK(t, err)
					break
				}
			}).(*weir.Panic)
			check.Equal(t, "panicked", isPanic, true)
		})
		check.Bubble(t, "that of the body comes first/"+name, func(t *testing.T) {
			var reported []*weir.Panic
			g := weir.NewGroup(t.Context(), 3, weir.OnPanic(func(p *weir.Panic) { reported = append(reported, p) }))
			r := weir.NewResults[int](g)
			r.Go(gives(0))
			r.Go(func(ctx context.Context) (int, error) {
				<-ctx.Done()
				panic(errBoom)
			})
			synctest.Wait()
			check.Equal(t, "panicked with", check.Caught(func() {
				for _, err := range loops(r)[name] {
					check.OK(t, err)
					panic("enough")
				}
			}), any("enough"))
			if len(reported) != 1 || !errors.Is(reported[0], errBoom) {
				t.Errorf("the handler was given %v", reported)
			}
		})
	}
}
