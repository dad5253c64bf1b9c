package plant

// lanes has the mistakes in internal/lane.
var lanes = []Bug{
	{
		Name:   "lane-gives-up-beside-a-function",
		Breaks: "a goroutine ends its search though a function has just come into the ring",
		Edits: []Edit{{
			File: "internal/lane/ring.go",
			Old:  "return t&^searched == r.head.Load() && r.tail.CompareAndSwap(t, t&^searched)",
			New:  "if PLANTED {\n\t\tempty := t&^searched == r.head.Load()\n\t\tif empty {\n\t\t\tr.tail.And(^uint64(searched))\n\t\t}\n\t\treturn empty\n\t}\n\treturn t&^searched == r.head.Load() && r.tail.CompareAndSwap(t, t&^searched)",
		}},
	},
	{
		Name:   "lane-no-successor",
		Breaks: "a goroutine that has found a function leaves the others in the ring",
		Edits: []Edit{{
			File: "internal/lane/lane.go",
			Old:  "	if left <= 0 {\n",
			New:  "	if left <= 0 || PLANTED {\n",
		}},
	},
	{
		Name:   "lane-runs-before-successor",
		Breaks: "a goroutine runs the function that it has found while it still counts as searching",
		Edits: []Edit{{
			File: "internal/lane/lane.go",
			Old:  "			g.found(r)\n			g.work(r.lane, r, f)\n			return\n",
			New:  "			if PLANTED {\n				g.work(r.lane, r, f)\n				g.found(r)\n				return\n			}\n			g.found(r)\n			g.work(r.lane, r, f)\n			return\n",
		}},
	},
	{
		Name:   "lane-pushes-unsearched",
		Breaks: "a function comes into a ring that no goroutine searches",
		Edits: []Edit{{
			File: "internal/lane/ring.go",
			Old:  "		if t&searched == 0 {\n			if r.tail",
			New:  "		if t&searched == 0 && !PLANTED {\n			if r.tail",
		}},
	},
	{
		Name:   "lane-counts-before-the-end",
		Breaks: "a goroutine counts what is left in the ring before it ends its search",
		Edits: []Edit{{
			File: "internal/lane/ring.go",
			Old:  "	t := r.tail.And(^uint64(searched)) &^ searched\n",
			New:  "	before := r.tail.Load() &^ searched\n	t := r.tail.And(^uint64(searched)) &^ searched\n	if PLANTED {\n		t = before\n	}\n",
		}},
	},
	{
		Name:   "lane-takes-twice",
		Breaks: "two goroutines take the same function",
		Edits: []Edit{{
			File: "internal/lane/ring.go",
			Old:  "if r.head.CompareAndSwap(n, n+1) {",
			New:  "if PLANTED {\n				f := s.f\n				r.head.Store(n + 1)\n				s.turn.Store(2*lap + 2)\n				return f\n			}\n			if r.head.CompareAndSwap(n, n+1) {",
		}},
	},
	{
		Name:   "lane-drops-when-full",
		Breaks: "a function that finds the ring full is lost",
		Edits: []Edit{{
			File: "internal/lane/lane.go",
			Old:  "growth*len(r.slots)))\n",
			New:  "growth*len(r.slots)))\n			if PLANTED {\n				return\n			}\n",
		}},
	},
	{
		Name:   "lane-counts-late",
		Breaks: "a goroutine counts itself only when it runs",
		Edits: []Edit{{
			File: "internal/lane/lane.go",
			Old:  "	g.goroutines.Add(1)\n	go func() { g.work(l, nil, f) }()\n",
			New:  "	if PLANTED {\n		go func() {\n			g.goroutines.Add(1)\n			g.work(l, nil, f)\n		}()\n		return\n	}\n	g.goroutines.Add(1)\n	go func() { g.work(l, nil, f) }()\n",
		}},
	},
	{
		Name:   "lane-exit-keeps-place",
		Breaks: "a function that calls runtime.Goexit keeps its place under the limit",
		Edits: []Edit{{
			File: "internal/lane/lane.go",
			Old:  "				return // while the program ends",
			New:  "				return\n			}\n			if PLANTED {\n				g.goroutines.Done()\n				return // while the program ends",
		}},
	},
	{
		Name:   "lane-exit-runs-no-other",
		Breaks: "the function that gets the place of one that has called runtime.Goexit never runs",
		Edits: []Edit{{
			File: "internal/lane/lane.go",
			Old:  "next != nil {\n				g.start(l, next)\n",
			New:  "next != nil && !PLANTED {\n				g.start(l, next)\n",
		}},
	},
	{
		Name:   "lane-drops-the-served",
		Breaks: "the function of a caller that was served is lost if another is in the ring",
		Edits: []Edit{{
			File: "internal/lane/lane.go",
			Old:  "		f = l.leave()\n		if f == nil && r != nil {\n",
			New:  "		f = l.leave()\n		if PLANTED && f != nil && r != nil {\n			if other := r.pop(); other != nil {\n				f = other\n			}\n		}\n		if f == nil && r != nil {\n",
		}},
	},
	{
		Name:   "lane-keeps-last-error",
		Breaks: "each error cancels the group",
		Edits: []Edit{{
			File: "internal/lane/group.go",
			Old:  "	g.failed.Do(func() {\n",
			New:  "	if PLANTED {\n		g.failed = sync.Once{}\n	}\n	g.failed.Do(func() {\n",
		}},
	},
}
