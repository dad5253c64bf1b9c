package weir_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// A lane with two lanes, at any depth, has as much to do as a lane next to it, and no more of the run time.
func TestANestedLaneGivesWay(t *testing.T) {
	for depth := range 4 {
		for _, task := range []time.Duration{50 * time.Microsecond, 300 * time.Microsecond, time.Millisecond} {
			check.Bubble(t, fmt.Sprintf("depth %d, tasks of %v", 1+depth, task), func(t *testing.T) {
				p := weir.New(1)
				var nested, plain atomic.Int64
				l := p.Lane(2)
				for range depth {
					l = l.Lane(2)
				}
				feed(l.Lane(1), task, &nested)
				feed(l.Lane(1), task, &nested)
				feed(p.Lane(1), task, &plain)
				time.Sleep(time.Second)
				if n, m := nested.Load(), plain.Load(); m < n*2/3 || n < m*2/3 {
					t.Errorf("lanes of a lane have had %d tasks, and the lane next to that %d", n, m)
				}
				_, _ = p.Shutdown(nothingMore())
				p.Close()
			})
		}
	}
}

// The tasks of a lane's own queue get as much run time as each of its lanes.
func TestALanePaysForItsOwnQueueOnce(t *testing.T) {
	for places := 1; places <= 3; places++ {
		for _, queue := range []bool{false, true} {
			check.Bubble(t, fmt.Sprintf("%d places, next to the queue of the pool %v", places, queue), func(t *testing.T) {
				p := weir.New(places)
				var ran [4]atomic.Int64
				a, other := p.Lane(8), p
				if !queue {
					other = p.Lane(8)
				}
				for i, l := range []*weir.Pool{a, a.Lane(8), a.Lane(8), other} {
					feed(l, time.Millisecond, &ran[i])
				}
				time.Sleep(time.Second)
				own, first, second := ran[0].Load(), ran[1].Load(), ran[2].Load()
				if least := (own + first + second) * 3 / 10; own < least || first < least || second < least {
					t.Errorf("the lane has had %d tasks, its lanes %d and %d", own, first, second)
				}
				_, _ = p.Shutdown(nothingMore())
				p.Close()
			})
		}
	}
}
