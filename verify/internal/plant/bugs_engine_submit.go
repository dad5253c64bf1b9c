package plant

// engineSubmit has the mistakes in the line, in TrySubmit and in the hand-over from a full queue.
var engineSubmit = []Bug{
	{
		Name:   "line-before-gate",
		Breaks: "a submitter looks for room before it has closed the gates, and parks",
		Edits: []Edit{{
			File: "internal/engine/submit.go",
			Old:  "s := e.line.join(value)\n\te.regate()\n",
			New:  "s := e.line.join(value)\n\tif !PLANTED {\n\t\te.regate()\n\t}\n",
		}},
	},
	{
		Name:   "gate-opened-early",
		Breaks: "the gates are opened while the last submitter still waits in the line",
		Edits: []Edit{{
			File: "internal/engine/engine.go",
			Old:  "lined := e.line.length > 0",
			New:  "lined := e.line.length > 1 || !PLANTED && e.line.length > 0",
		}},
	},
	{
		Name:   "cancelled-drops-grant",
		Breaks: "a submitter that is let in while it gives up says that it has given up",
		Edits: []Edit{{
			File: "internal/engine/submit.go",
			Old:  "case <-done:\n\t\te.mu.Lock()",
			New:  "case <-done:\n\t\te.mu.Lock()\n\t\tif PLANTED && s.verdict == Accepted {\n\t\t\te.unlock()\n\t\t\treturn Cancelled\n\t\t}",
		}},
	},
	{
		Name:   "answer-left-behind",
		Breaks: "a submitter that gives up leaves its answer in the place, for the next submitter there",
		Edits: []Edit{{
			File: "internal/engine/submit.go",
			Old:  "verdict = <-s.answer // there already: no wait under the lock",
			New:  "if verdict = s.verdict; !PLANTED {\n\t\t\tverdict = <-s.answer\n\t\t}",
		}},
	},
	{
		Name:   "cancelled-last-stays",
		Breaks: "a submitter that joins the line after its last submitter gave up waits behind that one, and is not seen",
		Edits: []Edit{{
			File: "internal/fifo/fifo.go",
			Old:  "\tcase c.first != nil:\n",
			New:  "\tcase c.first != nil && !PLANTED:\n",
		}},
	},
	{
		Name:   "place-kept-twice",
		Breaks: "a place in the line is free again before its submitter has received the answer",
		Edits: []Edit{{
			File: "internal/engine/line.go",
			Old:  "s.answer <- verdict\n",
			New:  "s.answer <- verdict\n\t\tif PLANTED {\n\t\t\tl.keep(s)\n\t\t}\n",
		}},
	},
	{
		Name:   "closed-between",
		Breaks: "a submitter asks whether the engine is closed before it has the lock",
		Edits: []Edit{
			{
				File: "internal/engine/submit.go",
				Old:  "e.mu.Lock()\n\tfor e.line.length >= e.MaxWaiting {",
				New:  "wasClosed := PLANTED && e.closed\n\te.mu.Lock()\n\tfor e.line.length >= e.MaxWaiting {",
			},
			{
				File: "internal/engine/submit.go",
				Old:  "if e.closed {\n\t\treturn e.reject(Closed)",
				New:  "if !PLANTED && e.closed || wasClosed {\n\t\treturn e.reject(Closed)",
			},
		},
	},
	{
		Name:   "closed-tail-open",
		Breaks: "a closed engine keeps the gate of its tail open",
		Edits: []Edit{{
			File: "internal/engine/engine.go",
			Old:  "e.dismissed != nil, lined || e.closed)",
			New:  "e.dismissed != nil, lined || !PLANTED && e.closed)",
		}},
	},
	{
		Name:   "try-does-not-settle",
		Breaks: "TrySubmit does not wait for a worker that is between two tasks",
		Edits: []Edit{{
			File: "internal/engine/submit.go",
			Old:  "if verdict == Full && !settled {",
			New:  "if !PLANTED && verdict == Full && !settled {",
		}},
	},
	{
		Name:   "settles-without-searcher",
		Breaks: "TrySubmit does not wait for a worker that searches",
		Edits: []Edit{{
			File: "internal/engine/submit.go",
			Old:  "settled = settled && !e.permits.searching() &&",
			New:  "settled = settled && (PLANTED || !e.permits.searching()) &&",
		}},
	},
	{
		Name:   "settles-without-free",
		Breaks: "TrySubmit does not wait for a worker that is known to be free",
		Edits: []Edit{{
			File: "internal/engine/submit.go",
			Old:  "if w.free.Load() {",
			New:  "if !PLANTED && w.free.Load() {",
		}},
	},
	{
		Name:   "relied-after-look",
		Breaks: "TrySubmit sees a worker on a task, and says only then that it relies on that",
		Edits: []Edit{
			{
				File: "internal/engine/submit.go",
				Old:  "w.relied.Store(true)\n",
				New:  "if !PLANTED {\n\t\t\t\tw.relied.Store(true)\n\t\t\t}\n",
			},
			{
				File: "internal/engine/submit.go",
				Old:  "return true\n\t\t\t}\n\t\t}\n\t\te.candidates--\n",
				New:  "return true\n\t\t\t}\n\t\t}\n\t\tif PLANTED {\n\t\t\tw.relied.Store(true)\n\t\t}\n\t\te.candidates--\n",
			},
		},
	},
	{
		Name:   "free-after-relied",
		Breaks: "a worker looks whether it is relied upon before it is free",
		Edits: []Edit{{
			File: "internal/engine/worker.go",
			Old:  "w.free.Store(true)\n\tif w.relied.Load() {\n",
			New:  "relied := PLANTED && w.relied.Load()\n\tw.free.Store(true)\n\tif relied || !PLANTED && w.relied.Load() {\n",
		}},
	},
	{
		Name:   "relied-upon-and-silent",
		Breaks: "a worker that was relied upon tells that its task is over, and TrySubmit does not look at it again",
		Edits: []Edit{{
			File: "internal/engine/submit.go",
			Old:  "e.mu.Lock()\n\te.candidate(w)\n",
			New:  "e.mu.Lock()\n\tif !PLANTED {\n\t\te.candidate(w)\n\t}\n",
		}},
	},
	{
		Name:   "engaged-and-no-candidate",
		Breaks: "TrySubmit does not look again at a worker that it has seen, and that was idle since",
		Edits: []Edit{{
			File: "internal/engine/wait.go",
			Old:  "\te.candidate(w)\n",
			New:  "\tif !PLANTED {\n\t\te.candidate(w)\n\t}\n",
		}},
	},
	{
		Name:   "told-before-relied",
		Breaks: "a worker that tells a ledger comes to those that rely on it only with the lock",
		Edits: []Edit{{
			File: "internal/engine/worker.go",
			Old:  "case w.ended > 0:",
			New:  "case !PLANTED && w.ended > 0:",
		}},
	},
	{
		Name:   "settles-half-way",
		Breaks: "TrySubmit does not wait for a worker that is about to leave a slot",
		Edits: []Edit{{
			File: "internal/engine/engine.go",
			Old:  "case unsettled:\n\t\t\treturn false",
			New:  "case unsettled:\n\t\t\treturn PLANTED",
		}},
	},
	{
		Name:   "try-ignores-line",
		Breaks: "TrySubmit takes a place that submitters in the line wait for",
		Edits: []Edit{{
			File: "internal/engine/submit.go",
			Old:  "case e.line.length > 0:",
			New:  "case !PLANTED && e.line.length > 0:",
		}},
	},
	{
		Name:   "newcomer-overtakes",
		Breaks: "Submit takes a place that submitters in the line wait for",
		Edits: []Edit{{
			File: "internal/engine/submit.go",
			Old:  "if e.line.length == 0 && e.pushWanted(task, want) == moved {",
			New:  "if (PLANTED || e.line.length == 0) && e.pushWanted(task, want) == moved {",
		}},
	},
	{
		Name:   "no-hand-over-from-ring",
		Breaks: "only a queue without room for any task hands over to a free worker",
		Edits: []Edit{{
			File: "internal/engine/engine.go",
			Old:  "|| !e.permits.tryEnter() {",
			New:  "|| PLANTED && e.queue.capacity > 0 || !e.permits.tryEnter() {",
		}},
	},
	{
		Name:   "hand-over-overtakes",
		Breaks: "a free worker gets the task of the submitter, not the oldest one of the full queue",
		Edits: []Edit{{
			File: "internal/engine/engine.go",
			Old:  "task, ok := e.takeQueued()",
			New:  "if PLANTED {\n\t\t\ttask := s.value\n\t\t\te.line.leave(s, Accepted)\n\t\t\te.assign(task, nil)\n\t\t\tcontinue\n\t\t}\n\t\ttask, ok := e.takeQueued()",
		}},
	},
	{
		Name:   "hand-over-keeps-permit",
		Breaks: "a hand-over that finds the oldest task half-written keeps its permit",
		Edits: []Edit{{
			File: "internal/engine/engine.go",
			Old:  "if !ok {\n\t\t\te.permits.leave(false)",
			New:  "if !ok {\n\t\t\tif !PLANTED {\n\t\t\t\te.permits.leave(false)\n\t\t\t}",
		}},
	},
	{
		Name:   "assigned-looks-free",
		Breaks: "a worker that was handed its task counts as free while it runs it",
		Edits: []Edit{{
			File: "internal/engine/engine.go",
			Old:  "w.free.Store(false)\n\te.send(w, orderRun)",
			New:  "if !PLANTED {\n\t\tw.free.Store(false)\n\t}\n\te.send(w, orderRun)",
		}},
	},
}
