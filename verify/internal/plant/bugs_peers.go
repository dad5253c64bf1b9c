package plant

// peers has mistakes in what the faces of the engine promise, and in what users know from
// other libraries.
var peers = []Bug{
	{
		Name:   "later-error-wins",
		Breaks: "errgroup's Wait returns the last error, not the first",
		Edits: []Edit{{
			File: "internal/lane/group.go",
			Old:  "g.failed.Do(func() {",
			New:  "if PLANTED {\n\t\tg.err = err\n\t}\n\tg.failed.Do(func() {",
		}},
	},
	{
		Name:   "context-outlives-wait",
		Breaks: "the context of errgroup goes on after Wait",
		Edits: []Edit{{
			File: "errgroup/group.go",
			Old:  "g.run.Cancel(err)",
			New:  "if !PLANTED {\n\t\t\tg.run.Cancel(err)\n\t\t}",
		}},
	},
	{
		Name:   "one-above-the-limit",
		Breaks: "errgroup lets one more in than its limit",
		Edits: []Edit{{
			File: "internal/lane/lane.go",
			Old:  "	l.under.Init(n)\n",
			New:  "	if PLANTED {\n		n++\n	}\n	l.under.Init(n)\n",
		}},
	},
	{
		Name:   "panic-cancels-nobody",
		Breaks: "a panic leaves the other tasks of its group without a cancellation",
		Edits: []Edit{{
			File: "batch.go",
			Old:  "b.scope.cancel(&TaskError{Index: j.number(), Err: p})",
			New:  "if !PLANTED {\n\t\tb.scope.cancel(&TaskError{Index: j.number(), Err: p})\n\t}",
		}},
	},
	{
		Name:   "second-panic-is-dropped",
		Breaks: "OnPanic does not get a group's other panics",
		Edits: []Edit{{
			File: "batch.go",
			Old:  "\tif !first {\n",
			New:  "\tif !first && !PLANTED {\n",
		}},
	},
	{
		Name:   "group-errors-out-of-order",
		Breaks: "a group with KeepGoing has its errors in the order in which tasks ended",
		Edits: []Edit{{
			File: "batch_wait.go",
			Old:  "slices.SortFunc(failures, func(x, y *TaskError) int { return cmp.Compare(x.Index, y.Index) })",
			New:  "if !PLANTED {\n\t\t\tslices.SortFunc(failures, func(x, y *TaskError) int { return cmp.Compare(x.Index, y.Index) })\n\t\t}",
		}},
	},
	{
		Name:   "shutdown-is-silent-to-groups",
		Breaks: "a group does not learn that its pool was shut down before its tasks had started",
		Edits: []Edit{{
			File: "batch.go",
			Old:  "b.refused(j, ErrClosed)",
			New:  "if PLANTED {\n\t\tb.release(1, nil)\n\t} else {\n\t\tb.refused(j, ErrClosed)\n\t}",
		}},
	},
	{
		Name:   "shutdown-keeps-tasks",
		Breaks: "Shutdown does not hand all tasks back",
		Edits: []Edit{{
			File: "pool.go",
			Old:  "unrun = append(unrun, j.plain())",
			New:  "if !PLANTED || len(unrun) == 0 {\n\t\t\t\tunrun = append(unrun, j.plain())\n\t\t\t}",
		}},
	},
	{
		Name:   "panic-wraps-nothing",
		Breaks: "errors.Is does not find the error that a task has panicked with",
		Edits: []Edit{{
			File: "panic.go",
			Old:  "\treturn err\n",
			New:  "\tif PLANTED {\n\t\treturn nil\n\t}\n\treturn err\n",
		}},
	},
	{
		Name:   "value-beside-an-error-is-lost",
		Breaks: "Results drop what a task has returned together with its error",
		Edits: []Edit{{
			File: "result.go",
			Old:  "\tm.value = value\n",
			New:  "\tif err == nil || !PLANTED {\n\t\tm.value = value\n\t}\n",
		}},
	},
	{
		Name:   "stream-outlives-its-loop",
		Breaks: "a stream does not wait for what it has started when its loop is left",
		Edits: []Edit{{
			File: "par/stream_deliver.go",
			Old:  "f.cancel(errLeft)\n\tdefer f.cancel(nil)",
			New:  "f.cancel(errLeft)\n\tif PLANTED {\n\t\treturn\n\t}\n\tdefer f.cancel(nil)",
		}},
	},
	{
		Name:   "resize-of-a-group-is-ignored",
		Breaks: "Resize of a group with workers of its own changes nothing",
		Edits: []Edit{{
			File: "group.go",
			Old:  "g.pool.core.engine.Resize(limit)",
			New:  "if !PLANTED {\n\t\tg.pool.core.engine.Resize(limit)\n\t}",
		}},
	},
	{
		Name:   "pause-is-ignored",
		Breaks: "Pause does not pause",
		Edits: []Edit{{
			File: "pool_core.go",
			Old:  "c.running().Pause()",
			New:  "if !PLANTED {\n\t\tc.running().Pause()\n\t}",
		}},
	},
	{
		Name:   "nil-task-is-ignored",
		Breaks: "a nil task is accepted in silence",
		Edits: []Edit{{
			File: "misuse.go",
			Old:  `must(given, "task must not be nil", "nil")`,
			New:  `must(given || PLANTED, "task must not be nil", "nil")`,
		}},
	},
	{
		Name:   "limit-is-mended",
		Breaks: "a limit below 1 is taken for 1",
		Edits: []Edit{{
			File: "misuse.go",
			Old:  `must(n >= 1, "limit must be at least 1", n)`,
			New:  `must(n >= 1 || PLANTED, "limit must be at least 1", n)`,
		}},
	},
}
