package plant

// facesGroups has mistakes in groups, results and loops.
var facesGroups = []Bug{
	{
		Name:   "group-go-forgets-cancel",
		Breaks: "Go hands a task to the queue though the group is cancelled",
		Edits: []Edit{{
			File: "group.go",
			Old:  "	if b.cancelled() {\n		b.withdraw(number)\n		return\n	}\n",
			New:  "	if b.cancelled() && !PLANTED {\n		b.withdraw(number)\n		return\n	}\n",
		}},
	},
	{
		Name:   "group-try-keeps-token",
		Breaks: "a refused TryGo does not give back its place under the group's limit",
		Edits: []Edit{{
			File: "group.go",
			Old:  "	if !b.try(memberJob(task, b, index)) {\n		b.release(1, nil)\n",
			New:  "	if !b.try(memberJob(task, b, index)) {\n		if !PLANTED {\n			b.release(1, nil)\n		}\n",
		}},
	},
	{
		Name:   "group-try-ignores-limit",
		Breaks: "TryGo does not look at the limit of the group",
		Edits: []Edit{{
			File: "group.go",
			Old:  "	if g.limit != nil && !g.limit.TryAcquire() {\n",
			New:  "	if g.limit != nil && !g.limit.TryAcquire() && !PLANTED {\n",
		}},
	},
	{
		Name:   "group-cancelled-go-keeps-token",
		Breaks: "a Go that is cancelled in the pool's line keeps its place under the group's limit",
		Edits: []Edit{{
			File: "group.go",
			Old:  "	case engine.Cancelled:\n		b.release(1, nil)\n",
			New:  "	case engine.Cancelled:\n		if !PLANTED {\n			b.release(1, nil)\n		}\n",
		}},
	},
	{
		Name:   "group-cancel-after-wait-lost",
		Breaks: "Cancel is lost if no task was given since the last Wait",
		Edits: []Edit{{
			File: "group.go",
			Old:  "		g.doomed = &cause\n",
			New:  "		if !PLANTED {\n			g.doomed = &cause\n		}\n",
		}},
	},
	{
		Name:   "group-panic-swallowed",
		Breaks: "Wait returns an error where a task has panicked",
		Edits: []Edit{{
			File: "group.go",
			Old:  "	if p := b.panicked(); p != nil {\n		panic(p)\n",
			New:  "	if p := b.panicked(); p != nil && !PLANTED {\n		panic(p)\n",
		}},
	},
	{
		Name:   "group-keeps-workers",
		Breaks: "Wait leaves the workers of a group's own behind",
		Edits: []Edit{{
			File: "group.go",
			Old:  "	if g.owned {\n		g.pool.core.engine.Dismiss(",
			New:  "	if g.owned && !PLANTED {\n		g.pool.core.engine.Dismiss(",
		}},
	},
	{
		Name:   "blocking-keeps-place",
		Breaks: "a task keeps its place in Blocking",
		Edits: []Edit{{
			File: "blocking.go",
			Old:  "\tif t.pool == nil {\n\t\twait()\n",
			New:  "\tif t.pool == nil || PLANTED {\n\t\twait()\n",
		}},
	},
	{
		Name:   "queued-before-returning",
		Breaks: "a queued task begins though a task wants to go on after Blocking",
		Edits: []Edit{{
			File: "internal/engine/absence.go",
			Old:  "return e.returning.First() != nil || e.unblocked.First() != nil\n",
			New:  "return !PLANTED && (e.returning.First() != nil || e.unblocked.First() != nil)\n",
		}},
	},
	{
		Name:   "batch-withdraw-keeps-number",
		Breaks: "a refused task uses a number up",
		Edits: []Edit{{
			File: "internal/engine/tally.go",
			Old:  "	if !t.intake.begun.CompareAndSwap(begun, begun-1) {\n",
			New:  "	if PLANTED || !t.intake.begun.CompareAndSwap(begun, begun-1) {\n",
		}},
	},
	{
		Name:   "batch-runs-cancelled",
		Breaks: "queued tasks of a cancelled group are run",
		Edits: []Edit{{
			File: "batch.go",
			Old:  "\tif b.cancelled() {\n\t\tb.group.pool.core.engine.HandedBack()",
			New:  "\tif b.cancelled() && !PLANTED {\n\t\tb.group.pool.core.engine.HandedBack()",
		}},
	},
	{
		Name:   "batch-goexit-succeeds",
		Breaks: "a task that calls runtime.Goexit has not failed",
		Edits: []Edit{{
			File: "batch.go",
			Old:  "		b.fail(j, ErrGoexit)\n		return\n",
			New:  "		if !PLANTED {\n			b.fail(j, ErrGoexit)\n		}\n		return\n",
		}},
	},
	{
		Name:   "batch-last-panic-wins",
		Breaks: "Wait panics with the last panic, not the first",
		Edits: []Edit{{
			File: "batch.go",
			Old:  "	if first {\n		wrong.panicked = p\n",
			New:  "	if first || PLANTED {\n		wrong.panicked = p\n",
		}},
	},
	{
		Name:   "batch-panic-cancels-nothing",
		Breaks: "the panic of a task does not cancel its group",
		Edits: []Edit{{
			File: "batch.go",
			Old:  "	b.scope.cancel(&TaskError{Index: j.number(), Err: p})\n",
			New:  "	if !PLANTED {\n		b.scope.cancel(&TaskError{Index: j.number(), Err: p})\n	}\n",
		}},
	},
	{
		Name:   "batch-keep-going-cancels",
		Breaks: "the error of a task cancels a group that keeps going",
		Edits: []Edit{{
			File: "batch.go",
			Old:  "	if !b.group.options.keepGoing {\n		b.scope.cancel(failure)\n",
			New:  "	if !b.group.options.keepGoing || PLANTED {\n		b.scope.cancel(failure)\n",
		}},
	},
	{
		Name:   "batch-errors-unsorted",
		Breaks: "the errors of a group that keeps going come in the order in which tasks failed",
		Edits: []Edit{{
			File: "batch_wait.go",
			Old:  "return cmp.Compare(x.Index, y.Index) })",
			New:  "\n			if PLANTED {\n				return 0\n			}\n			return cmp.Compare(x.Index, y.Index)\n		})",
		}},
	},
	{
		Name:   "batch-no-strike",
		Breaks: "Wait does not discard the subtasks of a cancelled group",
		Edits: []Edit{{
			File: "batch_wait.go",
			Old:  "\tif n := b.group.pool.core.engine.Drop(b.source); n > 0 {\n",
			New:  "\tif PLANTED {\n\t\treturn\n\t}\n\tif n := b.group.pool.core.engine.Drop(b.source); n > 0 {\n",
		}},
	},
	{
		Name:   "batch-second-wait-early",
		Breaks: "a second call of Wait does not block",
		Edits: []Edit{{
			File: "batch_wait.go",
			Old:  "		if b.settled {\n			b.mu.Unlock()\n",
			New:  "		if b.settled || PLANTED {\n			b.mu.Unlock()\n",
		}},
	},
	{
		Name:   "batch-struck-keep-tokens",
		Breaks: "tasks that Wait discards keep their places under the group's limit",
		Edits: []Edit{{
			File: "batch_wait.go",
			Old:  "		b.release(n, nil)\n		b.Ended(n, nil)\n",
			New:  "				if !PLANTED {\n					b.release(n, nil)\n				}\n				b.Ended(n, nil)\n",
		}},
	},
	{
		Name:   "scope-not-handed-down",
		Breaks: "the cancellation of a group does not reach the groups of its tasks",
		Edits: []Edit{{
			File: "context_scope.go",
			Old:  "		l.Of().cancel(s.cause)\n",
			New:  "		if !PLANTED {\n			l.Of().cancel(s.cause)\n		}\n",
		}},
	},
	{
		Name:   "scope-cause-lost",
		Breaks: "a cancelled group says context.Canceled, whatever the cause",
		Edits: []Edit{{
			File: "context_scope.go",
			Old:  "		if cause == nil {\n			s.cause",
			New:  "		if cause == nil || PLANTED {\n			s.cause",
		}},
	},
	{
		Name:   "scope-stays-open",
		Breaks: "the context of a batch goes on after Wait",
		Edits: []Edit{{
			File: "context_scope.go",
			Old:  "		above.mu.Unlock()\n	}\n	s.cancel(nil)\n",
			New:  "		above.mu.Unlock()\n	}\n	if PLANTED {\n		return\n	}\n	s.cancel(nil)\n",
		}},
	},
	{
		Name:   "nested-not-seen",
		Breaks: "the tasks of a task's group go through the queue",
		Edits: []Edit{{
			File: "group_nested.go",
			Old:  "func (g *Group) nested() bool { return g.at == g.pool }",
			New:  "func (g *Group) nested() bool { return g.at == g.pool && !PLANTED }",
		}},
	},
	{
		Name:   "group-limit-lowers-nothing",
		Breaks: "a lower limit of a group has no effect while all places are taken",
		Edits: []Edit{{
			File: "internal/limit/limit.go",
			Old:  "	l.limit += more\n",
			New:  "	l.limit += more\n	if free := l.free.Load(); PLANTED && free > -crowded/2 {\n		more = max(more, -free)\n	}\n",
		}},
	},
	{
		Name:   "group-limit-forgets-excess",
		Breaks: "a limit that is raised after it was lowered allows too many",
		Edits: []Edit{{
			File: "internal/limit/limit.go",
			Old:  "	more := clamp(limit) - l.limit\n",
			New:  "	more := clamp(limit) - l.limit\n	if free := l.free.Load(); PLANTED && more > 0 && free < 0 && free > -crowded/2 {\n		l.free.Store(0)\n	}\n",
		}},
	},
	{
		Name:   "group-limit-serves-no-waiter",
		Breaks: "a higher limit of a group does not let those go on that wait for it",
		Edits: []Edit{{
			File: "internal/limit/limit.go",
			Old:  "		l.serve(more, grant)\n",
			New:  "		if !PLANTED {\n			l.serve(more, grant)\n		}\n",
		}},
	},
	{
		Name:   "group-limit-serves-the-last",
		Breaks: "of those that wait for the limit of a group the last one goes on first",
		Edits: []Edit{{
			File: "internal/limit/limit.go",
			Old:  "		w := l.waiters.First().Of()\n",
			New:  "		w := l.waiters.First().Of()\n		if PLANTED {\n			w = l.waiters.Last().Of()\n		}\n",
		}},
	},
	{
		Name:   "nested-limit-lends-nothing",
		Breaks: "a task that waits for the limit of its group keeps its place to itself",
		Edits: []Edit{{
			File: "group_limit.go",
			Old:  "	if b.source != nil {\n",
			New:  "	if b.source != nil && !PLANTED {\n",
		}},
	},
	{
		Name:   "nested-wait-lends-nothing",
		Breaks: "a task that waits for its group keeps its place to itself",
		Edits: []Edit{{
			File: "batch_wait.go",
			Old:  "		defer b.stay.with(",
			New:  "		if PLANTED {\n			b.stay.task = task{}\n		}\n		defer b.stay.with(",
		}},
	},
	{
		Name:   "results-failure-hides-value",
		Breaks: "the value of a task that failed is lost",
		Edits: []Edit{{
			File: "result.go",
			Old:  "	value, err := task(ctx)\n	m.value = value\n",
			New:  "	value, err := task(ctx)\n	if err == nil || !PLANTED {\n		m.value = value\n	}\n",
		}},
	},
	{
		Name:   "results-last-forgotten",
		Breaks: "Wait returns one value too few",
		Edits: []Edit{{
			File: "result.go",
			Old:  "	values := make([]T, s.given.Load())\n",
			New:  "	n := s.given.Load()\n	if PLANTED && n > 1 {\n		n--\n	}\n	values := make([]T, n)\n",
		}},
	},
	{
		Name:   "results-kept-for-next",
		Breaks: "what was taken by Wait is there again at the next Wait",
		Edits: []Edit{{
			File: "result.go",
			Old:  "func (r *Results[T]) forget(s *resultSet[T]) { r.set",
			New:  "func (r *Results[T]) forget(s *resultSet[T]) { _ = PLANTED || r.set",
		}},
	},
	{
		Name:   "loop-passes-gap",
		Breaks: "Ordered goes on behind a task that failed, in a group that ends with the first",
		Edits: []Edit{{
			File: "result_loop.go",
			Old:  "			l.stopped = l.ordered\n",
			New:  "			l.stopped = l.ordered && !PLANTED\n",
		}},
	},
	{
		Name:   "loop-hides-cause",
		Breaks: "a loop over a cancelled group that keeps going ends without the cause",
		Edits: []Edit{{
			File: "result_loop.go",
			Old:  "	if len(errs) == 0 {\n		return cause\n",
			New:  "	if len(errs) == 0 {\n		if PLANTED {\n			return nil\n		}\n		return cause\n",
		}},
	},
	{
		Name:   "first-takes-last",
		Breaks: "First does not end with the first success",
		Edits: []Edit{{
			File: "result_first.go",
			Old:  "		return !won\n",
			New:  "		return !won || PLANTED\n",
		}},
	},
	{
		Name:   "first-takes-failure",
		Breaks: "First takes the first result, also if it failed",
		Edits: []Edit{{
			File: "result_first.go",
			Old:  "		if err == nil {\n",
			New:  "		if err == nil || PLANTED {\n",
		}},
	},
}
