package plant

// enginePermits has the mistakes with permits and the searching token, and in waking by them.
var enginePermits = []Bug{
	{
		Name:   "no-look-after-token",
		Breaks: "a worker that has found a task gives the token back and does not look at the queue again",
		Edits: []Edit{{
			File: "internal/engine/worker_next.go",
			Old:  "if e.available() && e.permits.wakeable() {",
			New:  "if !PLANTED && e.available() && e.permits.wakeable() {",
		}},
	},
	{
		Name:   "token-after-look",
		Breaks: "a worker that took its task under the lock looks at the queue while it still has the token, and gives it back then",
		Edits: []Edit{{
			File: "internal/engine/worker_rest.go",
			Old:  "if searching {\n\t\t\t\te.permits.endSearch()\n\t\t\t}\n\t\t\te.unlock()",
			New: "if PLANTED {\n\t\t\t\te.unlock()\n\t\t\t\tif searching {\n\t\t\t\t\te.permits.endSearch()\n\t\t\t\t}\n\t\t\t\treturn task, orderRun\n\t\t\t}\n" +
				"if searching {\n\t\t\t\te.permits.endSearch()\n\t\t\t}\n\t\t\te.unlock()",
		}},
	},
	{
		Name:   "wake-without-exchange",
		Breaks: "two workers that wake at once take one permit and one token between them",
		Edits: []Edit{{
			File: "internal/engine/permits.go",
			Old:  "if p.word.CompareAndSwap(word, word+activeOne|searchingBit) {",
			New:  "if PLANTED {\n\t\t\tp.word.Store(word + activeOne | searchingBit)\n\t\t\treturn true\n\t\t}\n\t\tif p.word.CompareAndSwap(word, word+activeOne|searchingBit) {",
		}},
	},
	{
		Name:   "two-searchers",
		Breaks: "a worker is woken to search while another one searches, and the token is given back twice",
		Edits: []Edit{{
			File: "internal/engine/permits.go",
			Old:  "return word&searchingBit == 0 && active(word) < allowed(word)",
			New:  "return (PLANTED || word&searchingBit == 0) && active(word) < allowed(word)",
		}},
	},
	{
		Name:   "allow-without-exchange",
		Breaks: "a permit that is taken or given back while the limit changes is forgotten",
		Edits: []Edit{{
			File: "internal/engine/permits.go",
			Old:  "if p.word.CompareAndSwap(word, word&^allowedMask|uint64(n)) {",
			New:  "if PLANTED {\n\t\t\tp.word.Store(word&^allowedMask | uint64(n))\n\t\t\treturn\n\t\t}\n\t\tif p.word.CompareAndSwap(word, word&^allowedMask|uint64(n)) {",
		}},
	},
	{
		Name:   "returns-beyond-pause",
		Breaks: "a pause holds tasks that have begun already, and come back from a wait",
		Edits: []Edit{{
			File: "internal/engine/permits.go",
			Old:  "if active(word) >= uint64(limit) {",
			New:  "if active(word) >= uint64(limit) || PLANTED && active(word) >= allowed(word) {",
		}},
	},
	{
		Name:   "stir-gives-back-twice",
		Breaks: "a goroutine that meant to wake a worker, and finds the task taken, gives two permits back",
		Edits: []Edit{{
			File: "internal/engine/engine.go",
			Old:  "or the ring that looked ready was just released.\n\t\te.permits.leave(true)",
			New:  "or the ring that looked ready was just released.\n\t\te.permits.leave(true)\n\t\tif PLANTED && e.permits.active() > 0 {\n\t\t\te.permits.leave(false)\n\t\t}",
		}},
	},
	{
		Name:   "stir-does-not-look",
		Breaks: "a goroutine that meant to wake a worker, and finds the task taken, gives the token back and does not look at the queue again",
		Edits: []Edit{{
			File: "internal/engine/engine.go",
			Old:  "e.unlock()\n\t\treturn\n\t}\n\tw := e.recruit()",
			New:  "if PLANTED {\n\t\t\te.mu.Unlock()\n\t\t\treturn\n\t\t}\n\t\te.unlock()\n\t\treturn\n\t}\n\tw := e.recruit()",
		}},
	},
	{
		Name:   "unlock-does-not-look",
		Breaks: "a change under the lock ends without a look at the queue",
		Edits: []Edit{{
			File: "internal/engine/engine.go",
			Old:  "if e.permits.wakeable() && e.available() {",
			New:  "if !PLANTED && e.permits.wakeable() && e.available() {",
		}},
	},
	{
		Name:   "ready-before-permits",
		Breaks: "a submitter looks at the permits before it has published its task",
		Edits: []Edit{{
			File: "internal/engine/submit.go",
			Old:  "if r.push(task, false) != moved {\n\t\treturn false\n\t}\n\tif e.permits.wakeable() {",
			New:  "early := PLANTED && !e.permits.wakeable()\n\tif r.push(task, false) != moved {\n\t\treturn false\n\t}\n\tif !early && e.permits.wakeable() {",
		}},
	},
}
