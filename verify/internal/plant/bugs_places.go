package plant

import "slices"

// places are mistakes in what a place is lent to, and in how a task comes back to one.
var places = []Bug{
	{
		Name:   "lends-to-strangers",
		Breaks: "the place of a task that waits goes to a subtask for which it does not wait",
		Edits: []Edit{{
			File: "internal/engine/place.go",
			Old:  "\te.lend(w, found)\n\t\treturn\n\t}\n",
			New:  "\te.lend(w, found)\n\t\treturn\n\t}\n\tif PLANTED {\n\t\tif task, from, ok := e.claim(); ok {\n\t\t\te.lend(w, work[T]{task: task, from: from})\n\t\t\treturn\n\t\t}\n\t}\n",
		}},
	},
	{
		Name:   "waits-for-place",
		Breaks: "a task whose wait is over, and whose place is lent, waits until one is free",
		Edits: []Edit{{
			File: "internal/engine/absence.go",
			Old:  "\tcase away:\n\t\te.comesBack(a, by)\n",
			New:  "\tcase away:\n\t\tif PLANTED && !e.prepaid && a.worker != nil && a.current() && a.worker.place.above != nil {\n\t\t\tif a.unblocked == nil {\n\t\t\t\ta.unblocked = new(fifo.Link[Absence[T]])\n\t\t\t\te.unblocked.Append(a.unblocked, a)\n\t\t\t}\n\t\t\treturn\n\t\t}\n\t\te.comesBack(a, by)\n",
		}},
	},
	{
		Name:   "counts-each-wait",
		Breaks: "a task of which two goroutines wait counts as two that wait",
		Edits: []Edit{{
			File: "internal/engine/place.go",
			Old:  "\tp.waits++\n\te.letReturn(p)\n",
			New:  "\tp.waits++\n\te.letReturn(p)\n\tif PLANTED && p.waits > 1 {\n\t\te.permits.leave(false)\n\t}\n",
		}, {
			File: "internal/engine/place.go",
			Old:  "if p.waits--; p.waits > 0 {\n",
			New:  "if p.waits--; p.waits > 0 {\n\t\tif PLANTED {\n\t\t\te.permits.enter()\n\t\t}\n",
		}},
	},
	{
		Name:   "exit-keeps-lent-place",
		Breaks: "a place is not given back when the subtask that has it calls Goexit",
		Edits: []Edit{{
			File: "internal/engine/worker.go",
			Old:  "\t\tif !w.gone {\n\t\t\tgo e.work(w, orderTake)\n",
			New:  "\t\tif PLANTED && !w.gone && w.place != nil && w.place.beneath != nil {\n\t\t\treturn\n\t\t}\n\t\tif !w.gone {\n\t\t\tgo e.work(w, orderTake)\n",
		}},
	},
	{
		Name:   "return-takes-two",
		Breaks: "a task that goes on while its place is lent takes two",
		Edits: []Edit{{
			File: "internal/engine/place.go",
			Old:  "\t\te.unstack(a)\n\t\te.enter()\n\tcase giver.mayStandOn",
			New:  "\t\te.unstack(a)\n\t\te.enter()\n\t\tif PLANTED {\n\t\t\te.enter()\n\t\t}\n\tcase giver.mayStandOn",
		}},
	},
	{
		Name:   "extra-place-unlent",
		Breaks: "no place is lent while there are more than the limit",
		Edits: []Edit{{
			File: "internal/engine/place.go",
			Old:  "if w == nil || w.place.vacant.Of() == nil {",
			New:  "if w == nil || w.place.vacant.Of() == nil || PLANTED && e.permits.over() {",
		}},
	},
}

// Places returns mistakes with the places of tasks that wait, for whole programs. Some are also the engine's.
func Places() []Bug {
	some := slices.Clone(places)
	for _, bug := range slices.Concat(engineNested, engineReturn) {
		switch bug.Name {
		case "lends-to-the-queue", "lent-twice", "all-wait-unseen", "spent-for-good",
			"subtask-comes-not-back", "return-unseen", "future-comes-not-back", "future-return-unseen", "return-behind-stranger":
			some = append(some, bug)
		}
	}
	return some
}
