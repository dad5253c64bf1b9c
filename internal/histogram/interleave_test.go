package histogram_test

import (
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/histogram"
	"github.com/64ed045f/weir/internal/step"
)

func TestInterleavings(t *testing.T) { step.Test(t, scenes...) }

var scenes = []step.Scene{
	scene("two goroutines add the first duration of a bucket", time.Second, time.Second),
	scene("two goroutines add the first durations of two octaves", time.Second, time.Minute),
	scene("three goroutines add the first durations of a histogram", time.Second, time.Second, time.Hour),
}

func scene(name string, durations ...time.Duration) step.Scene {
	return step.Scene{Name: name, Quick: 2, Deep: 3, Free: 1, Body: func(r *step.Run) {
		var c histogram.Counter
		for _, d := range durations {
			r.Go("adds", func() { c.Add(d, 1) })
		}
		r.Join()
		var n uint64
		_, counts, _ := c.Counts()
		for _, count := range counts {
			n += count
		}
		r.Check(n == uint64(len(durations)), "%d were counted, of %d", n, len(durations))
	}}
}
