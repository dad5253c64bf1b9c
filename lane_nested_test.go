package weir_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// A lane with two lanes has as much to do as a lane next to it, and no more of the run time.
func TestANestedLaneGivesWay(t *testing.T) {
	for _, task := range []time.Duration{50 * time.Microsecond, time.Millisecond} {
		check.Bubble(t, fmt.Sprint("tasks of ", task), func(t *testing.T) {
			p := weir.New(1)
			time.Sleep(time.Nanosecond)
			var nested, plain atomic.Int64
			feed := func(l *weir.Pool, ran *atomic.Int64) {
				go func() {
					for l.Submit(func() { time.Sleep(task); ran.Add(1) }) == nil {
					}
				}()
			}
			l := p.Lane(2)
			feed(l.Lane(1), &nested)
			feed(l.Lane(1), &nested)
			feed(p.Lane(1), &plain)
			time.Sleep(time.Second)
			if n, m := nested.Load(), plain.Load(); m < n/2 || n < m/2 {
				t.Errorf("lanes of a lane have had %d tasks, and the lane next to that %d", n, m)
			}
			_, _ = p.Shutdown(nothingMore())
			p.Close()
		})
	}
}
