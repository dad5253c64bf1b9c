package plant

// engineNested has the mistakes with subtasks, and with tasks that wait for them.
var engineNested = []Bug{
	{
		Name:   "returns-without-permit",
		Breaks: "a task that has waited for others goes on without a permit",
		Edits: []Edit{{
			File: "internal/engine/absence.go",
			Old:  "e.permits.tryReturn(e.limit)",
			New:  "PLANTED || e.permits.tryReturn(e.limit)",
		}},
	},
	{
		Name:   "debt-not-paid",
		Breaks: "a permit that was not there when it was given up is not there for ever",
		Edits: []Edit{{
			File: "internal/engine/absence.go",
			Old:  "e.debt--\n",
			New:  "if !PLANTED {\n\t\t\t\te.debt--\n\t\t\t}\n",
		}},
	},
	{
		Name:   "early-recall-lost",
		Breaks: "a task that is recalled before it has stepped aside waits for good",
		Edits: []Edit{{
			File: "internal/engine/absence.go",
			Old:  "if a.state == early {\n\t\ta.state = present\n\t\te.mu.Unlock()",
			New:  "if !PLANTED && a.state == early {\n\t\ta.state = present\n\t\te.mu.Unlock()",
		}},
	},
	{
		Name:   "lends-while-halted",
		Breaks: "a task that steps aside has a subtask started in a paused engine",
		Edits: []Edit{{
			File: "internal/engine/absence.go",
			Old:  "if s != nil && !e.halted() {",
			New:  "if s != nil && (PLANTED || !e.halted()) {",
		}},
	},
	{
		Name:   "serves-while-halted",
		Breaks: "a worker that serves a source starts its tasks in a paused engine",
		Edits: []Edit{{
			File: "internal/engine/worker.go",
			Old:  "if !e.halted() {\n",
			New:  "if PLANTED || !e.halted() {\n",
		}},
	},
	{
		Name:   "handed-back-twice",
		Breaks: "a worker gives its permit to the task that waits, and back to the engine as well",
		Edits: []Edit{{
			File: "internal/engine/absence.go",
			Old:  "w.makePlace()\n\te.mu.Lock()\n\treturn true",
			New:  "w.makePlace()\n\te.mu.Lock()\n\tif PLANTED {\n\t\te.leave(false)\n\t}\n\treturn true",
		}},
	},
	{
		Name:   "delegated-unlisted",
		Breaks: "a subtask that is added while its source leaves the list is not seen",
		Edits: []Edit{{
			File: "internal/engine/source.go",
			Old:  "if s.listed.Load() { // a listed",
			New:  "if PLANTED || s.listed.Load() { // a listed",
		}},
	},
	{
		Name:   "unlisted-without-look",
		Breaks: "a source leaves the list without a second look whether a task came in",
		Edits: []Edit{{
			File: "internal/engine/source.go",
			Old:  "s.listed.Store(false)\n\tif s.open.Load() == 0 {",
			New:  "s.listed.Store(false)\n\tif PLANTED || s.open.Load() == 0 {",
		}},
	},
	{
		Name:   "delegated-to-the-dead",
		Breaks: "a subtask that comes in while Shutdown hands back what there is stays in its source",
		Edits: []Edit{{
			File: "internal/engine/source.go",
			Old:  "defer e.unlock()\n\tif e.abandoned.Load() {",
			New:  "defer e.unlock()\n\tif !PLANTED && e.abandoned.Load() {",
		}},
	},
	{
		Name:   "claimed-without-easing",
		Breaks: "who waits for room in a source is not recalled when others take tasks from it",
		Edits: []Edit{{
			File: "internal/engine/source.go",
			Old:  "e.eased(s)\n\t\t\treturn task, true",
			New:  "if !PLANTED {\n\t\t\t\te.eased(s)\n\t\t\t}\n\t\t\treturn task, true",
		}},
	},
	{
		Name:   "served-without-easing",
		Breaks: "who waits for room in a source is not recalled when the worker that serves it takes tasks",
		Edits: []Edit{{
			File: "internal/engine/worker.go",
			Old:  "e.eased(s)\n",
			New:  "if !PLANTED {\n\t\t\t\te.eased(s)\n\t\t\t}\n",
		}},
	},
	{
		Name:   "begins-before-returning",
		Breaks: "a worker at rest takes a new task though one that has waited wants to go on",
		Edits: []Edit{{
			File: "internal/engine/worker.go",
			Old:  "if !e.halted() && len(e.returning) == 0 {",
			New:  "if !e.halted() && (PLANTED || len(e.returning) == 0) {",
		}},
	},
	{
		Name:   "returning-not-gated",
		Breaks: "workers take tasks by the fast path though one that has waited wants to go on",
		Edits: []Edit{{
			File: "internal/engine/engine.go",
			Old:  "beside := len(e.returning) > 0 || e.delegating()",
			New:  "beside := !PLANTED && len(e.returning) > 0 || e.delegating()",
		}},
	},
	{
		Name:   "deeper-go-last",
		Breaks: "of the tasks that want to go on the one that others wait for is not the first",
		Edits: []Edit{{
			File: "internal/engine/absence.go",
			Old:  "e.returning[i-1].Depth < a.Depth; i-- {",
			New:  "!PLANTED && e.returning[i-1].Depth < a.Depth; i-- {",
		}},
	},
	{
		Name:   "recalled-blindly",
		Breaks: "a recall does not look whether there is a permit for who comes back",
		Edits: []Edit{{
			File: "internal/engine/absence.go",
			Old:  "e.recall(a)\n\te.unlock()",
			New:  "e.recall(a)\n\tif PLANTED {\n\t\te.regate()\n\t\te.mu.Unlock()\n\t\treturn\n\t}\n\te.unlock()",
		}},
	},
	{
		Name:   "delegate-does-not-wake",
		Breaks: "a subtask that joins others in a source wakes nobody",
		Edits: []Edit{{
			File: "internal/engine/source.go",
			Old:  "if e.permits.wakeable() {",
			New:  "if !PLANTED && e.permits.wakeable() {",
		}},
	},
}
