package weirnats_test

import (
	"context"
	"testing"
	"time"
)

// The server keeps messages in files of 8 MiB, and could read such a file anew for each message that is done.
func TestAMessageCostsTheSameHoweverManyWait(t *testing.T) {
	const measured, portion = 300, 30
	each := func(waiting int) time.Duration { // the least of some portions: other work of the machine only adds to it
		q := open[[]byte](t, t.TempDir(), "a")
		values := make([][]byte, waiting)
		for i := range values {
			values[i] = make([]byte, 4<<10)
		}
		_, err := q.PutAll(t.Context(), values, nil)
		noError(t, err)
		p := newPool(t, 1)
		calls, times := 0, make(chan time.Time, measured/portion)
		stop := serve(t, q, p, func(context.Context, []byte) error {
			if calls++; calls <= measured && calls%portion == 0 {
				times <- time.Now()
			}
			return nil
		})
		defer stop()
		least, last := time.Hour, <-times
		for range measured/portion - 1 {
			now := <-times
			least, last = min(least, now.Sub(last)), now
		}
		return least / portion
	}
	few, many := each(measured), each(2500)
	t.Logf("one of few takes %v, one of many %v", few, many)
	if many > 6*few {
		t.Errorf("one of few takes %v, one of many %v", few, many)
	}
}
