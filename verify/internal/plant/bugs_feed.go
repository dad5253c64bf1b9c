package plant

// feeds has the mistakes in internal/feed.
var feeds = []Bug{
	{
		Name:   "feed-looks-before-finish",
		Breaks: "a task looks for a loop before it says that its result is final",
		Edits: []Edit{{
			File: "internal/feed/feed.go",
			Old:  "	i.finished.Store(true)\n	if !f.watched.Load() {",
			New:  "	early := f.watched.Load()\n	i.finished.Store(true)\n	if PLANTED && !early || !f.watched.Load() {",
		}},
	},
	{
		Name:   "feed-holds-late",
		Breaks: "a task holds the batch only when the loop may have seen its result already",
		Edits: []Edit{
			{
				File: "internal/feed/feed.go",
				Old:  "			f.tally.Hold()\n			held = true\n",
				New:  "			if !PLANTED {\n				f.tally.Hold()\n			}\n			held = true\n",
			},
			{
				File: "internal/feed/feed.go",
				Old:  "		if first != nil && held {\n",
				New:  "		if first == nil && PLANTED {\n			f.tally.Hold()\n		}\n		if first != nil && held {\n",
			},
		},
	},
	{
		Name:   "feed-keeps-second-hold",
		Breaks: "a task that has held the batch, and is not the first, holds it for good",
		Edits: []Edit{{
			File: "internal/feed/feed.go",
			Old:  "			f.tally.Leave(0) //",
			New:  "			if !PLANTED {\n				f.tally.Leave(0)\n			} //",
		}},
	},
	{
		Name:   "feed-loop-keeps-hold",
		Breaks: "the loop holds the batch once more with each news",
		Edits: []Edit{{
			File: "internal/feed/feed.go",
			Old:  "	tell = f.Release()\n",
			New:  "	if newest == nil || !PLANTED {\n		tell = f.Release()\n	}\n",
		}},
	},
	{
		Name:   "feed-release-unheard",
		Breaks: "the goroutine that waits for the end does not learn that the loop has dealt with all results",
		Edits: []Edit{{
			File: "internal/feed/feed.go",
			Old:  "	f.held = false\n	return f.tally.Leave(0)\n",
			New:  "	f.held = false\n	return f.tally.Leave(0) && !PLANTED\n",
		}},
	},
	{
		Name:   "feed-announces-without-exchange",
		Breaks: "of two results that are announced at once one is lost",
		Edits: []Edit{{
			File: "internal/feed/feed.go",
			Old:  "		if !f.newest.CompareAndSwap(first, m) {\n",
			New:  "		if PLANTED {\n			f.newest.Store(m)\n		} else if !f.newest.CompareAndSwap(first, m) {\n",
		}},
	},
	{
		Name:   "feed-wakes-no-loop",
		Breaks: "the loop sleeps on when the first result is announced",
		Edits: []Edit{{
			File: "internal/feed/feed.go",
			Old:  "		return first == nil //",
			New:  "		return first == nil && !PLANTED //",
		}},
	},
}
