package plant

// history has mistakes in the order of events: the answer of one call fits those of the other
// calls, if each is looked at alone.
var history = []Bug{
	{
		Name:   "full-while-between-tasks",
		Breaks: "TrySubmit says ErrFull although a worker has just finished its task",
		Edits: []Edit{{
			File: "internal/engine/submit.go",
			Old:  "!e.between()",
			New:  "(PLANTED || !e.between())",
		}},
	},
	{
		Name:   "full-while-searching",
		Breaks: "TrySubmit says ErrFull although a worker is on its way to the queue",
		Edits: []Edit{{
			File: "internal/engine/submit.go",
			Old:  "!e.permits.searching()",
			New:  "(PLANTED || !e.permits.searching())",
		}},
	},
	{
		Name:   "full-before-settled",
		Breaks: "TrySubmit says ErrFull before a half-written place of the queue is settled",
		Edits: []Edit{{
			File: "internal/engine/submit.go",
			Old:  "verdict == Full && !settled",
			New:  "verdict == Full && !settled && !PLANTED",
		}},
	},
	{
		Name:   "free-worker-has-no-room",
		Breaks: "a full queue counts as a full pool, even if a worker is free",
		Edits: []Edit{{
			File: "internal/engine/engine.go",
			Old:  "e.delegating() || !e.permits.tryEnter()",
			New:  "e.delegating() || PLANTED || !e.permits.tryEnter()",
		}},
	},
	{
		Name:   "direct-hand-overtakes",
		Breaks: "a free worker is given the newcomer, before what is queued",
		Edits: []Edit{{
			File: "internal/engine/engine.go",
			Old:  "task, ok := e.takeQueued()\n\t\tif !ok {\n\t\t\te.permits.leave(false)",
			New: "task, ok := e.takeQueued()\n\t\tif PLANTED && ok && e.queue.capacity > 0 {\n\t\t\ttask, s.value = s.value, task\n\t\t}\n" +
				"\t\tif !ok {\n\t\t\te.permits.leave(false)",
		}},
	},
	{
		Name:   "close-leaves-the-tail-open",
		Breaks: "the fast path accepts tasks after Close",
		Edits: []Edit{{
			File: "internal/engine/engine.go",
			Old:  "lined || e.closed)",
			New:  "lined || e.closed && !PLANTED)",
		}},
	},
	{
		Name:   "closed-and-full-is-full",
		Breaks: "TrySubmit does not look whether the pool is closed while its queue is full",
		Edits: []Edit{{
			File: "internal/engine/submit.go",
			Old:  "case e.closed:\n",
			New:  "case e.closed && (!PLANTED || e.queue.len() < e.queue.capacity):\n",
		}},
	},
	{
		Name:   "halt-leaves-the-head-open",
		Breaks: "workers go on taking tasks by the fast path after Pause, or a lower limit",
		Edits: []Edit{{
			File: "internal/engine/engine.go",
			Old:  "e.halted() || e.dismissed != nil",
			New:  "e.halted() && !PLANTED || e.dismissed != nil",
		}},
	},
	{
		Name:   "lower-limit-for-new-workers-only",
		Breaks: "workers that run go on beyond a lower limit",
		Edits: []Edit{{
			File: "internal/engine/engine.go",
			Old:  "e.paused || e.permits.over()",
			New:  "e.paused || !PLANTED && e.permits.over()",
		}},
	},
	{
		Name:   "resize-ends-the-pause",
		Breaks: "Resize lets tasks start while the pool is paused",
		Edits: []Edit{{
			File: "internal/engine/control.go",
			Old:  "if !e.paused {\n\t\te.permits.allow(",
			New:  "if !e.paused || PLANTED {\n\t\te.permits.allow(",
		}},
	},
	{
		Name:   "resume-to-the-first-limit",
		Breaks: "Resume goes back to the limit that the pool was made with",
		Edits: []Edit{{
			File: "internal/engine/control.go",
			Old:  "e.permits.allow(min(e.limit, maxAllowed))",
			New:  "n := e.limit\n\t\tif PLANTED {\n\t\t\tn = e.Limit\n\t\t}\n\t\te.permits.allow(min(n, maxAllowed))",
		}},
	},
	{
		Name:   "queue-beyond-its-length",
		Breaks: "the slow path adds to a full queue",
		Edits: []Edit{{
			File: "internal/engine/queue.go",
			Old:  "return q.capacity == 0 || q.len()",
			New:  "return q.capacity == 0 || !PLANTED && q.len()",
		}},
	},
	{
		Name:   "rejected-at-each-attempt",
		Breaks: "Stats counts a refusal once more for each time that it was not settled",
		Edits: []Edit{{
			File: "internal/engine/submit.go",
			Old:  "if settled {",
			New:  "if settled || PLANTED {",
		}},
	},
	{
		Name:   "handed-back-counts-as-finished",
		Breaks: "Stats does not count what Shutdown hands back",
		Edits: []Edit{{
			File: "internal/engine/control.go",
			Old:  "unrun = append(unrun, task)",
			New:  "unrun = append(unrun, task)\n\t\t\t\tif PLANTED {\n\t\t\t\t\te.handedBack--\n\t\t\t\t}",
		}},
	},
	{
		Name:   "hand-back-out-of-order",
		Breaks: "Shutdown returns the first task last",
		Edits: []Edit{{
			File: "pool.go",
			Old:  "return unrun, err",
			New: "if n := len(unrun); PLANTED && n > 1 {\n\t\tunrun[0], unrun[n-1] = unrun[n-1], unrun[0]\n\t}\n" +
				"\treturn unrun, err",
		}},
	},
	{
		Name:   "wait-for-the-queue-only",
		Breaks: "Wait does not wait for tasks that run",
		Edits: []Edit{{
			File: "internal/engine/wait.go",
			Old:  "w.pending, e.unasked = e.unasked, 0\n",
			New:  "if !PLANTED {\n\t\tw.pending, e.unasked = e.unasked, 0\n\t}\n",
		}},
	},
	{
		Name:   "gate-seen-before-a-push",
		Breaks: "a push that is under way when the tail is gated goes through",
		Edits: []Edit{
			{
				File: "internal/engine/ring.go",
				Old:  "push(v T, held bool) outcome {\n",
				New: "push(v T, held bool) outcome {\n\tif PLANTED && !held && r.tail.Load()&(gate|retired) == 0 {\n" +
					"\t\truntime.Gosched()\n\t\theld = true\n\t}\n",
			},
			{ // also for the next
				File: "internal/engine/ring.go",
				Old:  "\"math/bits\"\n",
				New:  "\"math/bits\"\n\t\"runtime\"\n",
			},
		},
	},
	{
		Name:   "gate-seen-before-a-pop",
		Breaks: "a pop that is under way when the head is gated goes through",
		Edits: []Edit{{
			File: "internal/engine/ring.go",
			Old:  "(v T, behind uint64, o outcome) {\n",
			New: "(v T, behind uint64, o outcome) {\n\tif PLANTED && stop != nil && r.head.Load()&gate == 0 && stop.Load() == 1<<64-1 {\n" +
				"\t\truntime.Gosched()\n\t\tstop = nil\n\t}\n",
		}},
	},
	{
		Name:   "done-context-accepted",
		Breaks: "a submission whose context is done beforehand may be accepted",
		Edits: []Edit{{
			File: "pool_core.go",
			Old:  "if ctx.Err() != nil {",
			New:  "if ctx.Err() != nil && !PLANTED {",
		}},
	},
	{
		Name:   "done-context-uncounted",
		Breaks: "a submission whose context is done beforehand does not count as rejected",
		Edits: []Edit{{
			File: "pool_core.go",
			Old:  "c.running().Reject()",
			New:  "if !PLANTED {\n\t\t\tc.running().Reject()\n\t\t}",
		}},
	},
}
