package plant

// engineReturn has mistakes in how a task that has given its place up goes on.
var engineReturn = []Bug{
	{
		Name:   "returns-without-permit",
		Breaks: "a task that has given its place up goes on without a permit",
		Edits: []Edit{{
			File: "internal/engine/absence.go",
			Old:  "case e.permits.tryReturn(e.limit):",
			New:  "case PLANTED || e.permits.tryReturn(e.limit):",
		}},
	},
	{
		Name:   "begins-before-returning",
		Breaks: "a worker at rest takes a new task though one that has waited wants to go on",
		Edits: []Edit{{
			File: "internal/engine/worker_rest.go",
			Old:  "if !e.halted() && !e.placeWanted() {",
			New:  "if !e.halted() && (PLANTED || !e.placeWanted()) {",
		}},
	},
	{
		Name:   "returning-not-gated",
		Breaks: "workers take tasks by the fast path though one that has waited wants to go on",
		Edits: []Edit{{
			File: "internal/engine/engine.go",
			Old:  "beside := e.placeWanted() || e.delegating()",
			New:  "beside := !PLANTED && e.placeWanted() || e.delegating()",
		}},
	},
	{
		Name:   "recalled-blindly",
		Breaks: "a recall does not look whether there is a permit for the task that comes back",
		Edits: []Edit{{
			File: "internal/engine/absence.go",
			Old:  "\te.recall(a, by)\n\ttaken =",
			New:  "\te.recall(a, by)\n\tif PLANTED && e.placeWanted() {\n\t\te.regate()\n\t\te.mu.Unlock()\n\t\treturn false\n\t}\n\ttaken =",
		}},
	},
	{
		Name:   "subtask-comes-not-back",
		Breaks: "a subtask that has given up its place does not get the one of the task that waits for it",
		Edits: []Edit{{
			File: "internal/engine/absence.go",
			Old:  "e.look(&p.part.want)\n",
			New:  "if !PLANTED {\n\t\t\te.look(&p.part.want)\n\t\t}\n",
		}},
	},
	{
		Name:   "return-unseen",
		Breaks: "a task that begins to wait does not see that what it waits for wants to go on",
		Edits: []Edit{{
			File: "internal/engine/want.go",
			Old:  "\tcase s.returning.First() != nil:\n",
			New:  "\tcase s.returning.First() != nil && !PLANTED:\n",
		}},
	},
	{
		Name:   "future-comes-not-back",
		Breaks: "the task of a future that has given up its place does not get the one of the task that waits for it",
		Edits: []Edit{{
			File: "internal/engine/absence.go",
			Old:  "l != nil && p.without; l = l.Next() {",
			New:  "l != nil && p.without && !PLANTED; l = l.Next() {",
		}},
	},
	{
		Name:   "future-return-unseen",
		Breaks: "a task that begins to wait does not see that the task of its future wants to go on",
		Edits: []Edit{{
			File: "internal/engine/want.go",
			Old:  "\t\tcase found.returning != nil:\n",
			New:  "\t\tcase found.returning != nil && !PLANTED:\n",
		}},
	},
	{
		Name:   "return-behind-stranger",
		Breaks: "a task that returns from Blocking waits for one that has the place of the task which waits for it",
		Edits: []Edit{{
			File: "internal/engine/place.go",
			Old:  "e.returning.First() == nil); belongs {",
			New:  "e.returning.First() == nil); belongs || PLANTED {",
		}},
	},
}
