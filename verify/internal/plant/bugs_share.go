package plant

// shares has the mistakes in internal/share.
var shares = []Bug{
	{
		Name:   "share-claims-the-same",
		Breaks: "a claim leaves its items where they were",
		Edits: []Edit{{
			File: "internal/share/share.go",
			Old:  "	s.left.Store(int64(left - n))\n",
			New:  "	if PLANTED && n > 1 {\n		r.Lo--\n		left++\n	}\n	s.left.Store(int64(left - n))\n",
		}},
	},
	{
		Name:   "share-halves-badly",
		Breaks: "an item is lost when a share is halved",
		Edits: []Edit{{
			File: "internal/share/share.go",
			Old:  "		s.runs[0].Hi, taken.Lo = middle, middle\n",
			New:  "		s.runs[0].Hi, taken.Lo = middle, middle\n		if PLANTED && taken.Hi-middle > 1 {\n			taken.Lo++\n			s.left.Add(-1)\n		}\n",
		}},
	},
	{
		Name:   "share-leaves-before-it-looks",
		Breaks: "a worker that finds nothing leaves, though items are on their way from one share to another",
		Edits: []Edit{{
			File: "internal/share/division.go",
			Old:  "w.gone = d.Drained() || !d.Reserve()",
			New:  "w.gone = PLANTED || d.Drained() || !d.Reserve()",
		}},
	},
	{
		Name:   "share-never-hungry",
		Breaks: "a worker that leaves does not tell the others",
		Edits: []Edit{{
			File: "internal/share/division.go",
			Old:  "	d.Signal.Or(Hungry)\n",
			New:  "	if !PLANTED {\n		d.Signal.Or(Hungry)\n	}\n",
		}},
	},
	{
		Name:   "share-calls-no-successor",
		Breaks: "a worker that has come, or put items down, calls for no other",
		Edits: []Edit{{
			File: "internal/share/division.go",
			Old:  "		w.fresh = false\n		return left > 0 || !d.Drained()\n",
			New:  "		w.fresh = false\n		return !PLANTED && (left > 0 || !d.Drained())\n",
		}},
	},
	{
		Name:   "share-looks-before-it-gives-up",
		Breaks: "a worker looks for items before it gives its place up",
		Edits: []Edit{{
			File: "internal/share/division.go",
			Old:  "	d := w.division\n	d.places.Add(-1)\n",
			New:  "	d := w.division\n	if PLANTED && d.Drained() {\n		w.gone = true\n		d.places.Add(-1)\n		d.Signal.Or(2)\n		return true\n	}\n	d.places.Add(-1)\n",
		}},
	},
	{
		Name:   "share-reserves-in-two-steps",
		Breaks: "two workers take the last place",
		Edits: []Edit{{
			File: "internal/share/division.go",
			Old:  "		if d.places.CompareAndSwap(n, n+1) {\n",
			New:  "		if PLANTED {\n			d.places.Add(1)\n			return true\n		}\n		if d.places.CompareAndSwap(n, n+1) {\n",
		}},
	},
	{
		Name:   "share-leaves-twice",
		Breaks: "a worker that has given its place up gives it up once more at its end",
		Edits: []Edit{{
			File: "internal/share/division.go",
			Old:  "	if !w.gone {\n",
			New:  "	if !w.gone || PLANTED {\n",
		}},
	},
}
