package plant

// engineWait has the mistakes in Wait: where it stops the queue, which workers it marks, when those report.
var engineWait = []Bug{
	{
		Name:   "wait-does-not-gate",
		Breaks: "a worker takes a task behind the end that Wait has read, before it learns where to stop",
		Edits: []Edit{{
			File: "internal/engine/wait.go",
			Old:  "e.queue.setGates(true, e.queue.tailGated)",
			New:  "if !PLANTED {\n\t\te.queue.setGates(true, e.queue.tailGated)\n\t}",
		}},
	},
	{
		Name:   "gate-opened-before-stop",
		Breaks: "the gate opens before workers learn where Wait stops them",
		Edits: []Edit{{
			File: "internal/engine/engine.go",
			Old:  "if e.checkWaits() {",
			New:  "if PLANTED {\n\t\te.regate()\n\t}\n\tif e.checkWaits() {",
		}},
	},
	{
		Name:   "taken-before-asked",
		Breaks: "a task behind the end of a Wait is taken under the lock before the workers were asked",
		Edits: []Edit{{
			File: "internal/engine/worker_next.go",
			Old:  "e.checkWaits() // before anything behind their position is taken",
			New:  "if !PLANTED {\n\t\te.checkWaits()\n\t}",
		}},
	},
	{
		Name:   "free-not-asked",
		Breaks: "a worker that has taken a task, and still looks free, is not asked",
		Edits: []Edit{{
			File: "internal/engine/wait.go",
			Old:  "w.pending, e.unasked = e.unasked, 0\n",
			New: "w.pending, e.unasked = e.unasked, 0\n\tfor _, c := range e.crew {\n\t\tif PLANTED && !c.idle && c.free.Load() && c.seen == w.number-1 {\n" +
				"\t\t\tc.seen = w.number\n\t\t\tw.pending--\n\t\t\te.unasked++\n\t\t}\n\t}\n",
		}},
	},
	{
		Name:   "reports-for-the-latest",
		Breaks: "a worker that two Waits have asked counts as if the later one alone had",
		Edits: []Edit{{
			File: "internal/engine/wait.go",
			Old:  "w.seen = e.asked.Load()\n\tif waits = waits[first:]; ",
			New:  "w.seen = e.asked.Load()\n\tif PLANTED && first < len(waits) {\n\t\tfirst = len(waits) - 1\n\t}\n\tif waits = waits[first:]; ",
		}},
	},
	{
		Name:   "last-task-not-waited-for",
		Breaks: "a worker that is asked while it takes the last task before the end of a Wait reports as if it had none of its tasks",
		Edits: []Edit{{
			File: "internal/engine/wait.go",
			Old:  "if behind != 0 {\n",
			New:  "if behind != 0 {\n\t\tif PLANTED {\n\t\t\tbehind++\n\t\t}\n",
		}},
	},
	{
		Name:   "reports-by-position-zero",
		Breaks: "a worker that is asked while it has just taken a task reports as if it had found none",
		Edits: []Edit{{
			File: "internal/engine/worker_next.go",
			Old:  "e.report(w, behind)\n",
			New:  "if PLANTED {\n\t\tbehind = 0\n\t}\n\te.report(w, behind)\n",
		}},
	},
	{
		Name:   "asks-not-read",
		Breaks: "a worker that is asked and finds its next task on the fast path does not report",
		Edits: []Edit{{
			File: "internal/engine/worker_next.go",
			Old:  "if e.asks(w) ||",
			New:  "if !PLANTED && e.asks(w) ||",
		}},
	},
	{
		Name:   "asks-by-ready",
		Breaks: "Wait asks the workers when no task is ready, though one is half-written",
		Edits: []Edit{{
			File: "internal/engine/wait.go",
			Old:  "if e.queue.begin() < w.at {",
			New:  "if e.queue.begin() < w.at && (!PLANTED || e.queue.ready()) {",
		}},
	},
	{
		Name:   "served-unasked",
		Breaks: "a worker that is asked and goes from a source to its next task does not report",
		Edits: []Edit{{
			File: "internal/engine/worker_next.go",
			Old:  "if !e.asks(w) && s.void == nil {",
			New:  "if (PLANTED || !e.asks(w)) && s.void == nil {",
		}},
	},
	{
		Name:   "taken-between-looks",
		Breaks: "a worker takes a task behind the end of a Wait under the lock, as another one has taken the last before it meanwhile",
		Edits: []Edit{{
			File: "internal/engine/worker_next.go",
			Old:  "if len(e.waits) > 0 {",
			New:  "if !PLANTED && len(e.waits) > 0 {",
		}},
	},
	{
		Name:   "asked-after-stop",
		Breaks: "workers are let beyond the end of a Wait before they are asked",
		Edits: []Edit{{
			File: "internal/engine/wait.go",
			Old:  "\t\te.ask(w)\n",
			New:  "\t\tif PLANTED {\n\t\t\te.waitAt.Store(never)\n\t\t}\n\t\te.ask(w)\n",
		}},
	},
	{
		Name:   "engaged-with-an-old-number",
		Breaks: "a worker that was idle when a Wait asked reports for it as if it had been counted",
		Edits: []Edit{{
			File: "internal/engine/wait.go",
			Old:  "w.seen = e.asked.Load()\n\te.unasked++",
			New:  "if !PLANTED {\n\t\tw.seen = e.asked.Load()\n\t}\n\te.unasked++",
		}},
	},
	{
		Name:   "given-up-with-its-workers",
		Breaks: "workers that a Wait that was given up has waited for are not waited for by the next, which waits for them as well",
		Edits: []Edit{{
			File: "internal/engine/wait.go",
			Old:  "w.pending += pending\n",
			New:  "if PLANTED {\n\t\t\t\tpending = 0\n\t\t\t}\n\t\t\tw.pending += pending\n",
		}},
	},
	{
		Name:   "given-up-not-asked-again",
		Breaks: "a worker that the last Wait has asked, before that was given up, is not asked by the next one",
		Edits: []Edit{{
			File: "internal/engine/wait.go",
			Old:  "e.unasked += pending\n",
			New:  "if !PLANTED {\n\t\te.unasked += pending\n\t}\n",
		}},
	},
	{
		Name:   "waits-for-the-struck-off",
		Breaks: "Wait in a paused engine waits for tasks that were discarded",
		Edits: []Edit{{
			File: "internal/engine/wait.go",
			Old:  "room = e.queue.shed(e.Void, e.gone)",
			New:  "if !PLANTED {\n\t\t\troom = e.queue.shed(e.Void, e.gone)\n\t\t}",
		}},
	},
}
