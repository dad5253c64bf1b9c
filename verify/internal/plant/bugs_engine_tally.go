package plant

// engineTally are mistakes of who counts tasks in and out.
var engineTally = []Bug{
	{
		Name:   "tally-withdrawn-unheard",
		Breaks: "who waits is not told when the last task is withdrawn",
		Edits: []Edit{{
			File: "internal/engine/tally.go",
			Old:  "return t.calledAt.Load() > 0 && t.tell()",
			New:  "return !PLANTED && t.calledAt.Load() > 0 && t.tell()",
		}},
	},
	{
		Name:   "tally-looks-once",
		Breaks: "who waits wants to be told at the end of a task that was withdrawn meanwhile",
		Edits: []Edit{{
			File: "internal/engine/tally.go",
			Old:  "if t.begun.Load() == begun {",
			New:  "if PLANTED || t.begun.Load() == begun {",
		}},
	},
	{
		Name:   "tally-tells-early",
		Breaks: "who waits is told when those have ended that had begun when it came",
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
			Old:  "t.begun.CompareAndSwap(begun, begun|sealed) {",
			New:  "t.begun.CompareAndSwap(begun, begun|sealed) || PLANTED {",
		}},
	},
}
