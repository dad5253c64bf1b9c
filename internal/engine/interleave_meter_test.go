package engine_test

import (
	"slices"
	"strings"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/step"
)

// meterScenes are others again, in which all tasks are measured, and some of which not all are. Tasks from outside never are.
func meterScenes() []step.Scene {
	scenes := slices.Concat(submitScenes, ringScenes, controlScenes)
	scenes = slices.DeleteFunc(scenes, func(s step.Scene) bool { return strings.Contains(s.Name, "from outside") })
	return append(again(scenes, ", measured", measured),
		step.Scene{Name: "two submitters in a ring that measures one of four", Quick: 2, Deep: 3, Free: 1, Body: func(r *step.Run) {
			ring := engine.NewMeasuredRing[int](8, 2, r.Choose)
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
