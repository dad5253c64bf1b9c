package peers_test

import (
	"context"
	"slices"
	"testing"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// pondPeer is answered by Pool and, where its tests ask for the end or the value of a task, by
// Future, Group and Results. Its sub-pools are groups with a Limit.
var pondPeer = peers.Peer{
	Name:   "pond",
	Module: "github.com/alitto/pond/v2",
	Cases:  pondAgrees.and(pondPoolCases, pondOutcomeCases, pondWaitCases, pondSubpoolCases),
	Apart: []peers.Apart{
		{
			Theirs: []string{"future.TestFutureResolutionError", "future.TestValueFutureResolutionError"},
			Reason: "they pin the text of a value that never leaves the package",
		},
		{
			Theirs: []string{"future.TestCompositeFutureResolveWithIndexOutOfRange"},
			Reason: "no caller gives a result its number: the pool counts them itself",
		},
	},
}

// pondPool is a pool as pond makes it: with a queue that never ends.
func pondPool(limit int) *weir.Pool { return weir.New(limit, weir.Queue(weir.Unbounded)) }

// pondGives fails the test unless the future has resolved with value and err.
func pondGives[T comparable](t *testing.T, f *weir.Future[T], value T, err error) {
	t.Helper()
	got, gotErr := f.Get(context.Background())
	equal(t, "value", got, value)
	isError(t, gotErr, err)
}

// pondPlain makes a task of a group from one that cannot fail and needs no context.
func pondPlain(task func()) func(context.Context) error {
	return func(context.Context) error {
		task()
		return nil
	}
}

// pondValues fails the test unless these are the values.
func pondValues[T comparable](t *testing.T, got []T, want ...T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("values: got %v, want %v", got, want)
	}
}
