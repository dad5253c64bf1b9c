package plant

// engineNested has the mistakes with subtasks, and with tasks that wait for them.
var engineNested = []Bug{
	{
		Name:   "early-recall-lost",
		Breaks: "a task that is recalled before it has left waits for good",
		Edits: []Edit{{
			File: "internal/engine/absence.go",
			Old:  "if a.state == early {\n\t\ta.state = present\n\t\te.mu.Unlock()\n\t\treturn false\n\t}\n\te.leaves(",
			New:  "if !PLANTED && a.state == early {\n\t\ta.state = present\n\t\te.mu.Unlock()\n\t\treturn false\n\t}\n\te.leaves(",
		}},
	},
	{
		Name:   "lends-in-a-pause",
		Breaks: "a place is lent to a new subtask in a paused engine",
		Edits: []Edit{{
			File: "internal/engine/want.go",
			Old:  "\tcase e.paused:\n\t\treturn found, false\n",
			New:  "\tcase e.paused && !PLANTED:\n\t\treturn found, false\n",
		}},
	},
	{
		Name:   "spent-for-good",
		Breaks: "work that comes into what a task waits for is not found if there was none before",
		Edits: []Edit{{
			File: "internal/engine/want.go",
			Old:  "\t\tw.spent = false\n",
			New:  "\t\tw.spent = w.spent && PLANTED\n",
		}},
	},
	{
		Name:   "serves-in-a-pause",
		Breaks: "a worker goes from one subtask to the next in a paused engine",
		Edits: []Edit{{
			File: "internal/engine/worker_next.go",
			Old:  "e.returning.First() != nil || e.paused || !e.serves(w, s) {",
			New:  "e.returning.First() != nil || !PLANTED && e.paused || !e.serves(w, s) {",
		}},
	},
	{
		Name:   "resume-does-not-lend",
		Breaks: "the end of a pause does not lend the places of tasks that wait",
		Edits: []Edit{{
			File: "internal/engine/control.go",
			Old:  "for _, w := range vacant {\n\t\te.fill(w)\n",
			New:  "for _, w := range vacant {\n\t\tif !PLANTED {\n\t\t\te.fill(w)\n\t\t}\n",
		}},
	},
	{
		Name:   "lends-to-the-queue",
		Breaks: "the place of a task that waits is taken for free",
		Edits: []Edit{{
			File: "internal/engine/place.go",
			Old:  "\te.vacant.Prepend(&w.place.vacant, w)\n\te.vacancies++\n",
			New:  "\te.vacant.Prepend(&w.place.vacant, w)\n\te.vacancies++\n\tif PLANTED {\n\t\te.permits.leave(false)\n\t}\n",
		}},
	},
	{
		Name:   "returns-in-line",
		Breaks: "a task whose wait is over waits for a place",
		Edits: []Edit{{
			File: "internal/engine/place.go",
			Old:  "\tcase p.above == nil:\n\t\te.occupy(w)\n",
			New:  "\tcase p.above == nil:\n\t\te.occupy(w)\n\t\tif PLANTED && e.queue.len() > 0 {\n\t\t\te.permits.leave(false)\n\t\t}\n",
		}},
	},
	{
		Name:   "lent-twice",
		Breaks: "a place is lent to two tasks at once",
		Edits: []Edit{{
			File: "internal/engine/place.go",
			Old:  "\te.stack(u, w)\n\tu.hand = found.task\n",
			New:  "\te.stack(u, w)\n\tif PLANTED {\n\t\tif other, ok := e.claimFor(w); ok && other.returning == nil {\n\t\t\te.assign(other.task, other.from)\n\t\t}\n\t}\n\tu.hand = found.task\n",
		}},
	},
	{
		Name:   "left-behind-keeps-place",
		Breaks: "a task that is over keeps its place while goroutines of it wait",
		Edits: []Edit{{
			File: "internal/engine/place.go",
			Old:  "if p.waits > 0 || p.away > 0 || p.without || p.awaits.First() != nil {\n\t\te.forsake(w)",
			New:  "if !PLANTED && (p.waits > 0 || p.away > 0 || p.without || p.awaits.First() != nil) {\n\t\te.forsake(w)",
		}},
	},
	{
		Name:   "all-wait-unseen",
		Breaks: "no place is lent where all tasks that have begun wait",
		Edits: []Edit{{
			File: "internal/engine/place.go",
			Old:  "for e.vacancies > 0 && e.unbegun.First() != nil",
			New:  "for !PLANTED && e.vacancies > 0 && e.unbegun.First() != nil",
		}},
	},
	{
		Name:   "lost-place-kept",
		Breaks: "a worker whose place went to the task whose wait it has ended gives a permit back as well",
		Edits: []Edit{{
			File: "internal/engine/worker_rest.go",
			Old:  "if !e.settlePlace(w) {\n",
			New:  "if !e.settlePlace(w) {\n\t\tif PLANTED {\n\t\t\te.permits.leave(false)\n\t\t}\n",
		}},
	},
	{
		Name:   "lined-unoffered",
		Breaks: "a task that waits in the line is not offered to the task that waits for it",
		Edits: []Edit{{
			File: "internal/engine/submit.go",
			Old:  "want.lined.Append(&s.seat, s)\n\t\te.stands(want)\n",
			New:  "want.lined.Append(&s.seat, s)\n\t\tif !PLANTED {\n\t\t\te.stands(want)\n\t\t}\n",
		}},
	},
	{
		Name:   "comes-uncounted",
		Breaks: "the place of a task is lent to work for which it does not wait, while what it waits for is on its way",
		Edits: []Edit{{
			File: "internal/engine/want.go",
			Old:  "!s.coming && w.waits.Load() > 0 {",
			New:  "!s.coming && w.waits.Load() > 0 && !PLANTED {",
		}},
	},
	{
		Name:   "pushed-unoffered",
		Breaks: "a task that has found room is not offered to the task that waits for it",
		Edits: []Edit{{
			File: "internal/engine/submit.go",
			Old:  "if ok && want != nil && want.waits.Load() > 0 {",
			New:  "if ok && want != nil && want.waits.Load() > 0 && !PLANTED {",
		}},
	},
	{
		Name:   "ticket-after-task",
		Breaks: "a task of a source is open before its ticket stands in the queue",
		Edits: []Edit{{
			File: "internal/engine/source.go",
			Old:  "\tif r.push(ticket(task, s.first+uint64(len(s.tasks))), false) != moved {\n",
			New:  "\tif PLANTED {\n\t\tnumber := s.first + uint64(len(s.tasks))\n\t\ts.append(task)\n\t\ts.mu.Unlock()\n\t\tok = r.push(ticket(task, number), false) == moved\n\t\ts.mu.Lock()\n\t\tif i, open := s.find(number); !ok && open {\n\t\t\ts.takeAt(i)\n\t\t}\n\t\treturn ok\n\t}\n\tif r.push(ticket(task, s.first+uint64(len(s.tasks))), false) != moved {\n",
		}},
	},
	{
		Name:   "refused-still-open",
		Breaks: "a task whose submitter has left the line may still start out of turn",
		Edits: []Edit{{
			File: "internal/engine/submit.go",
			Old:  "if s.want != nil {\n\t\te.retract(s.want, s.number)\n",
			New:  "if s.want != nil && !PLANTED {\n\t\te.retract(s.want, s.number)\n",
		}},
	},
	{
		Name:   "out-of-turn-unlined",
		Breaks: "a submitter in the line is not let go when its task starts out of turn",
		Edits: []Edit{{
			File: "internal/engine/want.go",
			Old:  "if l == nil || !e.Void(l.Of().value) {",
			New:  "if PLANTED || l == nil || !e.Void(l.Of().value) {",
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
		Name:   "delegate-does-not-wake",
		Breaks: "a subtask that joins others in a source wakes no worker",
		Edits: []Edit{{
			File: "internal/engine/source.go",
			Old:  "if e.permits.wakeable() {",
			New:  "if !PLANTED && e.permits.wakeable() {",
		}},
	},
	{
		Name:   "claimed-without-easing",
		Breaks: "a submitter that waits for room in a source is not recalled when others take tasks from it",
		Edits: []Edit{{
			File: "internal/engine/source.go",
			Old:  "e.eased(s)\n\t\t\treturn task, s, true",
			New:  "if !PLANTED {\n\t\t\t\te.eased(s)\n\t\t\t}\n\t\t\treturn task, s, true",
		}},
	},
	{
		Name:   "ended-without-easing",
		Breaks: "a submitter that waits for room in a source is not recalled when a task of it ends in the place of another",
		Edits: []Edit{{
			File: "internal/engine/worker_rest.go",
			Old:  "\t}\n\te.ends(w)\n",
			New:  "\t}\n\tif !PLANTED {\n\t\te.ends(w)\n\t}\n",
		}},
	},
	{
		Name:   "vacant-without-easing",
		Breaks: "a submitter waits for room though there is some, and its place is free",
		Edits: []Edit{{
			File: "internal/engine/place.go",
			Old:  "if l = l.Next(); s != nil {",
			New:  "if l = l.Next(); s != nil && !PLANTED {",
		}},
	},
	{
		Name:   "put-off-for-good",
		Breaks: "a worker forgets the task whose wait it has ended on its way to rest",
		Edits: []Edit{{
			File: "internal/engine/worker_rest.go",
			Old:  "if a := w.recalls; a != nil {",
			New:  "if a := w.recalls; a != nil && !PLANTED {",
		}},
	},
	{
		Name:   "added-while-awaited",
		Breaks: "a subtask that comes in while its host waits is not offered to the host's place",
		Edits: []Edit{{
			File: "internal/engine/source.go",
			Old:  "if s.want.waits.Load() == 0 || s.open.Load() == 0 {",
			New:  "if PLANTED || s.want.waits.Load() == 0 || s.open.Load() == 0 {",
		}},
	},
	{
		Name:   "work-below-unseen",
		Breaks: "a task that waits does not lend its place to the subtasks of its subtasks",
		Edits: []Edit{{
			File: "internal/engine/want.go",
			Old:  "\t\ts.within.busy.Prepend(&s.below, s)\n",
			New:  "\t\tif PLANTED {\n\t\t\treturn\n\t\t}\n\t\ts.within.busy.Prepend(&s.below, s)\n",
		}},
	},
}
