package plant

// engineRings has the mistakes in the ring and in the chain of rings.
var engineRings = []Bug{
	{
		Name:   "stop-before-head",
		Breaks: "a worker reads up to where it may take before it reads where the queue begins",
		Edits: []Edit{
			{
				File: "internal/engine/ring.go",
				Old:  "h := r.head.Load()\n\t\t// stop is",
				New:  "early := uint64(never)\n\t\tif PLANTED && stop != nil {\n\t\t\tearly = stop.Load()\n\t\t}\n\t\th := r.head.Load()\n\t\t// stop is",
			},
			{
				File: "internal/engine/ring.go",
				Old:  "h >= stop.Load()) {",
				New:  "PLANTED && h >= early || !PLANTED && h >= stop.Load()) {",
			},
		},
	},
	{
		Name:   "published-before-written",
		Breaks: "a slot is declared full before the task stands in it",
		Edits: []Edit{{
			File: "internal/engine/ring.go",
			Old:  "s.value = v\n\t\t\t\ts.stamp.Store(pos + 1)",
			New:  "if PLANTED {\n\t\t\t\t\ts.stamp.Store(pos + 1)\n\t\t\t\t\t_ = s.stamp.Load() // others come in between\n\t\t\t\t\ts.value = v\n\t\t\t\t\treturn moved\n\t\t\t\t}\n\t\t\t\ts.value = v\n\t\t\t\ts.stamp.Store(pos + 1)",
		}},
	},
	{
		Name:   "freed-before-read",
		Breaks: "a slot is declared free before the task has been read from it",
		Edits: []Edit{{
			File: "internal/engine/ring.go",
			Old:  "v = s.value\n",
			New:  "if PLANTED {\n\t\t\t\t\ts.stamp.Store(pos + r.mask + 1)\n\t\t\t\t\t_ = s.stamp.Load() // others come in between\n\t\t\t\t\treturn s.value, behind, moved\n\t\t\t\t}\n\t\t\t\tv = s.value\n",
		}},
	},
	{
		Name:   "taken-without-exchange",
		Breaks: "two workers that read the same head both take its task",
		Edits: []Edit{{
			File: "internal/engine/ring.go",
			Old:  "if r.head.CompareAndSwap(h, behind|h&gate) {",
			New:  "if PLANTED && stop != nil {\n\t\t\t\tr.head.Store(behind | h&gate)\n\t\t\t\tv = s.value\n\t\t\t\ts.stamp.Store(pos + r.mask + 1)\n\t\t\t\treturn v, behind, moved\n\t\t\t}\n\t\t\tif r.head.CompareAndSwap(h, behind|h&gate) {",
		}},
	},
	{
		Name:   "gate-overwritten",
		Breaks: "a take that is under way when the gate closes succeeds, and opens it",
		Edits: []Edit{{
			File: "internal/engine/ring.go",
			Old:  "behind = r.after(pos)\n",
			New:  "behind = r.after(pos)\n\t\t\tif PLANTED && stop != nil {\n\t\t\t\t_ = s.stamp.Load()\n\t\t\t\tif r.head.CompareAndSwap(h|gate, behind) {\n\t\t\t\t\tv = s.value\n\t\t\t\t\ts.stamp.Store(pos + r.mask + 1)\n\t\t\t\t\treturn v, behind, moved\n\t\t\t\t}\n\t\t\t}\n",
		}},
	},
	{
		Name:   "released-while-pushed",
		Breaks: "the memory of the queue is given back without a check that no submitter adds a task meanwhile",
		Edits: []Edit{{
			File: "internal/engine/queue.go",
			Old:  "|| !r.tail.CompareAndSwap(t, t|retired) {",
			New:  "|| PLANTED && r.tail.Or(retired) == never || !PLANTED && !r.tail.CompareAndSwap(t, t|retired) {",
		}},
	},
	{
		Name:   "next-ring-not-seen",
		Breaks: "a worker does not see the tasks of the next ring when one is used up",
		Edits: []Edit{{
			File: "internal/engine/ring.go",
			Old:  "return r.usedUp()\n",
			New:  "return !PLANTED && r.usedUp()\n",
		}},
	},
	{
		Name:   "next-ring-open",
		Breaks: "the head of a new ring is open for a moment whatever the gate says",
		Edits: []Edit{{
			File: "internal/engine/queue.go",
			Old:  "next.head.Or(gate)",
			New:  "if !PLANTED {\n\t\tnext.head.Or(gate)\n\t}",
		}},
	},
	{
		Name:   "new-ring-fills-unbounded",
		Breaks: "the tail of a new ring is open for a moment although filling it exceeds the capacity",
		Edits: []Edit{{
			File: "internal/engine/queue.go",
			Old:  "next.tail.Or(gate)",
			New:  "if !PLANTED {\n\t\tnext.tail.Or(gate)\n\t}",
		}},
	},
	{
		Name:   "filled-before-grown",
		Breaks: "a queue that others fill while a submitter has the lock grows beyond its capacity",
		Edits: []Edit{{
			File: "internal/engine/queue.go",
			Old:  "r.tail.Or(gate)\n\t\t\tdefer q.regate()\n\t\t\tif q.full() {\n\t\t\t\treturn none\n\t\t\t}\n",
			New:  "if !PLANTED {\n\t\t\t\tr.tail.Or(gate)\n\t\t\t\tdefer q.regate()\n\t\t\t\tif q.full() {\n\t\t\t\t\treturn none\n\t\t\t\t}\n\t\t\t}\n",
		}},
	},
	{
		Name:   "ready-looks-once",
		Breaks: "the queue looks empty to a goroutine that reads its head while another takes the task there",
		Edits: []Edit{{
			File: "internal/engine/ring.go",
			Old:  "if r.headAt() == pos {",
			New:  "if PLANTED || r.headAt() == pos {",
		}},
	},
	{
		Name:   "closes-up-on-half-written",
		Breaks: "a task that is being written is lost when the queue closes up",
		Edits: []Edit{{
			File: "internal/engine/queue.go",
			Old:  "if s.stamp.Load() != pos+1 {\n\t\t\t\treturn 0, false",
			New:  "if s.stamp.Load() != pos+1 {\n\t\t\t\tif PLANTED {\n\t\t\t\t\tcontinue\n\t\t\t\t}\n\t\t\t\treturn 0, false",
		}, {
			File: "internal/engine/queue.go",
			Old:  "if v := r.slots[pos&r.mask].value; len(out) < found && void(v) {",
			New:  "if v := r.slots[pos&r.mask].value; PLANTED && r.slots[pos&r.mask].stamp.Load() != pos+1 {\n\t\t\t\tcontinue\n\t\t\t} else if len(out) < found && void(v) {",
		}},
	},
	{
		Name:   "closes-up-beside-waits",
		Breaks: "Wait waits for a position that no task reaches since the queue has closed up",
		Edits: []Edit{{
			File: "internal/engine/control.go",
			Old:  "at[i] = &w.at",
			New:  "at[i] = &w.at\n\t\tif PLANTED {\n\t\t\tat[i] = new(uint64)\n\t\t}",
		}},
	},
}
