package weirnats_test

import (
	"context"
	"testing"
	"time"
)

// The server keeps messages in files of 8 MiB, and could read such a file anew for each message that is done.
func TestAMessageCostsTheSameHoweverManyWait(t *testing.T) {
	const measured = 300
	each := func(waiting int) time.Duration {
		q := open[[]byte](t, t.TempDir(), "a")
		values := make([][]byte, waiting)
		for i := range values {
			values[i] = make([]byte, 4<<10)
		}
		_, err := q.PutAll(t.Context(), values, nil)
		noError(t, err)
		p := newPool(t, 1)
		var begin time.Time
		calls, took := 0, make(chan time.Duration, 1)
		stop := serve(t, q, p, func(context.Context, []byte) error {
			switch calls++; calls {
			case 1:
				begin = time.Now()
			case measured:
				took <- time.Since(begin)
			}
			return nil
		})
		defer stop()
		return <-took / (measured - 1)
	}
	few, many := each(measured), each(2500)
	t.Logf("one of few takes %v, one of many %v", few, many)
	if many > 6*few {
		t.Errorf("one of few takes %v, one of many %v", few, many)
	}
}
