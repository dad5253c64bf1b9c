package weir_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestPromise04TasksStartInTheOrderOfAcceptanceAndNoneOvertakesAWaitingSubmitter(t *testing.T) {
	for _, queue := range []int{0, 1, 3, 32, 1000, weir.Unbounded} {
		check.Bubble(t, "one worker/queue="+queueName(queue), func(t *testing.T) {
			p := weir.New(1, weir.Queue(queue))
			defer p.Close()
			var order []int
			v := block(t, p, 1)
			n := min(queue, 10_000)
			for i := range n {
				check.OK(t, p.Submit(func() { order = append(order, i) }))
			}
			v.Open()
			p.Wait()
			check.Equal(t, "tasks run", len(order), n)
			check.Equal(t, "in order", slices.IsSorted(order), true)
		})
		if queue > 1000 {
			continue
		}
		check.Bubble(t, "waiting submitters/queue="+queueName(queue), func(t *testing.T) {
			p := weir.New(1, weir.Queue(queue))
			defer p.Close()
			v := block(t, p, 1)
			for range queue {
				check.OK(t, p.Submit(v.Hold))
			}
			const waiters = 5
			var order []int
			var accepted atomic.Int64
			for i := range waiters {
				go func() {
					check.OK(t, p.Submit(func() {
						order = append(order, i)
						v.Hold()
					}))
					accepted.Add(1)
				}()
				synctest.Wait()
				check.Equal(t, "waiting submitters", p.Stats().Waiting, i+1)
			}
			for i := range waiters {
				check.Error(t, p.TrySubmit(nothing), weir.ErrFull)
				v.LetOne()
				synctest.Wait()
				check.Equal(t, "submitters let in", accepted.Load(), int64(i+1))
				check.Equal(t, "waiting submitters", p.Stats().Waiting, waiters-i-1)
			}
			check.Error(t, p.TrySubmit(nothing), weir.ErrFull)
			v.Open()
			p.Wait()
			check.Equal(t, "in order", slices.Equal(order, []int{0, 1, 2, 3, 4}), true)
		})
	}
	check.Bubble(t, "several workers take the oldest", func(t *testing.T) {
		p := weir.New(3)
		defer p.Close()
		v := check.NewValve()
		var started [10]atomic.Bool
		for i := range started {
			check.OK(t, p.Submit(func() {
				started[i].Store(true)
				v.Hold()
			}))
		}
		for ran := 3; ran < len(started); ran++ {
			synctest.Wait()
			for i := range started {
				check.Equal(t, fmt.Sprintf("task %d started when %d could", i, ran), started[i].Load(), i < ran)
			}
			v.LetOne()
		}
		v.Open()
	})
	for _, queue := range []int{0, 1, 3, 64, weir.Unbounded} {
		t.Run("each producer's own order/queue="+queueName(queue), func(t *testing.T) {
			// The worker alone touches last, so -race sees a second one, too.
			var last [4]int
			p := weir.NewFunc(1, func(task [2]int) {
				producer, n := task[0], task[1]
				if last[producer] != n-1 {
					t.Errorf("task %d of producer %d ran after %d", n, producer, last[producer])
				}
				last[producer] = n
			}, weir.Queue(queue))
			var producing sync.WaitGroup
			for producer := range last {
				producing.Go(func() {
					for n := 1; n <= check.Scale(20_000, 2_000); n++ {
						check.OK(t, p.Invoke([2]int{producer, n}))
					}
				})
			}
			producing.Wait()
			p.Close()
		})
	}
}

func TestPromise05SubmitHappensBeforeTheTaskAndItsEndBeforeWait(t *testing.T) {
	// Only the pool orders the accesses to the plain variables: if it does not, the
	// race detector reports that, and without it the values are wrong.
	for _, queue := range []int{0, 1, 1024, weir.Unbounded} {
		t.Run("queue="+queueName(queue), func(t *testing.T) {
			p := weir.New(4, weir.Queue(queue))
			ctx := context.Background()
			var cells [8]int
			work := func(i int) func() {
				cells[i]++
				return func() { cells[i]++ }
			}
			g := p.Group(ctx)
			waits := map[string]func(){
				"Wait":        p.Wait,
				"WaitContext": func() { check.OK(t, p.WaitContext(ctx)) },
			}
			for name, wait := range waits {
				for range check.Scale(2000, 200) {
					clear(cells[:])
					for i := range cells {
						check.OK(t, p.Submit(work(i)))
					}
					wait()
					check.Equal(t, name, cells, [8]int{2, 2, 2, 2, 2, 2, 2, 2})
				}
			}
			for range check.Scale(2000, 200) {
				clear(cells[:])
				for i := range cells {
					task := work(i)
					g.Go(func(context.Context) error { task(); return nil })
				}
				check.OK(t, g.Wait())
				check.Equal(t, "Group.Wait", cells, [8]int{2, 2, 2, 2, 2, 2, 2, 2})
			}
			for name, end := range map[string]func(p *weir.Pool){
				"Close":    (*weir.Pool).Close,
				"Shutdown": func(p *weir.Pool) { _, err := p.Shutdown(ctx); check.OK(t, err) },
			} {
				for range check.Scale(500, 50) {
					p := weir.New(4, weir.Queue(queue))
					clear(cells[:])
					for i := range cells {
						check.OK(t, p.Submit(work(i)))
					}
					end(p)
					check.Equal(t, name, cells, [8]int{2, 2, 2, 2, 2, 2, 2, 2})
				}
			}
			p.Close()
		})
	}
	t.Run("panic and Goexit", func(t *testing.T) {
		handled := 0
		p := weir.New(1, weir.OnPanic(func(*weir.Panic) { handled++ }))
		ended := 0
		for range check.Scale(500, 50) {
			check.OK(t, p.Submit(func() { ended++; panic("x") }))
			check.OK(t, p.Submit(func() { ended++; runtime.Goexit() }))
			p.Wait()
		}
		check.Equal(t, "ended", ended, 2*check.Scale(500, 50))
		check.Equal(t, "handled", handled, check.Scale(500, 50))
		p.Close()
	})
}
