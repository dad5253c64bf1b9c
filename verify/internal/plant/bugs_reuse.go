package plant

// reuse has mistakes in the keeper of objects.
var reuse = []Bug{
	{
		Name:   "newcomer-takes-what-is-idle",
		Breaks: "Get leases an idle object before the users that wait get one",
		Edits: []Edit{{
			File: "reuse/keeper_get.go",
			Old:  "o != nil && k.line.length == 0 && k.fresh(o) {\n\t\tl :=",
			New:  "o != nil && (PLANTED || k.line.length == 0) && k.fresh(o) {\n\t\tl :=",
		}},
	},
	{
		Name:   "stale-object-goes-unchecked",
		Breaks: "an object is leased unchecked when no user has used it for twice CheckAfter",
		Edits: []Edit{{
			File: "reuse/keeper_get.go",
			Old:  "k.now()-o.proved < k.config.CheckAfter",
			New:  "(k.now()-o.proved < k.config.CheckAfter || PLANTED && k.now()-o.proved < 2*k.config.CheckAfter)",
		}},
	},
	{
		Name:   "cancelled-before-uncounted",
		Breaks: "Stats does not count the users that left while they waited",
		Edits: []Edit{{
			File: "reuse/keeper_get.go",
			Old:  "k.line.leave(w)\n\tk.totals.cancelled++",
			New:  "k.line.leave(w)\n\tif !PLANTED {\n\t\tk.totals.cancelled++\n\t}",
		}},
	},
	{
		Name:   "abandoned-open-is-forgotten",
		Breaks: "another is opened although what was begun for a user that has left is under way",
		Edits: []Edit{{
			File: "reuse/keeper_line.go",
			Old:  "o := k.spare.First().Of(); o != nil {",
			New:  "o := k.spare.First().Of(); o != nil && !PLANTED {",
		}},
	},
	{
		Name:   "taken-over-and-told",
		Breaks: "a user gets the error of an Open that was begun for another",
		Edits: []Edit{{
			File: "reuse/keeper_work.go",
			Old:  "if o.adopted {",
			New:  "if o.adopted && !PLANTED {",
		}},
	},
	{
		Name:   "reset-spares-what-is-opened",
		Breaks: "an object that was being opened at Reset is leased",
		Edits: []Edit{{
			File: "reuse/keeper_object.go",
			Old:  "case o.outdated():",
			New:  "case o.outdated() && (!PLANTED || k.closed || o.state != opening):",
		}},
	},
	{
		Name:   "reset-spares-what-is-leased",
		Breaks: "Reset closes the idle objects and no others",
		Edits: []Edit{{
			File: "reuse/keeper_close.go",
			Old:  "for l := k.line.all.Last(); l != nil;",
			New:  "if PLANTED {\n\t\tk.clear()\n\t\tk.serve()\n\t\tk.mu.Unlock()\n\t\treturn\n\t}\n\tfor l := k.line.all.Last(); l != nil;",
		}},
	},
	{
		Name:   "reset-leaves-those-who-wait",
		Breaks: "a user that waits at Reset gets another object only when the older one has gone",
		Edits: []Edit{{
			File: "reuse/keeper_close.go",
			Old:  "o := l.Of().object; o != nil {",
			New:  "o := l.Of().object; o != nil && !PLANTED {",
		}},
	},
	{
		Name:   "reset-cancels-nothing",
		Breaks: "what is opened or checked at Reset goes on undisturbed",
		Edits: []Edit{{
			File: "reuse/keeper_close.go",
			Old:  "last.end(errReset)",
			New:  "if !PLANTED {\n\t\tlast.end(errReset)\n\t}",
		}},
	},
	{
		Name:   "fresh-object-is-checked",
		Breaks: "an object whose heartbeat has just been is checked when another is being checked for a user that waits",
		Edits: []Edit{{
			File: "reuse/keeper_line.go",
			Old:  "if k.fresh(o) {",
			New:  "if k.fresh(o) && (!PLANTED || k.config.Check == nil) {",
		}},
	},
	{
		Name:   "heartbeat-counts-as-put",
		Breaks: "the object whose heartbeat was last is leased first",
		Edits: []Edit{{
			File: "reuse/keeper_idle.go",
			Old:  "if o.state == leased || o.state == opening {",
			New:  "if o.state == leased || o.state == opening || PLANTED && o.state == beating {",
		}},
	},
	{
		Name:   "old-object-goes-on",
		Breaks: "an object that is put back after its Lifetime goes to a user that waits",
		Edits: []Edit{{
			File: "reuse/keeper_object.go",
			Old:  "case now >= o.dies:",
			New:  "case now >= o.dies && (!PLANTED || first == nil):",
		}},
	},
	{
		Name:   "closing-has-no-place",
		Breaks: "the place of an object is free while it is closed",
		Edits: []Edit{{
			File: "reuse/keeper_line.go",
			Old:  "o == nil && k.total >= k.config.Capacity {",
			New:  "o == nil && k.total >= k.config.Capacity && (!PLANTED || k.total-k.count[closing] >= k.config.Capacity) {",
		}},
	},
	{
		Name:   "closed-place-serves-nobody",
		Breaks: "a user that waits does not learn that an object was closed",
		Edits: []Edit{{
			File: "reuse/keeper_work.go",
			Old:  "k.serve()\n\t\tk.mu.Unlock()\n\t\tif panicked != nil {",
			New:  "if !PLANTED || panicked != nil {\n\t\t\tk.serve()\n\t\t}\n\t\tk.mu.Unlock()\n\t\tif panicked != nil {",
		}},
	},
	{
		Name:   "cause-of-close-is-lost",
		Breaks: "Open and Check are cancelled without a cause when the keeper is closed",
		Edits: []Edit{{
			File: "reuse/keeper_era.go",
			Old:  "(*cancel)(cause)",
			New:  "if PLANTED {\n\t\t\t(*cancel)(nil)\n\t\t}\n\t\t(*cancel)(cause)",
		}},
	},
	{
		Name:   "retry-at-once",
		Breaks: "Open is called for no user again as soon as it has failed",
		Edits: []Edit{{
			File: "reuse/keeper_upkeep.go",
			Old:  "return k.failures > 0 && k.now() < k.retry",
			New:  "return k.failures > 0 && k.now() < k.retry && !PLANTED",
		}},
	},
	{
		Name:   "expiry-below-the-minimum",
		Breaks: "objects that MinIdle keeps expire",
		Edits: []Edit{{
			File: "reuse/keeper_idle.go",
			Old:  "k.count[idle] <= k.config.MinIdle {",
			New:  "k.count[idle] <= k.config.MinIdle && !PLANTED {",
		}},
	},
	{
		Name:   "timer-is-not-set-again",
		Breaks: "after an object has expired the keeper does not look at the others",
		Edits: []Edit{{
			File: "reuse/keeper_upkeep.go",
			Old:  "\tif next > now {\n",
			New:  "\tif next > now && !PLANTED {\n",
		}},
	},
	{
		Name:   "put-object-is-not-used",
		Breaks: "the time of an object's use is that when it was opened",
		Edits: []Edit{{
			File: "reuse/keeper_lease.go",
			Old:  "o.used, o.proved = now, now",
			New:  "if o.proved = now; !PLANTED {\n\t\t\to.used = now\n\t\t}",
		}},
	},
	{
		Name:   "closing-counts-as-checking",
		Breaks: "Stats counts objects that are being closed twice",
		Edits: []Edit{{
			File: "reuse/keeper_stats.go",
			Old:  "k.count[checking] + k.count[beating],",
			New:  "k.count[checking] + k.count[beating] + map[bool]int{true: k.count[closing]}[PLANTED],",
		}},
	},
	{
		Name:   "first-in-last-out",
		Breaks: "the object that was used first is leased first",
		Edits: []Edit{{
			File: "reuse/keeper_idle.go",
			Old:  "func (k *Keeper[T]) warmest() *object[T] {\n",
			New:  "func (k *Keeper[T]) warmest() *object[T] {\n\tif PLANTED {\n\t\treturn k.coldest()\n\t}\n",
		}},
	},
	{
		Name:   "left-alone-and-unserved",
		Breaks: "no other object is begun for a user that waits after another one has taken over its own",
		Edits: []Edit{{
			File: "reuse/keeper_line.go",
			Old:  "\t} else {\n\t\tl.unserved.Prepend(&w.unserved, w)\n",
			New:  "\t} else if !PLANTED {\n\t\tl.unserved.Prepend(&w.unserved, w)\n",
		}},
	},
	{
		Name:   "looked-at-once",
		Breaks: "an object that upkeep has found before its time is not looked at again",
		Edits: []Edit{{
			File: "reuse/keeper_upkeep.go",
			Old:  "\t\tdefault:\n\t\t\tk.watch(o)\n",
			New:  "\t\tdefault:\n\t\t\tif !PLANTED {\n\t\t\t\tk.watch(o)\n\t\t\t}\n",
		}},
	},
	{
		Name:   "tree-root-first",
		Breaks: "what stands at the root of a tree is taken for the first",
		Edits: []Edit{{
			File: "reuse/keeper_tree.go",
			Old:  "for n != nil && n.left != nil {",
			New:  "for n != nil && n.left != nil && !PLANTED {",
		}},
	},
}
