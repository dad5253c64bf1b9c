package weir_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
)

func TestANestedLaneGivesWay(t *testing.T) {
	for _, task := range []time.Duration{50 * time.Microsecond, time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			p := weir.New(1)
			time.Sleep(time.Nanosecond)
			nested, plain := 0, 0
			feed := func(l *weir.Pool, n *int) {
				go func() {
					for l.Submit(func() { time.Sleep(task); *n++ }) == nil {
					}
				}()
			}
			l := p.Lane(2)
			feed(l.Lane(1), &nested)
			feed(l.Lane(1), &nested)
			feed(p.Lane(1), &plain)
			time.Sleep(time.Second)
			t.Logf("tasks of %v: nested %d, plain %d", task, nested, plain)
			if plain < nested/2 {
				t.Error("a lane with the same priority starves")
			}
			_, _ = p.Shutdown(nothingMore())
			p.Close()
		})
	}
}
