package plant

// limits has the mistakes in internal/limit.
var limits = []Bug{
	{
		Name:   "limit-joins-in-two-steps",
		Breaks: "a caller that finds no room joins the queue in another step, before which a release may come",
		Edits: []Edit{{
			File: "internal/limit/limit.go",
			Old:  "} else if l.free.CompareAndSwap(free, free-crowded) {",
			New:  "} else if PLANTED {\n\t\t\tl.free.Add(-crowded)\n\t\t\tbreak\n\t\t} else if l.free.CompareAndSwap(free, free-crowded) {",
		}},
	},
	{
		Name:   "limit-overtakes",
		Breaks: "a newcomer takes the place that a waiter is about to get",
		Edits: []Edit{{
			File: "internal/limit/limit.go",
			Old:  "		if free <= 0 {\n",
			New:  "		if PLANTED && free < -crowded/2 {\n\t\t\tif free > -crowded && l.free.CompareAndSwap(free, free-1) {\n\t\t\t\treturn true\n\t\t\t}\n\t\t}\n\t\tif free <= 0 {\n",
		}},
	},
	{
		Name:   "limit-release-unheard",
		Breaks: "a holder that releases looks for waiters before it makes room",
		Edits: []Edit{{
			File: "internal/limit/limit.go",
			Old:  "	if l.free.Add(int64(n)) < -crowded/2 {",
			New:  "	before := !PLANTED || l.free.Load() < -crowded/2\n\tif l.free.Add(int64(n)) < -crowded/2 && before {",
		}},
	},
	{
		Name:   "limit-serves-one",
		Breaks: "a holder that releases several places serves one waiter",
		Edits: []Edit{{
			File: "internal/limit/limit.go",
			Old:  "l.serve(int64(n), grant)",
			New:  "if PLANTED {\n\t\t\tn = min(n, 1)\n\t\t}\n\t\tl.serve(int64(n), grant)",
		}},
	},
	{
		Name:   "limit-serves-all",
		Breaks: "a holder serves waiters for what others have released as well",
		Edits: []Edit{{
			File: "internal/limit/limit.go",
			Old:  "for ; n > 0 && l",
			New:  "for ; (n > 0 || PLANTED) && l",
		}},
	},
	{
		Name:   "limit-serves-beyond",
		Breaks: "a waiter is served though there is no room",
		Edits: []Edit{{
			File: "internal/limit/limit.go",
			Old:  ".length > 0 && l.free.Load() > -crowded; n-- {",
			New:  ".length > 0 && (PLANTED || l.free.Load() > -crowded); n-- {",
		}},
	},
	{
		Name:   "limit-serves-newest",
		Breaks: "the newest waiter is served first",
		Edits: []Edit{{
			File: "internal/limit/limit.go",
			Old:  "		w := l.waiters.First().Of()\n",
			New:  "		w := l.waiters.First().Of()\n\t\tif PLANTED {\n\t\t\tw = l.waiters.Last().Of()\n\t\t}\n",
		}},
	},
	{
		Name:   "limit-stays-crowded",
		Breaks: "after the last waiter has left the limit is closed to newcomers",
		Edits: []Edit{{
			File: "internal/limit/limit.go",
			Old:  "	if l.length == 0 {\n		l.free.Add(crowded)",
			New:  "	if l.length == 0 && !PLANTED {\n		l.free.Add(crowded)",
		}},
	},
	{
		Name:   "limit-withdrawn-and-granted",
		Breaks: "a waiter that withdraws does not learn that it was served, and the place is lost",
		Edits: []Edit{{
			File: "internal/limit/limit.go",
			Old:  "		l.remove(w)\n	}\n	return w.granted",
			New:  "		l.remove(w)\n	}\n	return w.granted && !PLANTED",
		}},
	},
	{
		Name:   "limit-granted-for-good",
		Breaks: "a waiter goes on though the limit was lowered after it was served",
		Edits: []Edit{{
			File: "internal/limit/limit.go",
			Old:  "		if free >= 0 {\n",
			New:  "		if free >= 0 || PLANTED {\n",
		}},
	},
	{
		Name:   "limit-back-uncrowded",
		Breaks: "a waiter that waits again in an empty queue is not seen by a holder that releases",
		Edits: []Edit{{
			File: "internal/limit/limit.go",
			Old:  "			back -= crowded\n",
			New:  "			if !PLANTED {\n\t\t\t\tback -= crowded\n\t\t\t}\n",
		}},
	},
	{
		Name:   "limit-back-without-exchange",
		Breaks: "a waiter waits again though a place was released meanwhile",
		Edits: []Edit{{
			File: "internal/limit/limit.go",
			Old:  "		if l.free.CompareAndSwap(old, back) {",
			New:  "		if PLANTED {\n\t\t\tback += l.free.Load() - old\n\t\t\told = l.free.Load()\n\t\t}\n\t\tif l.free.CompareAndSwap(old, back) {",
		}},
	},
	{
		Name:   "limit-back-last",
		Breaks: "a waiter that waits again is the last in the queue",
		Edits: []Edit{{
			File: "internal/limit/limit.go",
			Old:  "			l.waiters.Prepend(&w.link, w)",
			New:  "			if PLANTED {\n\t\t\t\tl.waiters.Append(&w.link, w)\n\t\t\t} else {\n\t\t\t\tl.waiters.Prepend(&w.link, w)\n\t\t\t}",
		}},
	},
	{
		Name:   "limit-rises-unheard",
		Breaks: "the room of a higher limit is not given to those that wait",
		Edits: []Edit{{
			File: "internal/limit/limit.go",
			Old:  "	if free < -crowded/2 {\n		l.serve(more",
			New:  "	if free < -crowded/2 && !PLANTED {\n		l.serve(more",
		}},
	},
	{
		Name:   "limit-grants-unsignalled",
		Breaks: "a blocked caller is not woken when it is served",
		Edits: []Edit{{
			File: "internal/limit/limit.go",
			Old:  "		l.turn.Signal()\n",
			New:  "		if !PLANTED {\n\t\t\tl.turn.Signal()\n\t\t}\n",
		}},
	},
}
