package plant

// leaks has mistakes that keep what the program needs no more.
var leaks = []Bug{
	{
		Name:   "ring-keeps-task",
		Breaks: "a slot of the ring keeps its task until it is used again",
		Edits: []Edit{{
			File: "internal/engine/ring.go",
			Old:  "s.value = zero // the ring must not",
			New:  "if !PLANTED { s.value = zero } // the ring must not",
		}},
	},
	{
		Name:   "worker-keeps-task",
		Breaks: "a worker at rest keeps the task that it has run last",
		Edits: []Edit{{
			File: "internal/engine/worker.go",
			Old:  "task = none // a worker at rest",
			New:  "if !PLANTED { task = none } // a worker at rest",
		}},
	},
	{
		Name:   "hand-keeps-task",
		Breaks: "a worker keeps the task that was handed to it directly",
		Edits: []Edit{{
			File: "internal/engine/worker.go",
			Old:  "\tw.hand = zero\n",
			New:  "\tif !PLANTED { w.hand = zero }\n",
		}},
	},
	{
		Name:   "line-keeps-task",
		Breaks: "a used place in the line keeps the task of the submitter that waited there",
		Edits: []Edit{{
			File: "internal/engine/line.go",
			Old:  "\ts.value, s.verdict = zero, verdict\n",
			New:  "\ts.verdict = verdict\n\tif !PLANTED {\n\t\ts.value = zero\n\t}\n",
		}},
	},
	{
		Name:   "discard-keeps-task",
		Breaks: "tasks of a cancelled group stay in the queue until their turn",
		Edits: []Edit{{
			File: "internal/engine/control.go",
			Old:  "\tq.shed(e.Void, e.gone)\n",
			New:  "\tif PLANTED {\n\t\treturn\n\t}\n\tq.shed(e.Void, e.gone)\n",
		}},
	},
	{
		Name:   "used-ring-stays",
		Breaks: "a ring that is used up is not dropped, and with it all that were before it",
		Edits: []Edit{{
			File: "internal/engine/queue.go",
			Old:  "\t\tr.next = next\n",
			New:  "\t\tr.next = next\n\t\tif PLANTED { q.kept = append(q.kept, r) }\n",
		}, {
			File: "internal/engine/queue.go",
			Old:  "\tcapacity int // math.MaxInt: no bound\n",
			New:  "\tcapacity int // math.MaxInt: no bound\n\tkept []*ring[T]\n",
		}},
	},
	{
		Name:   "future-keeps-task",
		Breaks: "a future keeps its task when that has run",
		Edits: []Edit{{
			File: "future.go",
			Old:  "f.body = nil // the future may live for longer",
			New:  "if !PLANTED { f.body = nil } // the future may live for longer",
		}},
	},
	{
		Name:   "refused-future-keeps-task",
		Breaks: "a future keeps a task that will never run",
		Edits: []Edit{{
			File: "future.go",
			Old:  "f.body = nil\n\tf.settle(err)",
			New:  "if !PLANTED {\n\t\tf.body = nil\n\t}\n\tf.settle(err)",
		}},
	},
	{
		Name:   "results-keep-batch",
		Breaks: "results keep what was waited for",
		Edits: []Edit{{
			File: "result.go",
			Old:  "func (r *Results[T]) forget(s *resultSet[T]) { r.set",
			New:  "func (r *Results[T]) forget(s *resultSet[T]) { if PLANTED { return }; r.set",
		}},
	},
	{
		Name:   "worker-keeps-value",
		Breaks: "the values of workers that have ended stay reachable from the pool",
		Edits: []Edit{{
			File: "stateful_values.go",
			Old:  "\tv.dispose(own.state)\n",
			New:  "\tif PLANTED {\n\t\tdispose := v.dispose\n\t\tv.dispose = func(s S) { _ = own; dispose(s) }\n\t}\n\tv.dispose(own.state)\n",
		}},
	},
	{
		Name:   "scope-stays-listed",
		Breaks: "a task's context keeps those of all groups that were made from it",
		Edits: []Edit{{
			File: "context_scope.go",
			Old:  "if above := s.above; above != nil {",
			New:  "if above := s.above; above != nil && !PLANTED {",
		}},
	},
	{
		Name:   "timer-stays",
		Breaks: "a pool that was closed leaves its timer behind",
		Edits: []Edit{{
			File: "internal/engine/worker_rest.go",
			Old:  "\tif e.armed {\n\t\te.timer.Stop()\n\t}\n",
			New:  "\tif e.armed && !PLANTED {\n\t\te.timer.Stop()\n\t}\n",
		}},
	},
}
