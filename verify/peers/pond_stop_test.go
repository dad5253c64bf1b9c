package peers_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// pondStopCases are about the end of a pool.
var pondStopCases = []peers.Case{
	{
		Name:      "AClosedPoolRefusesEveryKindOfTask",
		Theirs:    []string{"pond.TestPoolSubmitOnStoppedPool", "pond.TestTaskGroupWithStoppedPool"},
		Behaviour: "After the end a task is refused with an error that says so: a plain one, one with a result, and one of a group.",
		Run: func(t *testing.T) {
			p := pondPool(100)
			ok(t, p.Submit(func() {}))
			p.Close()
			pondRefuses(t, p)
			equal(t, "tasks accepted", p.Stats().Accepted, 1)
		},
	},
	{
		Name:      "ATaskIsRefusedByItsOwnPoolWhileThatEnds",
		Theirs:    []string{"pond.TestPoolSubmitWhileStopping"},
		Behaviour: "A task that still runs when the end has begun cannot submit any more, and ends normally; afterwards no caller can.",
		Run: func(t *testing.T) {
			p := pondPool(10)
			gate := make(chan struct{})
			f := pondAsync(t, p, func() (string, error) {
				<-gate
				pondRefuses(t, p)
				return "ended", nil
			})
			closed := begin(p.Close)
			synctest.Wait()
			equal(t, "the pool has ended", over(closed), false)
			close(gate)
			<-closed
			pondGives(t, f, "ended", nil)
			pondRefuses(t, p)
			p.Close()
		},
	},
	{
		Name:      "SubmittersMayRaceWithTheEnd",
		Theirs:    []string{"pond.TestPoolSubmitWhileStoppingHasNoRace"},
		Behaviour: "Any number of goroutines may submit while the pool is being stopped; each task either runs or is refused.",
		Run: func(t *testing.T) {
			p := pondPool(weir.Unbounded)
			var accepted, refused, ran atomic.Int64
			var submitters sync.WaitGroup
			start := make(chan struct{})
			for i := range 1000 {
				submitters.Go(func() {
					<-start
					if i == 500 {
						p.Close()
						return
					}
					err := p.Submit(func() {
						time.Sleep(10 * time.Millisecond)
						ran.Add(1)
					})
					if err == nil {
						accepted.Add(1)
						return
					}
					isError(t, err, weir.ErrClosed)
					refused.Add(1)
				})
			}
			synctest.Wait()
			close(start)
			submitters.Wait()
			p.Close()
			equal(t, "tasks that got an answer", accepted.Load()+refused.Load(), 999)
			equal(t, "tasks that ran among those accepted", ran.Load(), accepted.Load())
		},
	},
	{
		Name: "WhetherAPoolHasStoppedIsSaidByTheRefusal",
		Theirs: []string{
			"pond.TestPoolSubmitOnStoppedPool",
			"pond.TestPoolSubmitWhileStopping",
			"pond.TestPoolStoppedAfterCancel",
		},
		Behaviour: "A pool can be asked whether it has been stopped.",
		Different: "It cannot, since the answer could be wrong when it is used; submitting tells, and a group that was refused returns the same ErrClosed from Wait.",
		Run: func(t *testing.T) {
			p := pondPool(1)
			ok(t, p.TrySubmit(func() {}))
			g := p.Group(t.Context())
			p.Close()
			isError(t, p.TrySubmit(func() { t.Error("a refused task ran") }), weir.ErrClosed)
			g.Go(pondPlain(func() { t.Error("a refused task ran") }))
			isError(t, g.Wait(), weir.ErrClosed)
		},
	},
}

// pondRefuses fails the test unless the pool is closed for every kind of task.
func pondRefuses(t *testing.T, p *weir.Pool) {
	t.Helper()
	never := func() { t.Error("a refused task ran") }
	isError(t, p.Submit(never), weir.ErrClosed)
	isError(t, p.SubmitContext(t.Context(), never), weir.ErrClosed)
	isError(t, p.TrySubmit(never), weir.ErrClosed)
	pondGives(t, pondAsync(t, p, func() (int, error) { never(); return 1, errBoom }), 0, weir.ErrClosed)
	g := p.Group(t.Context())
	g.Go(pondPlain(never))
	isError(t, g.Wait(), weir.ErrClosed)
}
