package plant

// faces has mistakes in Pool and FuncPool.
var faces = []Bug{
	{
		Name:   "pool-submit-ignores-closed",
		Breaks: "Submit to a closed pool returns nil, and the task never runs",
		Edits: []Edit{{
			File: "pool_core.go",
			Old:  "	case engine.Closed:\n		return ErrClosed\n",
			New:  "	case engine.Closed:\n		if PLANTED {\n			return nil\n		}\n		return ErrClosed\n",
		}},
	},
	{
		Name:   "pool-full-is-closed",
		Breaks: "a submission that finds no room gets the error that the pool is closed",
		Edits: []Edit{{
			File: "pool_core.go",
			Old:  "	case engine.Full:\n		return ErrFull\n",
			New:  "	case engine.Full:\n		if PLANTED {\n			return ErrClosed\n		}\n		return ErrFull\n",
		}},
	},
	{
		Name:   "pool-cause-is-err",
		Breaks: "a submitter whose context ends gets the context's Err, not its cause",
		Edits: []Edit{{
			File: "pool_core.go",
			Old:  "	if verdict == engine.Cancelled {\n		return context.Cause(ctx)\n",
			New:  "	if verdict == engine.Cancelled {\n		if PLANTED {\n			return ctx.Err()\n		}\n		return context.Cause(ctx)\n",
		}},
	},
	{
		Name:   "pool-refused-not-counted",
		Breaks: "a submission whose context has ended before is not counted as rejected",
		Edits: []Edit{{
			File: "pool_core.go",
			Old:  "		c.running().Reject()\n",
			New:  "		if !PLANTED {\n			c.running().Reject()\n		}\n",
		}},
	},
	{
		Name:   "pool-submit-takes-ended-context",
		Breaks: "a task is accepted though its submitter's context has ended before",
		Edits: []Edit{{
			File: "pool_core.go",
			Old:  "	if ctx.Err() != nil {\n",
			New:  "	if ctx.Err() != nil && !PLANTED {\n",
		}},
	},
	{
		Name:   "pool-wait-context-ignored",
		Breaks: "WaitContext goes on waiting when its context has ended",
		Edits: []Edit{{
			File: "pool_core.go",
			Old:  "	if !c.running().Wait(ctx.Done()) {",
			New:  "	if PLANTED {\n		c.running().Wait(nil)\n		return nil\n	}\n	if !c.running().Wait(ctx.Done()) {",
		}},
	},
	{
		Name:   "pool-shutdown-loses-error",
		Breaks: "Shutdown whose time is over returns no error",
		Edits: []Edit{{
			File: "pool_core.go",
			Old:  "	return unrun, context.Cause(ctx)\n",
			New:  "	if PLANTED {\n		return unrun, nil\n	}\n	return unrun, context.Cause(ctx)\n",
		}},
	},
	{
		Name:   "pool-resize-by-one-less",
		Breaks: "Resize to more than one sets a limit that is one lower",
		Edits: []Edit{{
			File: "pool_core.go",
			Old:  "	e.Resize(limit)\n",
			New:  "	if PLANTED && limit > 1 {\n		limit--\n	}\n	e.Resize(limit)\n",
		}},
	},
	{
		Name:   "pool-prestart-one-less",
		Breaks: "Prestart starts one worker less",
		Edits: []Edit{{
			File: "pool_core.go",
			Old:  "		c.engine.Start(o.prestart)\n",
			New:  "		if PLANTED {\n			o.prestart--\n		}\n		c.engine.Start(o.prestart)\n",
		}},
	},
	{
		Name:   "pool-goexit-reported",
		Breaks: "OnPanic gets a panic for a task that called runtime.Goexit",
		Edits: []Edit{{
			File: "pool_core.go",
			Old:  "	if panicked != nil {\n		c.tell",
			New:  "	if panicked != nil || PLANTED {\n		c.tell",
		}},
	},
	{
		Name:   "pool-unrun-loses-first",
		Breaks: "Shutdown hands a second task back in the place of the first",
		Edits: []Edit{{
			File: "pool.go",
			Old:  "			unrun = append(unrun, j.plain())\n",
			New:  "			unrun = append(unrun, j.plain())\n			if PLANTED && len(unrun) == 2 {\n				unrun[0] = unrun[1]\n			}\n",
		}},
	},
	{
		Name:   "pool-unrun-visit-forgotten",
		Breaks: "Shutdown does not tell a caller that waits in Do that its turn never comes",
		Edits: []Edit{{
			File: "pool.go",
			Old:  "		case j.listens():\n",
			New:  "		case j.listens():\n			if PLANTED {\n				continue\n			}\n",
		}},
	},
	{
		Name:   "pool-unrun-member-forgotten",
		Breaks: "a group does not learn that Shutdown has taken its task out of the queue",
		Edits: []Edit{{
			File: "batch.go",
			Old:  "b.refused(j, ErrClosed)",
			New:  "if PLANTED {\n\t\tb.release(1, nil)\n\t} else {\n\t\tb.refused(j, ErrClosed)\n\t}",
		}},
	},
	{
		Name:   "func-try-waits",
		Breaks: "TryInvoke waits for room",
		Edits: []Edit{{
			File: "func.go",
			Old:  "	return refusal(p.core.running().TrySubmit(argument[T]{arg: arg}, nil))\n",
			New:  "	if PLANTED {\n		return refusal(p.core.running().Submit(argument[T]{arg: arg}, nil))\n	}\n	return refusal(p.core.running().TrySubmit(argument[T]{arg: arg}, nil))\n",
		}},
	},
	{
		Name:   "func-invoke-never-waits",
		Breaks: "Invoke returns ErrFull where it must wait",
		Edits: []Edit{{
			File: "func.go",
			Old:  "	return refusal(p.core.running().Submit(argument[T]{arg: arg}, nil))\n",
			New:  "	if PLANTED {\n		return refusal(p.core.running().TrySubmit(argument[T]{arg: arg}, nil))\n	}\n	return refusal(p.core.running().Submit(argument[T]{arg: arg}, nil))\n",
		}},
	},
	{
		Name:   "func-panic-lost",
		Breaks: "no handler learns of the panic of a FuncPool's function",
		Edits: []Edit{{
			File: "func.go",
			Old:  "		p.core.tell(p.core.reporter.caughtAt(panicked, a.arg))\n",
			New:  "		if !PLANTED {\n			p.core.tell(p.core.reporter.caughtAt(panicked, a.arg))\n		}\n",
		}},
	},
	{
		Name:   "do-keeps-place",
		Breaks: "a cancelled Do stays in the queue",
		Edits: []Edit{{
			File: "do.go",
			Old:  "\t\t\tv.pool.core.engine.Discard(one) //",
			New:  "\t\t\tif !PLANTED {\n\t\t\t\tv.pool.core.engine.Discard(one)\n\t\t\t} //",
		}},
	},
	{
		Name:   "do-runs-cancelled",
		Breaks: "a Do that was cancelled in the queue waits for its turn all the same",
		Edits: []Edit{{
			File: "do.go",
			Old:  "	case <-ctx.Done():\n		if v.giveUp() {\n",
			New:  "	case <-ctx.Done():\n		if !PLANTED && v.giveUp() {\n",
		}},
	},
	{
		Name:   "do-leaves-late",
		Breaks: "the place of a Do whose task has panicked is not given back",
		Edits: []Edit{{
			File: "do.go",
			Old:  "	defer v.leave()\n	if ctx.Err() != nil {\n",
			New:  "	left := false\n	defer func() {\n		if left || !PLANTED {\n			v.leave()\n		}\n	}()\n	defer func() {\n		if PLANTED && recover() == nil {\n			left = true\n		}\n	}()\n	if ctx.Err() != nil {\n",
		}},
	},
	{
		Name:   "do-inside-queues",
		Breaks: "Do in a task of the pool waits for a place of its own",
		Edits: []Edit{{
			File: "do.go",
			Old:  "	if host.pool == p {\n",
			New:  "	if host.pool == p && !PLANTED {\n",
		}},
	},
	{
		Name:   "panic-handler-kills",
		Breaks: "the panic of a panic handler is not logged",
		Edits: []Edit{{
			File: "panic.go",
			Old:  "			logPanic(\"weir: panic handler panicked\", r.caught(value))\n",
			New:  "			if !PLANTED {\n				logPanic(\"weir: panic handler panicked\", r.caught(value))\n			}\n",
		}},
	},
}
