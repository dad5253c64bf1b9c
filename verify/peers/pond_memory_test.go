package peers_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// pondMemoryCases are about what a pool keeps of a task.
var pondMemoryCases = []peers.Case{
	{
		Name:      "NothingIsKeptOfATaskThatHasEnded",
		Theirs:    []string{"linkedbuffer.TestBufferWithPointerToLargeObject"},
		Behaviour: "What a task refers to is not kept when the task has ended, although the pool lives on.",
		Run: func(t *testing.T) {
			for _, queue := range []int{0, 8, weir.Unbounded} {
				calls := weir.NewFunc(4, func(p *pondPayload) { p[0]++ }, weir.Queue(queue))
				tasks := weir.New(4, weir.Queue(queue))
				given := pondGiveLarge(t, calls, tasks)
				calls.Wait()
				tasks.Wait()
				synctest.Wait()
				runtime.GC()
				for i, p := range given {
					if p.Value() != nil {
						t.Errorf("queue of %d: what task %d refers to is still there", queue, i)
					}
				}
				calls.Close()
				tasks.Close()
			}
		},
	},
}

// pondPayload is large enough to have memory of its own, which the collector frees alone.
type pondPayload [1 << 16]byte

// pondGiveLarge makes both pools work on payloads that nothing else refers to.
func pondGiveLarge(t *testing.T, calls *weir.FuncPool[*pondPayload], tasks *weir.Pool) (given []weak.Pointer[pondPayload]) {
	t.Helper()
	for range 20 {
		a, b := new(pondPayload), new(pondPayload)
		given = append(given, weak.Make(a), weak.Make(b))
		ok(t, calls.Invoke(a))
		ok(t, tasks.Submit(func() { b[0]++ }))
	}
	return given
}
