package peers_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// pondQueueCases are about the tasks that wait for a worker.
var pondQueueCases = []peers.Case{
	{
		Name:      "AllTasksRunBeforeTheEnd",
		Theirs:    []string{"pond.TestPoolSubmit"},
		Behaviour: "When the end of the pool has come, every task that was submitted has run, on as many workers as are allowed.",
		Run: func(t *testing.T) {
			p := pondPool(100)
			var ran atomic.Int64
			start := time.Now()
			for range 1000 {
				ok(t, p.Submit(func() {
					time.Sleep(time.Millisecond)
					ran.Add(1)
				}))
			}
			p.Close()
			equal(t, "tasks that ran", ran.Load(), 1000)
			equal(t, "time", time.Since(start), 10*time.Millisecond)
		},
	},
	{
		Name:      "AFullQueueHoldsTheSubmitter",
		Theirs:    []string{"pond.TestPoolWithQueueSize"},
		Behaviour: "With a bounded queue a submitter waits when it is full, and no task is lost.",
		Run: func(t *testing.T) {
			p := weir.New(1, weir.Queue(10))
			var accepted atomic.Int64
			producer := begin(func() {
				for range 50 {
					ok(t, p.Submit(func() { time.Sleep(time.Millisecond) }))
					accepted.Add(1)
				}
			})
			for ended := range int64(3) {
				synctest.Wait()
				equal(t, "tasks accepted", accepted.Load(), 11+ended)
				equal(t, "tasks queued", p.Stats().Queued, 10)
				equal(t, "submitters that wait", p.Stats().Waiting, 1)
				time.Sleep(time.Millisecond)
			}
			<-producer
			p.Close()
			equal(t, "tasks accepted", p.Stats().Accepted, 50)
			equal(t, "tasks that ran", p.Stats().Finished, 50)
		},
	},
	{
		Name:      "ATaskThatWouldHaveToWaitIsRefused",
		Theirs:    []string{"pond.TestPoolWithQueueSizeAndNonBlocking", "pond.TestPoolTrySubmit"},
		Behaviour: "A submission that must not wait is accepted while there is a worker or a place in the queue, then refused as too many, and after the end as too late; refusals are counted.",
		Run: func(t *testing.T) {
			p := weir.New(10, weir.Queue(10))
			gate := make(chan struct{})
			var ran atomic.Int64
			task := func() {
				<-gate
				ran.Add(1)
			}
			for range 10 {
				ok(t, p.TrySubmit(task))
			}
			synctest.Wait()
			equal(t, "tasks that run", p.Stats().Running, 10)
			equal(t, "tasks queued", p.Stats().Queued, 0)
			for range 10 {
				ok(t, p.TrySubmit(task))
			}
			isError(t, p.TrySubmit(func() { t.Error("a refused task ran") }), weir.ErrFull)
			equal(t, "refusals", p.Stats().Rejected, 1)

			close(gate)
			p.Close()
			isError(t, p.TrySubmit(func() { t.Error("a refused task ran") }), weir.ErrClosed)
			equal(t, "tasks that ran", ran.Load(), 20)
			equal(t, "tasks accepted", p.Stats().Accepted, 20)
			equal(t, "tasks that ran, counted", p.Stats().Finished, 20)
		},
	},
	{
		Name: "AFutureOfATaskThatMayNotWaitIsRefused",
		Theirs: []string{
			"pond.TestPoolTrySubmitErr",
			"pond.TestResultPoolTrySubmit",
			"pond.TestResultPoolTrySubmitErr",
		},
		Behaviour: "A task with a result may be submitted without waiting: if there is no room the result says so at once and has no value, and those accepted give their values and errors.",
		Run: func(t *testing.T) {
			p := weir.New(1, weir.Queue(1), weir.MaxWaiting(0))
			gate := make(chan struct{})
			first := pondAsync(t, p, func() (int, error) { <-gate; return 42, nil })
			synctest.Wait()
			second := pondAsync(t, p, func() (int, error) { return 0, errBoom })
			third := pondAsync(t, p, func() (int, error) { t.Error("a refused task ran"); return 44, nil })
			equal(t, "the third has resolved", over(third.Done()), true)
			equal(t, "the first has resolved", over(first.Done()), false)
			close(gate)
			p.Close()
			fourth := pondAsync(t, p, func() (int, error) { t.Error("a refused task ran"); return 45, nil })

			pondGives(t, first, 42, nil)
			pondGives(t, second, 0, errBoom)
			pondGives(t, third, 0, weir.ErrFull)
			pondGives(t, fourth, 0, weir.ErrClosed)
			equal(t, "tasks accepted", p.Stats().Accepted, 2)
			equal(t, "tasks that ran", p.Stats().Finished, 2)
			equal(t, "refusals", p.Stats().Rejected, 2)
		},
	},
	{
		Name:      "WithoutAQueueATaskIsHandedOver",
		Theirs:    []string{"pond.TestPoolWithQueueSizeZero"},
		Behaviour: "With a queue of length 0 a submitter waits until a worker is free, nothing ever waits in the queue, and a call that must not wait is refused.",
		Run: func(t *testing.T) {
			p := weir.New(1, weir.Queue(0))
			gate := make(chan struct{})
			ok(t, p.Submit(func() { <-gate }))
			ran := false
			second := begin(func() { ok(t, p.Submit(func() { ran = true })) })
			synctest.Wait()
			equal(t, "the second submitter is let go", over(second), false)
			equal(t, "tasks queued", p.Stats().Queued, 0)
			isError(t, p.TrySubmit(func() { t.Error("a refused task ran") }), weir.ErrFull)

			close(gate)
			<-second
			p.Close()
			equal(t, "the second task ran", ran, true)
			want := weir.Stats{Limit: 1, Accepted: 2, Finished: 2, Rejected: 1}
			equal(t, "counts", p.Stats(), want)
		},
	},
	{
		Name:      "WaitingSubmittersAreServedInOrder",
		Theirs:    []string{"pond.TestPoolWithQueueSizeOne"},
		Behaviour: "With a queue of length 1 two submitters may wait at once, and their tasks run after those accepted before.",
		Run: func(t *testing.T) {
			p := weir.New(1, weir.Queue(1))
			gates := []chan struct{}{make(chan struct{}), make(chan struct{})}
			var order []int
			for i, gate := range gates {
				ok(t, p.Submit(func() {
					<-gate
					order = append(order, i)
				}))
				synctest.Wait()
			}
			for i := range 2 {
				go func() { ok(t, p.Submit(func() { order = append(order, 2+i) })) }()
				synctest.Wait()
			}
			equal(t, "submitters that wait", p.Stats().Waiting, 2)
			close(gates[0])
			close(gates[1])
			synctest.Wait()
			p.Close()
			pondValues(t, order, 0, 1, 2, 3)
		},
	},
	{
		Name: "TheQueueKeepsTheOrder",
		Theirs: []string{
			"linkedbuffer.TestBuffer",
			"linkedbuffer.TestLinkedBuffer",
			"linkedbuffer.TestLinkedBufferLen",
			"linkedbuffer.TestLinkedBufferWithReusedBuffer",
		},
		Behaviour: "What is put into the queue comes out in the same order, its length is exact at all times, and it may be emptied and filled again.",
		Run: func(t *testing.T) {
			const tasks = 2000
			p := pondPool(1)
			step := make(chan struct{})
			var order []int
			given := 0
			for range 3 {
				for range tasks {
					n := given
					given++
					ok(t, p.Submit(func() {
						<-step
						order = append(order, n)
					}))
				}
				synctest.Wait()
				for left := tasks - 1; left >= 0; left-- {
					equal(t, "tasks queued", p.Stats().Queued, left)
					step <- struct{}{}
					synctest.Wait()
				}
				equal(t, "tasks that run", p.Stats().Running, 0)
			}
			p.Close()
			equal(t, "tasks that ran", len(order), given)
			for i, n := range order {
				if i != n {
					t.Fatalf("task %d ran as number %d", n, i)
				}
			}
		},
	},
	{
		Name: "EachCallSaysWhetherItWaits",
		Theirs: []string{
			"pond.TestPoolWithQueueSize",
			"pond.TestPoolWithQueueSizeAndNonBlocking",
			"pond.TestPoolWithQueueSizeZero",
		},
		Behaviour: "A pool is made to let submitters wait or to refuse them, and tells which, and how long its queue is.",
		Different: "Both are calls of every pool, so that one caller can wait where another must not; a pool does not tell back how it was made.",
		Run: func(t *testing.T) {
			p := weir.New(1, weir.Queue(1))
			gate := make(chan struct{})
			ok(t, p.Submit(func() { <-gate }))
			ok(t, p.Submit(func() {}))
			ran := false
			waits := begin(func() { ok(t, p.Submit(func() { ran = true })) })
			synctest.Wait()
			isError(t, p.TrySubmit(func() { t.Error("a refused task ran") }), weir.ErrFull)
			equal(t, "the one that waits is let go", over(waits), false)
			close(gate)
			<-waits
			p.Close()
			equal(t, "its task ran", ran, true)
		},
	},
}
