package par_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

// The consumer, the helpers and the source's reader wait for each other all the time: a
// lost wake-up is a deadlock of the bubble, or seen as calls that are not begun.
func TestNoWakeUpIsLost(t *testing.T) {
	for _, ahead := range []int{1, 2, 3} {
		for kind := range 4 {
			synctest.Test(t, func(t *testing.T) {
				n := check.Scale(30_000, 6_000)
				var calls atomic.Int64
				count := func(context.Context, int) (int, error) {
					calls.Add(1)
					return 0, nil
				}
				taken := 0
				for _, err := range anyStream(t.Context(), kind, n, count, par.Ahead(ahead), par.Limit(2)) {
					check.OK(t, err)
					if taken++; taken%16 < 2 {
						synctest.Wait()
						check.Equal(t, "calls", calls.Load(), int64(min(n, taken+ahead)))
					}
				}
				check.Equal(t, "results", taken, n)
			})
		}
	}
}

// However takes and calls interleave, in the end as many calls have been begun as Ahead
// allows, also while the consumer has results left that it has not taken.
func TestHelpersComeBackForASlowConsumer(t *testing.T) {
	const n, ahead = 1000, 8
	for kind := range 4 {
		for range check.Scale(150, 15) {
			synctest.Test(t, func(t *testing.T) {
				var calls atomic.Int64
				count := func(context.Context, int) (int, error) {
					calls.Add(1)
					return 0, nil
				}
				taken := int64(0)
				for _, err := range anyStream(t.Context(), kind, n, count, par.Ahead(ahead), par.Limit(2)) {
					check.OK(t, err)
					taken++
					if taken%3 == 0 {
						synctest.Wait()
						check.Equal(t, "calls", calls.Load(), min(n, taken+ahead))
					}
				}
			})
		}
	}
}

// When the consumer takes the next result, another helper joins the one that has begun the last
// item that Ahead allows, also while the call for that item lasts.
func TestASlowCallDoesNotKeepTheNextFromBeginning(t *testing.T) {
	for kind := range 4 {
		synctest.Test(t, func(t *testing.T) {
			const n, ahead = 6, 3
			var calls atomic.Int64
			slow := func(_ context.Context, i int) (int, error) {
				calls.Add(1)
				if i >= ahead {
					time.Sleep(time.Hour)
				}
				return 0, nil
			}
			taken := int64(0)
			for _, err := range anyStream(t.Context(), kind, n, slow, par.Ahead(ahead), par.Limit(2)) {
				check.OK(t, err)
				synctest.Wait()
				if taken++; taken <= 2 {
					check.Equal(t, "calls", calls.Load(), taken+ahead)
				}
			}
		})
	}
}
