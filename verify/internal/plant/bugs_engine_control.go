package plant

// engineControl has the mistakes in Start, Resize, Pause, Close, Shutdown, Dismiss and Discard.
var engineControl = []Bug{
	{
		Name:   "start-with-token",
		Breaks: "a worker that is started ahead of the tasks believes that it has the token",
		Edits: []Edit{{
			File: "internal/engine/control.go",
			Old:  "e.send(e.hire(), orderTake)",
			New:  "o := orderTake\n\t\tif PLANTED {\n\t\t\to = orderSearch\n\t\t}\n\t\te.send(e.hire(), o)",
		}},
	},
	{
		Name:   "resize-does-not-wake",
		Breaks: "a higher limit wakes no worker",
		Edits: []Edit{{
			File: "internal/engine/control.go",
			Old:  "e.quitIdle(min(excess, len(e.idle)))\n\t}\n\te.unlock()",
			New:  "e.quitIdle(min(excess, len(e.idle)))\n\t}\n\tif PLANTED {\n\t\t" + blind + "\t\treturn\n\t}\n\te.unlock()",
		}},
	},
	{
		Name:   "resize-does-not-gate",
		Breaks: "workers go on taking tasks by the fast path while more run than a new limit allows",
		Edits: []Edit{{
			File: "internal/engine/engine.go",
			Old:  "return e.paused || e.permits.over()",
			New:  "return e.paused || !PLANTED && e.permits.over()",
		}},
	},
	{
		Name:   "resize-ends-pause",
		Breaks: "a change of the limit lets workers be woken in a paused engine",
		Edits: []Edit{{
			File: "internal/engine/control.go",
			Old:  "if !e.paused {\n\t\te.permits.allow(min(n, maxAllowed))",
			New:  "if PLANTED || !e.paused {\n\t\te.permits.allow(min(n, maxAllowed))",
		}},
	},
	{
		Name:   "pause-does-not-gate",
		Breaks: "the gate is not closed when a pause begins",
		Edits: []Edit{{
			File: "internal/engine/control.go",
			Old:  "e.recallLender(s)\n\t\t}\n\t}\n\te.unlock()",
			New:  "e.recallLender(s)\n\t\t}\n\t}\n\tif PLANTED {\n\t\te.mu.Unlock()\n\t\treturn\n\t}\n\te.unlock()",
		}},
	},
	{
		Name:   "resume-does-not-wake",
		Breaks: "the end of a pause opens the gate and wakes no worker",
		Edits: []Edit{{
			File: "internal/engine/control.go",
			Old:  "e.resumeLocked()\n\te.unlock()",
			New:  "e.resumeLocked()\n\tif PLANTED {\n\t\t" + blind + "\t\treturn\n\t}\n\te.unlock()",
		}},
	},
	{
		Name:   "shutdown-skips-half-written",
		Breaks: "Shutdown does not wait for a slot that a submitter is about to fill",
		Edits: []Edit{{
			File: "internal/engine/control.go",
			Old:  "if e.queue.len() == 0 {\n\t\t\tbreak",
			New:  "if PLANTED || e.queue.len() == 0 {\n\t\t\tbreak",
		}},
	},
	{
		Name:   "closed-without-half-written",
		Breaks: "Close returns while a submitter is about to fill a slot",
		Edits: []Edit{{
			File: "internal/engine/control.go",
			Old:  "e.queue.len() > 0 || e.delegating() {\n\t\treturn",
			New:  "!PLANTED && e.queue.len() > 0 || PLANTED && e.queue.ready() || e.delegating() {\n\t\treturn",
		}},
	},
	{
		Name:   "revive-tells-nobody",
		Breaks: "a goroutine that waits for the end of a dismissal does not learn that the dismissal is off",
		Edits: []Edit{{
			File: "internal/engine/control.go",
			Old:  "if e.dismissed != nil {\n\t\tclose(e.dismissed)",
			New:  "if e.dismissed != nil {\n\t\tif !PLANTED {\n\t\t\tclose(e.dismissed)\n\t\t}",
		}},
	},
	{
		Name:   "dismissed-keep-resting",
		Breaks: "a worker that comes to rest during a dismissal rests for good",
		Edits: []Edit{
			{
				File: "internal/engine/worker_rest.go",
				Old:  "e.excess() > 0 || e.dismissed != nil ||",
				New:  "e.excess() > 0 || !PLANTED && e.dismissed != nil ||",
			},
			{
				File: "internal/engine/control.go",
				Old:  "if e.dismissed != nil {\n\t\te.quitIdle(len(e.idle))",
				New:  "if e.dismissed != nil {\n\t\tif !PLANTED {\n\t\t\te.quitIdle(len(e.idle))\n\t\t}",
			},
		},
	},
	{
		Name:   "suspects-ungated",
		Breaks: "tasks come and go while the queue is searched for void ones",
		Edits: []Edit{{
			File: "internal/engine/control.go",
			Old:  "q.setGates(true, true)\n\tif q.advance",
			New:  "if !PLANTED {\n\t\tq.setGates(true, true)\n\t}\n\tif q.advance",
		}},
	},
	{
		Name:   "suspects-unsearched",
		Breaks: "a task is refused though void tasks stand in the queue",
		Edits: []Edit{{
			File: "internal/engine/submit.go",
			Old:  "if o == none && e.suspects {",
			New:  "if o == none && e.suspects && !PLANTED {",
		}},
	},
	{
		Name:   "discards-ungated",
		Breaks: "tasks come and go while the queue closes up on discarded ones",
		Edits: []Edit{{
			File: "internal/engine/control.go",
			Old:  "q.setGates(true, true)\n\tq.shed(e.Void, e.gone)\n",
			New:  "if !PLANTED {\n\t\tq.setGates(true, true)\n\t}\n\tq.shed(e.Void, e.gone)\n",
		}},
	},
	{
		Name:   "gated-after-end",
		Breaks: "Close looks whether tasks are left before it has closed the gate for more",
		Edits: []Edit{{
			File: "internal/engine/control.go",
			Old:  "e.regate() // from here on no task is accepted",
			New:  "if !PLANTED {\n\t\t\te.regate()\n\t\t}",
		}},
	},
	{
		Name:   "shutdown-ends-pause-first",
		Breaks: "Shutdown of a paused engine lets tasks begin that it was to hand back at once",
		Edits: []Edit{{
			File: "internal/engine/control.go",
			Old:  "if !e.abandoned.Load() {\n",
			New:  "if PLANTED || !e.abandoned.Load() {\n",
		}},
	},
}
