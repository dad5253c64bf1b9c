package engine_test

import (
	"slices"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/step"
)

// measuredScenes are those of submitters and of changes that show most of what can go wrong with marks.
var measuredScenes = []string{
	"two submitters, one worker",
	"two that need each other come in at once",
	"two that need each other come in after one",
	"waiting submitters are served while a task that was let in waits for the next",
	"a worker takes a task while the queue is searched for void ones",
}

// meterScenes are others again, in which all tasks are measured, and one in which not all are.
func meterScenes() []step.Scene {
	scenes := slices.DeleteFunc(slices.Concat(submitScenes, controlScenes), func(s step.Scene) bool { return !slices.Contains(measuredScenes, s.Name) })
	return append(again(append(scenes, ringScenes...), ", measured", measured),
		step.Scene{Name: "two submitters in a ring that measures one of four", Quick: 2, Deep: 3, Free: 1, Body: func(r *step.Run) {
			ring := engine.NewMeasuredRing(8, 2, r.Choose)
			push := func(n int) func() {
				return func() {
					for i := range n {
						r.Check(ring.Push(i) == engine.Done, "no room")
					}
				}
			}
			push(1)()
			r.Go("one", push(3))
			r.Go("other", push(3))
			r.Join()
			measured := 0
			for o := engine.Done; o == engine.Done; {
				var weight int
				weight, o = ring.PopWeight()
				measured += weight
			}
			next := ring.MeasuresFrom()
			r.Check(next >= measured && next < measured+4, "those measured stand for %d tasks, and the next is number %d", measured, next)
		}})
}
