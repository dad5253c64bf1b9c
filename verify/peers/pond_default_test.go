package peers_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/internal/gauge"
	"github.com/64ed045f/weir/verify/peers"
)

// pondDefaultCases are about the pool that is there for the whole program.
var pondDefaultCases = []peers.Case{
	{
		Name: "ThePoolOfTheProgramGivesOutcomes",
		Theirs: []string{
			"pond.TestSubmit",
			"pond.TestSubmitWithError",
			"pond.TestSubmitWithPanic",
		},
		Behaviour: "A task can be given to a pool that the program has not made, and a caller that waits for it gets its end, its error or its panic.",
		Outside:   true,
		Run: antsOnDefault(func(t *testing.T) {
			p := weir.Default()
			pondGives(t, pondAsync(t, p, func() (int, error) { return 10, nil }), 10, nil)
			pondGives(t, pondAsync(t, p, func() (int, error) { return 0, errBoom }), 0, errBoom)
			_, err := pondAsync(t, p, func() (int, error) { panic("dummy panic") }).Get(t.Context())
			_, isPanic := errors.AsType[*weir.Panic](err)
			if !isPanic || !strings.Contains(err.Error(), "dummy panic") {
				t.Errorf("not the panic: %v", err)
			}
		}),
	},
	{
		Name:      "ThePoolOfTheProgramHasGroups",
		Theirs:    []string{"pond.TestNewGroup", "pond.TestNewSubpool"},
		Behaviour: "Groups, and parts with a limit of their own, can be had of the pool that the program has not made.",
		Outside:   true,
		Run: antsOnDefault(func(t *testing.T) {
			for limit, opts := range map[int][]weir.GroupOption{20: nil, 10: {weir.Limit(10)}} {
				g := weir.Default().Group(t.Context(), opts...)
				var inside gauge.Gauge
				var ran atomic.Int64
				for range 20 {
					g.Go(func(context.Context) error {
						inside.Enter()
						defer inside.Leave()
						time.Sleep(time.Millisecond)
						ran.Add(1)
						return nil
					})
				}
				ok(t, g.Wait())
				equal(t, "tasks that ran", ran.Load(), 20)
				equal(t, "tasks that ran at once", inside.Peak.Load(), int64(limit))
			}
		}),
	},
}
