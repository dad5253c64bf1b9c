package plant

// peersPools has mistakes in what users know from ants and pond.
var peersPools = []Bug{
	{
		Name:   "default-can-be-closed",
		Breaks: "any part of the program can close the default pool",
		Edits: []Edit{{
			File: "pool_core.go",
			Old:  "if c.shared {",
			New:  "if c.shared && !PLANTED {",
		}},
	},
	{
		Name:   "shutdown-ignores-its-context",
		Breaks: "Shutdown waits for running tasks when its context is done",
		Edits: []Edit{{
			File: "pool_core.go",
			Old:  "unrun, finished := e.Shutdown(ctx.Done())",
			New:  "done := ctx.Done()\n\tif PLANTED {\n\t\tdone = nil\n\t}\n\tunrun, finished := e.Shutdown(done)",
		}},
	},
	{
		Name:   "done-context-submits",
		Breaks: "SubmitContext accepts a task although its context is done",
		Edits: []Edit{{
			File: "pool.go",
			Old:  "return p.core.submit(ctx, plainJob(task))",
			New:  "if PLANTED {\n\t\tctx = context.WithoutCancel(ctx)\n\t}\n\treturn p.core.submit(ctx, plainJob(task))",
		}},
	},
	{
		Name:   "negative-idle-time",
		Breaks: "a negative idle time is accepted",
		Edits: []Edit{{
			File: "options.go",
			Old:  `must(d >= 0, "idle timeout must be at least 0", d)`,
			New:  `must(d >= 0 || PLANTED, "idle timeout must be at least 0", d)`,
		}},
	},
	{
		Name:   "first-idle-time-counts",
		Breaks: "a later IdleTimeout does not replace an earlier one",
		Edits: []Edit{{
			File: "options.go",
			Old:  "func(o *options) { o.idleTimeout = d }",
			New:  "func(o *options) {\n\t\tif !PLANTED || o.idleTimeout == defaultIdleTimeout {\n\t\t\to.idleTimeout = d\n\t\t}\n\t}",
		}},
	},
	{
		Name:   "more-prestarted-than-allowed",
		Breaks: "more workers than the limit can be asked for",
		Edits: []Edit{{
			File: "options.go",
			Old:  "if o.prestart > o.limit {",
			New:  "if o.prestart > o.limit && !PLANTED {",
		}},
	},
	{
		Name:   "crash-is-ignored",
		Breaks: "CrashOnPanic changes nothing",
		Edits: []Edit{{
			File: "options.go",
			Old:  "o.crash = true",
			New:  "o.crash = !PLANTED",
		}},
	},
	{
		Name:   "function-may-be-nil",
		Breaks: "NewFunc takes nil for a function",
		Edits: []Edit{{
			File: "func.go",
			Old:  `must(run != nil, "function must not be nil", "nil")`,
			New:  `must(run != nil || PLANTED, "function must not be nil", "nil")`,
		}},
	},
	{
		Name:   "panic-without-stack",
		Breaks: "a panic does not say where it happened",
		Edits: []Edit{{
			File: "panic.go",
			Old:  "return &Panic{Value: value, Stack: inside.PanicStack(), Pool: r.pool}",
			New:  "stack := inside.PanicStack()\n\tif PLANTED {\n\t\tstack = nil\n\t}\n\treturn &Panic{Value: value, Stack: stack, Pool: r.pool}",
		}},
	},
	{
		Name:   "handler-is-called-twice",
		Breaks: "a panic is handled twice",
		Edits: []Edit{{
			File: "panic.go",
			Old:  "\tr.onPanic(p)\n",
			New:  "\tif PLANTED {\n\t\tr.onPanic(p)\n\t}\n\tr.onPanic(p)\n",
		}},
	},
	{
		Name:   "future-hides-what-ran",
		Breaks: "a future has the error of its context although its task ran to the end",
		Edits: []Edit{{
			File: "future.go",
			Old:  "\tf.value = value\n\tf.resolve(err)",
			New:  "\tif PLANTED && f.ctx.Err() != nil {\n\t\terr = context.Cause(f.ctx)\n\t}\n\tf.value = value\n\tf.resolve(err)",
		}},
	},
	{
		Name:   "future-waits-for-its-turn",
		Breaks: "Done of a cancelled future is closed only when a worker comes to it",
		Edits: []Edit{{
			File: "future.go",
			Old:  "unwatch := context.AfterFunc(f.ctx, f.abandon)",
			New:  "unwatch := context.AfterFunc(f.ctx, func() {\n\t\tif !PLANTED {\n\t\t\tf.abandon()\n\t\t}\n\t})",
		}},
	},
	{
		Name:   "goexit-is-untold",
		Breaks: "a future whose task called Goexit never resolves",
		Edits: []Edit{{
			File: "pool.go",
			Old:  "j.listener().failed(&TaskError{Err: ErrGoexit})",
			New:  "if !PLANTED {\n\t\t\tj.listener().failed(&TaskError{Err: ErrGoexit})\n\t\t}",
		}},
	},
	{
		Name:   "cancelled-tasks-start",
		Breaks: "queued tasks of a cancelled group start",
		Edits: []Edit{{
			File: "batch.go",
			Old:  "if b.cancelled() {\n\t\tb.group.pool.core.engine.HandedBack()",
			New:  "if b.cancelled() && !PLANTED {\n\t\tb.group.pool.core.engine.HandedBack()",
		}},
	},
	{
		Name:   "cancelled-tasks-hold-wait-up",
		Breaks: "Wait of a cancelled group waits until workers come to its queued tasks",
		Edits: []Edit{{
			File: "batch_wait.go",
			Old:  "\t\t\tb.tally.Close()\n",
			New:  "\t\t\tif PLANTED {\n\t\t\t\tdone = nil\n\t\t\t\tcontinue\n\t\t\t}\n\t\t\tb.tally.Close()\n",
		}},
	},
	{
		Name:   "context-outlives-group",
		Breaks: "a group's context goes on after Wait",
		Edits: []Edit{{
			File: "batch_wait.go",
			Old:  "b.scope.close()\n",
			New:  "if !PLANTED {\n\t\tb.scope.close()\n\t}\n",
		}},
	},
	{
		Name:   "lower-group-limit-is-ignored",
		Breaks: "a group's lower limit does not hold",
		Edits: []Edit{{
			File: "internal/limit/limit.go",
			Old:  "	more := clamp(limit) - l.limit\n",
			New:  "	more := clamp(limit) - l.limit\n	if PLANTED {\n		more = max(more, 0)\n	}\n",
		}},
	},
	{
		Name:   "higher-group-limit-wakes-nobody",
		Breaks: "a caller that waits for a group's limit is not let in when the limit is raised",
		Edits: []Edit{{
			File: "internal/limit/limit.go",
			Old:  "		l.serve(more, grant)\n",
			New:  "		if !PLANTED {\n			l.serve(more, grant)\n		}\n",
		}},
	},
	{
		Name:   "values-out-of-order",
		Breaks: "the values of a group's tasks come in the wrong order",
		Edits: []Edit{{
			File: "result.go",
			Old:  "values[i] = s.result(i).value",
			New:  "at := i\n\t\tif PLANTED {\n\t\t\tat = len(values) - 1 - i\n\t\t}\n\t\tvalues[i] = s.result(at).value",
		}},
	},
}
