package plant

// engineWait has the mistakes in Wait: where it stops the queue, whom it marks, when those report.
var engineWait = []Bug{
	{
		Name:   "wait-does-not-gate",
		Breaks: "a worker takes a task behind the end that Wait has read, before it is told where to stop",
		Edits: []Edit{{
			File: "internal/engine/wait.go",
			Old:  "e.queue.setGates(true, e.queue.tailGated)",
			New:  "if !PLANTED {\n\t\te.queue.setGates(true, e.queue.tailGated)\n\t}",
		}},
	},
	{
		Name:   "gate-opened-before-stop",
		Breaks: "the gate opens before workers are told where Wait stops them",
		Edits: []Edit{{
			File: "internal/engine/engine.go",
			Old:  "e.checkWaits()\n\te.wind()",
			New:  "if PLANTED {\n\t\te.regate()\n\t}\n\te.checkWaits()\n\te.wind()",
		}},
	},
	{
		Name:   "taken-before-scan",
		Breaks: "a task behind the end of a Wait is taken under the lock before the workers were marked",
		Edits: []Edit{{
			File: "internal/engine/worker.go",
			Old:  "e.checkWaits() // before anything behind their position is taken",
			New:  "if !PLANTED {\n\t\te.checkWaits()\n\t}",
		}},
	},
	{
		Name:   "free-not-marked",
		Breaks: "a worker that has taken a task, and still looks free, is not marked",
		Edits: []Edit{{
			File: "internal/engine/wait.go",
			Old:  "if c.idle {",
			New:  "if c.idle || PLANTED && c.free.Load() {",
		}},
	},
	{
		Name:   "mark-overwritten",
		Breaks: "the mark for a Wait replaces that for an earlier one",
		Edits: []Edit{{
			File: "internal/engine/wait.go",
			Old:  "if c.mark.Load() == 0 {",
			New:  "if PLANTED || c.mark.Load() == 0 {",
		}},
	},
	{
		Name:   "last-task-not-waited-for",
		Breaks: "a marked worker that takes the last task before the end of a Wait reports as if it had none of its tasks",
		Edits: []Edit{{
			File: "internal/engine/wait.go",
			Old:  "behind <= wait.at {",
			New:  "(behind < wait.at || !PLANTED && behind == wait.at) {",
		}},
	},
	{
		Name:   "reports-by-position-zero",
		Breaks: "a marked worker that has just taken a task reports as if it had found none",
		Edits: []Edit{{
			File: "internal/engine/worker.go",
			Old:  "e.report(w, behind)\n",
			New:  "if PLANTED {\n\t\tbehind = 0\n\t}\n\te.report(w, behind)\n",
		}},
	},
	{
		Name:   "mark-not-read",
		Breaks: "a marked worker that finds its next task on the fast path does not report",
		Edits: []Edit{{
			File: "internal/engine/worker.go",
			Old:  "if w.mark.Load() != 0 ||",
			New:  "if !PLANTED && w.mark.Load() != 0 ||",
		}},
	},
	{
		Name:   "scan-by-ready",
		Breaks: "Wait scans the workers when no task is ready, though one is half-written",
		Edits: []Edit{{
			File: "internal/engine/wait.go",
			Old:  "if e.queue.begin() < w.at {",
			New:  "if e.queue.begin() < w.at && (!PLANTED || e.queue.ready()) {",
		}},
	},
	{
		Name:   "served-unmarked",
		Breaks: "a marked worker that goes from a source to its next task does not report",
		Edits: []Edit{{
			File: "internal/engine/worker.go",
			Old:  "if w.mark.Load() == 0 {\n\t\te.mu.Unlock()\n\t\treturn task, true",
			New:  "if PLANTED || w.mark.Load() == 0 {\n\t\te.mu.Unlock()\n\t\treturn task, true",
		}},
	},
	{
		Name:   "taken-between-looks",
		Breaks: "a worker takes a task behind the end of a Wait under the lock, as another one has taken the last before it meanwhile",
		Edits: []Edit{{
			File: "internal/engine/worker.go",
			Old:  "if len(e.waits) > 0 {",
			New:  "if !PLANTED && len(e.waits) > 0 {",
		}},
	},
	{
		Name:   "waits-for-the-struck-off",
		Breaks: "Wait in a paused engine waits for tasks that were struck off",
		Edits: []Edit{{
			File: "internal/engine/wait.go",
			Old:  "e.queue.shed()",
			New:  "if !PLANTED {\n\t\te.queue.shed()\n\t}",
		}},
	},
}
