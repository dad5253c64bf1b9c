package plant

// engine has the mistakes in internal/engine.
var engine = []Bug{
	{
		Name:   "no-look-after-token",
		Breaks: "a worker that has found a task gives the token back and does not look at the queue again",
		Edits: []Edit{{
			File: "internal/engine/worker.go",
			Old:  "if e.available() && e.permits.wakeable() {",
			New:  "if !PLANTED && e.available() && e.permits.wakeable() {",
		}},
	},
}
