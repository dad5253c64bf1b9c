package weir_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"unsafe"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestFuncPoolCallsItsFunctionOnceWithEachArgument(t *testing.T) {
	for _, queue := range []int{0, 1, 64, weir.Unbounded} {
		t.Run("queue="+queueName(queue), func(t *testing.T) {
			const n = 1000
			var calls [3 * n]atomic.Int32
			p := weir.NewFunc(4, func(i int) { calls[i].Add(1) }, weir.Queue(queue))
			ctx := context.Background()
			for i := range n {
				check.OK(t, p.Invoke(3*i))
				check.OK(t, p.InvokeContext(ctx, 3*i+1))
				if p.TryInvoke(3*i+2) != nil {
					calls[3*i+2].Add(1) // never to be called with it
				}
			}
			p.Wait()
			for i := range calls {
				check.Equal(t, "calls", calls[i].Load(), 1)
			}
			p.Close()
			check.Error(t, p.Invoke(0), weir.ErrClosed)
			check.Error(t, p.InvokeContext(ctx, 0), weir.ErrClosed)
			check.Error(t, p.TryInvoke(0), weir.ErrClosed)
		})
	}
}

// Where an argument stands meanwhile depends on its type, and the collector must see what it refers to.
func TestPoolsTakeArgumentsOfAnyType(t *testing.T) {
	type (
		number  struct{ high, low int32 }
		mixed   struct{ id, text *string }
		wrapped struct{ err error }
		holder  struct{ text *string }
	)
	var numbers [2]int
	text := func(i int) string { return strconv.Itoa(1000 + i) }
	pointer := func(i int) *string { s := text(i); return &s }
	takes(t, func(int) [0]*int { return [0]*int{} })
	takes(t, func(i int) bool { return i%2 == 0 })
	takes(t, func(i int) int { return i - 1 })
	takes(t, func(i int) uint64 { return math.MaxUint64 - uint64(i) })
	takes(t, func(i int) complex64 { return complex(float32(i), 1) })
	takes(t, func(i int) complex128 { return complex(float64(i), 1) })
	takes(t, func(i int) [3]byte { return [3]byte{byte(i), 1, 2} })
	takes(t, func(i int) number { return number{int32(i), -1} })
	takes(t, text)
	takes(t, func(i int) [1]string { return [1]string{text(i)} })
	takes(t, func(i int) []byte { return []byte(text(i)) })
	takes(t, func(i int) map[string]int { return map[string]int{text(i): i} })
	takes(t, pointer)
	takes(t, func(int) *int { return nil })
	takes(t, func(i int) unsafe.Pointer { return unsafe.Pointer(&numbers[i%2]) })
	takes(t, func(i int) any { return pointer(i) })
	takes(t, func(i int) error { return errors.New(text(i)) })
	takes(t, func(int) error { return nil })
	takes(t, func(i int) wrapped { return wrapped{errors.New(text(i))} })
	takes(t, func(i int) holder { return holder{pointer(i)} })
	takes(t, func(i int) [1]*string { return [1]*string{pointer(i)} })
	takes(t, func(i int) mixed { return mixed{pointer(i), pointer(i + 1)} })
	takes(t, func(i int) func() int { return func() int { return i } })

	// A Stateful keeps them as a FuncPool does, but needs one of the words itself.
	ownsAWord(t, func(i int) int { return i - 1 })
	ownsAWord(t, text)
	ownsAWord(t, func(i int) any { return pointer(i) })
	ownsAWord(t, func(i int) mixed { return mixed{pointer(i), pointer(i + 1)} })
}

const queuedArguments = 40 // more than the first ring holds

// takes tries a FuncPool. The compiler makes all of FuncPool anew for each T.
func takes[T any](t *testing.T, arg func(i int) T) {
	t.Helper()
	var got []any
	p := weir.NewFunc(1, func(arg T) { got = append(got, arg) })
	p.Pause()
	standInTheQueue(t, func(i int) error { return p.Invoke(arg(i)) })
	p.Resume()
	p.Close()
	areTheArguments(t, got, queuedArguments, func(i int) any { return arg(i) })
}

// ownsAWord tries a Stateful.
func ownsAWord[T any](t *testing.T, arg func(i int) T) {
	t.Helper()
	var got []any
	p := weir.NewStateful(1, func() (int, error) { return 0, nil }, func(_ int, arg T) { got = append(got, arg) }, nil)
	p.Pause()
	standInTheQueue(t, func(i int) error { return p.Invoke(arg(i)) })
	p.Resume()
	check.OK(t, p.Call(t.Context(), arg(queuedArguments)))
	p.Close()
	areTheArguments(t, got, queuedArguments+1, func(i int) any { return arg(i) })
}

func standInTheQueue(t *testing.T, invoke func(i int) error) {
	t.Helper()
	for i := range queuedArguments {
		check.OK(t, invoke(i))
	}
	runtime.GC() // what the arguments refer to is found in the queue alone
	var others []*string
	for range 1000 {
		others = append(others, new(string)) // where it was, if it was not found
	}
	runtime.KeepAlive(others)
}

func areTheArguments(t *testing.T, got []any, n int, arg func(i int) any) {
	t.Helper()
	check.Equal(t, "calls", len(got), n)
	for i, v := range got {
		a, b := v, arg(i)
		if call, ok := a.(func() int); ok {
			a, b = call(), i
		}
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("%T: argument %d is %v, and was %v", v, i, a, b)
		}
	}
}

func TestFuncPoolHandsArgumentsBackInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := check.NewValve()
		p := weir.NewFunc(2, func(int) { v.Hold() })
		for i := range 10 {
			check.OK(t, p.Invoke(i))
		}
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errBoom)
		unrun, err := p.Shutdown(ctx)
		check.Error(t, err, errBoom)
		check.Equal(t, "arguments 2 to 9", slices.Equal(unrun, []int{2, 3, 4, 5, 6, 7, 8, 9}), true)
		check.Equal(t, "handed back", p.Stats().HandedBack, 8)
		v.Open()
		p.Close()
	})
}

func TestFuncPoolWaitsForRoomAsPoolDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := check.NewValve()
		p := weir.NewFunc(1, func(int) { v.Hold() }, weir.Queue(1))
		check.OK(t, p.Invoke(1))
		check.OK(t, p.Invoke(2))
		check.Error(t, p.TryInvoke(3), weir.ErrFull)
		ctx, cancel := context.WithCancelCause(t.Context())
		left, came := make(chan error, 1), make(chan error, 1)
		go func() { left <- p.InvokeContext(ctx, 4) }()
		go func() { came <- p.Invoke(5) }()
		synctest.Wait()
		cancel(errBoom)
		check.Error(t, <-left, errBoom)
		v.Open()
		check.OK(t, <-came)
		p.Close()
		check.Equal(t, "ran", v.Ended.Load(), 3)
	})
}

func TestFuncPoolReportsPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var values []any
		p := weir.NewFunc(1, func(i int) {
			if i == 2 {
				runtime.Goexit()
			}
			panic(i)
		}, weir.OnPanic(func(p *weir.Panic) { values = append(values, p.Value) }), weir.Name("numbers"))
		for i := range 4 {
			check.OK(t, p.Invoke(i))
		}
		p.Close()
		check.Equal(t, "values", slices.Equal(values, []any{0, 1, 3}), true)
		check.Equal(t, "panicked", p.Stats().Panicked, 3)
		check.Equal(t, "finished", p.Stats().Finished, 4)
	})
}
