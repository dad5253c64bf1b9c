package plant

// blind is the end of a change under the lock, without the last look at the queue.
const blind = "e.admit()\n\t\te.serve()\n\t\te.checkWaits()\n\t\te.wind()\n\t\te.regate()\n\t\te.mu.Unlock()\n"

// engineWorker has the mistakes in taking, parking, ending, and what follows a broken task.
var engineWorker = []Bug{
	{
		Name:   "no-look-before-parking",
		Breaks: "a worker parks without a last look at the queue",
		Edits: []Edit{{
			File: "internal/engine/worker_rest.go",
			Old:  "e.arm(w)\n\te.unlock()",
			New:  "e.arm(w)\n\tif PLANTED {\n\t\t" + blind + "\t} else {\n\t\te.unlock()\n\t}",
		}},
	},
	{
		Name:   "idle-after-look",
		Breaks: "a worker is seen as idle only after its last look at the queue",
		Edits: []Edit{{
			File: "internal/engine/worker_rest.go",
			Old:  "e.idle = append(e.idle, w)\n",
			New:  "if PLANTED {\n\t\te.unlock()\n\t\te.mu.Lock()\n\t}\n\te.idle = append(e.idle, w)\n\tif PLANTED {\n\t\te.arm(w)\n\t\te.mu.Unlock()\n\t\tif o = <-w.parked; o == orderRun {\n\t\t\ttask = w.takeHand()\n\t\t} else if o == orderQuit {\n\t\t\te.mu.Lock()\n\t\t\te.depart(w)\n\t\t}\n\t\treturn task, o\n\t}\n",
		}},
	},
	{
		Name:   "permit-after-look",
		Breaks: "a worker gives its permit back after its last look at the queue",
		Edits: []Edit{{
			File: "internal/engine/worker_rest.go",
			Old:  "e.permits.leave(searching)\n\treturn e.park(w)",
			New:  "if PLANTED && !e.superfluous() {\n\t\te.idle = append(e.idle, w)\n\t\te.arm(w)\n\t\te.unlock()\n\t\te.mu.Lock()\n\t\te.permits.leave(searching)\n\t\te.regate()\n\t\te.mu.Unlock()\n\t\tif o = <-w.parked; o == orderRun {\n\t\t\ttask = w.takeHand()\n\t\t} else if o == orderQuit {\n\t\t\te.mu.Lock()\n\t\t\te.depart(w)\n\t\t}\n\t\treturn task, o\n\t}\n\te.permits.leave(searching)\n\treturn e.park(w)",
		}},
	},
	{
		Name:   "permit-kept-at-rest",
		Breaks: "a worker that did not search keeps its permit while it rests",
		Edits: []Edit{{
			File: "internal/engine/worker_rest.go",
			Old:  "who takes the permit finds w idle under the lock.\n",
			New:  "who takes the permit finds w idle under the lock.\n\tif PLANTED && !searching {\n\t\treturn e.park(w)\n\t}\n",
		}},
	},
	{
		Name:   "gate-not-attended",
		Breaks: "a worker whose take was under way when the gate closed does not serve the line",
		Edits: []Edit{{
			File: "internal/engine/worker_next.go",
			Old:  "r.gated() {",
			New:  "!PLANTED && r.gated() {",
		}},
	},
	{
		Name:   "departure-without-look",
		Breaks: "a worker ends, after it has given its permit back, without a look at the queue",
		Edits: []Edit{{
			File: "internal/engine/worker_next.go",
			Old:  "e.strike(w)\n\te.unlock()",
			New:  "e.strike(w)\n\tif PLANTED {\n\t\t" + blind + "\t\treturn\n\t}\n\te.unlock()",
		}},
	},
	{
		Name:   "goexit-keeps-permit",
		Breaks: "a worker whose task ended its goroutine is gone, and its permit with it",
		Edits: []Edit{{
			File: "internal/engine/worker.go",
			Old:  "if !w.gone {\n\t\t\tgo e.work(w, orderTake)",
			New:  "if PLANTED && !w.gone {\n\t\t\te.mu.Lock()\n\t\t\te.withdraw(w)\n\t\t\te.leaving++\n\t\t\te.depart(w)\n\t\t}\n\t\tif !w.gone {\n\t\t\tgo e.work(w, orderTake)",
		}},
	},
	{
		Name:   "panic-keeps-token",
		Breaks: "a worker takes itself for searching, after a panic, because it was so when it began",
		Edits: []Edit{{
			File: "internal/engine/worker.go",
			Old:  "for !e.session(w, o) {\n\t\to = orderTake",
			New:  "for !e.session(w, o) {\n\t\tif !PLANTED || o == orderRun {\n\t\t\to = orderTake\n\t\t}",
		}},
	},
	{
		Name:   "told-before-free",
		Breaks: "a ledger hears that its tasks are over before their worker is known to be free",
		Edits: []Edit{{
			File: "internal/engine/worker.go",
			Old:  "switch {\n\tcase w.free.Load():\n",
			New:  "if PLANTED {\n\t\tw.Settle()\n\t}\n\tswitch {\n\tcase w.free.Load():\n",
		}},
	},
	{
		Name:   "hurry-ignored",
		Breaks: "a worker goes on to a queued task before it tells a ledger that is in a hurry",
		Edits: []Edit{{
			File: "internal/engine/worker_next.go",
			Old:  "if w.urgent {",
			New:  "if !PLANTED && w.urgent {",
		}},
	},
	{
		Name:   "expires-the-newest",
		Breaks: "of the idle workers those end that have been idle for the shortest time",
		Edits: []Edit{{
			File: "internal/engine/worker_rest.go",
			Old:  "e.quitIdle(n)\n\te.spare = e.lent",
			New:  "if PLANTED {\n\t\te.idle = append(append([]*worker[T]{}, e.idle[len(e.idle)-n:]...), e.idle[:len(e.idle)-n]...)\n\t}\n\te.quitIdle(n)\n\te.spare = e.lent",
		}},
	},
	{
		Name:   "expires-once",
		Breaks: "workers that became idle after the first one do not expire",
		Edits: []Edit{{
			File: "internal/engine/worker_rest.go",
			Old:  "e.timer.Reset(e.idle[0].since + e.IdleTimeout - now)",
			New:  "if !PLANTED {\n\t\t\te.timer.Reset(e.idle[0].since + e.IdleTimeout - now)\n\t\t}",
		}},
	},
}
