package par_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

// The last calls wait for each other, so the loop ends only if as many run as are
// allowed: also if a helper has just found nothing, because the rest was on its way
// from one share to another.
func TestAsManyHelpersAsAllowedRunTheLastCalls(t *testing.T) {
	const limit, quick = 4, 11 // so few that each claim is of one
	synctest.Test(t, func(t *testing.T) {
		for round := range check.Scale(20_000, 2_000) {
			var begun atomic.Int32
			all := make(chan struct{})
			stuck := time.AfterFunc(time.Second, func() { // once all are blocked
				t.Errorf("round %d: a call that may run was not begun", round)
				begun.Store(limit)
				close(all)
			})
			check.OK(t, par.Each(t.Context(), upTo(quick+limit), func(_ context.Context, i int) error {
				if i < quick {
					if i%3 == 0 {
						runtime.Gosched()
					}
					return nil
				}
				if begun.Add(1) == limit {
					close(all)
				}
				<-all
				return nil
			}, par.Limit(limit)))
			if stuck.Stop(); t.Failed() {
				return
			}
		}
	})
}
