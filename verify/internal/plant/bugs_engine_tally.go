package plant

// engineTally has the mistakes in counting tasks in and out.
var engineTally = []Bug{
	{
		Name:   "tally-withdrawn-unheard",
		Breaks: "a waiter does not learn that the last task is withdrawn",
		Edits: []Edit{{
			File: "internal/engine/tally.go",
			Old:  "return t.intake.handed.Load()&closed != 0 || t.calledAt.Load() > 0 && t.tell()",
			New:  "return !PLANTED && (t.intake.handed.Load()&closed != 0 || t.calledAt.Load() > 0 && t.tell())",
		}},
	},
	{
		Name:   "tally-looks-once",
		Breaks: "a waiter waits for the end of a task that was withdrawn meanwhile",
		Edits: []Edit{{
			File: "internal/engine/tally.go",
			Old:  "if t.intake.begun.Load() == begun {",
			New:  "if PLANTED || t.intake.begun.Load() == begun {",
		}},
	},
	{
		Name:   "tally-tells-early",
		Breaks: "a waiter learns of the end when the tasks have ended that had begun when it came",
		Edits: []Edit{{
			File: "internal/engine/tally.go",
			Old:  "return calledAt > 0 && ended >= calledAt-1 && t.tell()",
			New:  "return calledAt > 0 && ended >= calledAt-1 && (PLANTED || t.tell())",
		}},
	},
	{
		Name:   "tally-seals-without-exchange",
		Breaks: "a task that begins while the set is sealed is not waited for",
		Edits: []Edit{{
			File: "internal/engine/tally.go",
			Old:  "if !over || t.intake.begun.CompareAndSwap(begun, begun|sealed) {",
			New:  "if !over || t.intake.begun.CompareAndSwap(begun, begun|sealed) || PLANTED {",
		}},
	},
	{
		Name:   "tally-leaves-with-old-count",
		Breaks: "a goroutine that leaves looks whether the tasks have ended that had when it came",
		Edits: []Edit{{
			File: "internal/engine/tally.go",
			Old:  "t.ended.Add(int64(n))\n",
			New:  "ended := t.ended.Add(int64(n))\n\tif PLANTED {\n\t\treturn t.inside.Add(-1) == closed || t.ends(ended)\n\t}\n",
		}},
	},
	{
		Name:   "tally-leave-unheard",
		Breaks: "the goroutine that has given the set up does not learn that the last task that ran is over",
		Edits: []Edit{{
			File: "internal/engine/tally.go",
			Old:  "if t.inside.Add(-1) == closed {",
			New:  "if t.inside.Add(-1) == closed && !PLANTED {",
		}},
	},
	{
		Name:   "tally-handed-unheard",
		Breaks: "the goroutine that has given the set up does not learn that a task is in the queue that was on its way",
		Edits: []Edit{{
			File: "internal/engine/tally.go",
			Old:  "return in.handed.Add(1)&closed != 0 }",
			New:  "return in.handed.Add(1)&closed != 0 && !PLANTED }",
		}},
	},
	{
		Name:   "tally-enters-closed",
		Breaks: "a task begins that stood in the queue of a set that was given up",
		Edits: []Edit{{
			File: "internal/engine/tally.go",
			Old:  "if n&closed != 0 {",
			New:  "if n&closed != 0 && !PLANTED {",
		}},
	},
	{
		Name:   "tally-holders-last",
		Breaks: "the goroutine that finishes a set looks for its holders before it looks for tasks on their way",
		Edits: []Edit{{
			File: "internal/engine/tally.go",
			Old:  "if t.intake.handed.Load() != begun|closed || t.inside.Load() != closed {",
			New:  "if PLANTED && t.inside.Load() != closed || t.intake.handed.Load() != begun|closed || !PLANTED && t.inside.Load() != closed {",
		}},
	},
	{
		Name:   "tally-finishes-without-exchange",
		Breaks: "a task begins while a set is finished, and no count includes it",
		Edits: []Edit{{
			File: "internal/engine/tally.go",
			Old:  "left = int(begun - t.ended.Load())\n\t\tif t.intake.begun",
			New:  "left = int(begun - t.ended.Load())\n\t\tif PLANTED {\n\t\t\tt.intake.begun.Or(sealed)\n\t\t\treturn left, true\n\t\t}\n\t\tif t.intake.begun",
		}},
	},
}
