package plant

const (
	limitFile   = "weirhttp/limit.go"
	controlFile = "weirhttp/limit_control.go"
	onPoolFile  = "weirhttp/limit_pool.go"
	refuseFile  = "weirhttp/limit_refuse.go"
	queueFile   = "weirhttp/queue.go"
	clientsFile = "weirhttp/queue_clients.go"
	doFile      = "weirhttp/do.go"
)

// one is a mistake that a single edit makes.
func one(name, breaks, file, before, after string) Bug {
	return Bug{Name: name, Breaks: breaks, Edits: []Edit{{File: file, Old: before, New: after}}}
}

// hostile has the mistakes in weirhttp that hostile clients could use.
var hostile = []Bug{
	one("slot-lost-on-panic", "a handler that does not return keeps its slot", limitFile,
		"	defer l.release(c) // also if the handler does not return\n", `	if PLANTED {
		l.handler.ServeHTTP(w, r)
		l.release(c)
		return
	}
	defer l.release(c)
`),
	one("slot-lost-on-hijack", "a handler that has hijacked its connection keeps its slot", limitFile,
		"	l.handler.ServeHTTP(w, r)\n}\n", `	l.handler.ServeHTTP(w, r)
	if _, hijacked := w.(http.Hijacker); PLANTED && hijacked {
		if _, err := w.Write(nil); err == http.ErrHijacked {
			l.mu.Lock()
			l.taken++
			l.mu.Unlock()
		}
	}
}
`),
	one("slot-lost-on-cut-off-body", "a handler whose request was cut off keeps its slot", limitFile,
		"	if v != granted {\n		l.refusal.answer(w, r, v.reason())\n		return\n	}\n", `	if v != granted {
		l.refusal.answer(w, r, v.reason())
		return
	}
	if PLANTED {
		defer func() {
			if _, err := r.Body.Read(make([]byte, 1)); err != nil && err.Error() == "unexpected EOF" {
				l.mu.Lock()
				l.taken++
				l.mu.Unlock()
			}
		}()
	}
`),
	one("limit-off-by-one-on-arrival", "one more is let in at once than may run", limitFile,
		"if !l.draining && l.taken < l.limit && l.queue.mayRun(c) {",
		"if !l.draining && (l.taken < l.limit || PLANTED && l.taken == l.limit) && l.queue.mayRun(c) {"),
	one("limit-off-by-one-on-advance", "one more is let out of the queue than may run", limitFile,
		"	for l.taken < l.limit {\n", "	for l.taken < l.limit || PLANTED && l.taken == l.limit {\n"),
	one("no-hand-over", "a slot that is given back is not handed to those that wait", limitFile,
		"		l.queue.forget(c)\n	}\n	l.advance()\n", "		l.queue.forget(c)\n	}\n	if PLANTED {\n		return\n	}\n	l.advance()\n"),
	one("cancelled-waiter-stays", "a client that hangs up while it waits keeps its room in the queue", limitFile,
		"		l.giveUp(w, gone)\n", "		if PLANTED {\n			return gone\n		}\n		l.giveUp(w, gone)\n"),
	one("late-waiter-stays", "a request that has waited for MaxWait keeps its room in the queue", limitFile,
		"		l.giveUp(w, tooLate)\n", "		if PLANTED {\n			return tooLate\n		}\n		l.giveUp(w, tooLate)\n"),
	one("slot-lost-on-late-hang-up", "a client that hangs up as its turn comes keeps its slot", limitFile,
		"		l.passOn(w.client)\n", "		if !PLANTED {\n			l.passOn(w.client)\n		}\n"),
	one("victim-stays", "a request that is displaced waits on", limitFile,
		"	if victim != nil { // only now", "	if victim != nil && !PLANTED { // only now"),
	one("key-stays-on-dismissal", "the key of a request that was refused after a wait is remembered", limitFile,
		"	l.queue.forget(w.client)\n", "	if !PLANTED {\n		l.queue.forget(w.client)\n	}\n"),
	one("key-count-stays", "the count of what runs with a key is not lowered while others of it wait", limitFile,
		"		c.running--\n", "		if !PLANTED || c.waiting == 0 {\n			c.running--\n		}\n"),
	one("drain-forgets-one", "Drain refuses all that wait except the last", controlFile,
		"		l.dismiss(w, closed)\n", "		if PLANTED && l.queue.waiting == 1 {\n			break\n		}\n		l.dismiss(w, closed)\n"),
	one("drain-lets-in", "Drain lets in those that come later", controlFile,
		"	l.draining = true\n", "	l.draining = !PLANTED\n"),
	one("drain-forgets-the-pool", "Drain forgets those that wait for the pool", controlFile,
		"	if l.drain != nil {\n", "	if l.drain != nil && !PLANTED {\n"),
	one("slot-lost-without-place", "a request that gets no place in the pool keeps its slot", onPoolFile,
		"	l.counts[v]++\n	l.free(c)\n", "	l.counts[v]++\n	if !PLANTED {\n		l.free(c)\n	}\n"),
	one("slot-lost-on-panic-in-pool", "a handler with a place in the pool that does not return keeps its slot", onPoolFile,
		"		if begun {\n", "		if PLANTED && begun && v == undecided {\n			return\n		}\n		if begun {\n"),
	one("place-not-counted", "a request that has got its place in the pool is still counted as one that waits", onPoolFile,
		"	l.unplaced--\n}\n\n// withdraw", "	if !PLANTED {\n		l.unplaced--\n	}\n}\n\n// withdraw"),
	one("max-wait-twice", "the wait for the pool is not bounded", onPoolFile,
		"	err := l.pool.Do(ctx, func", "	if PLANTED {\n		ctx = r.Context()\n	}\n	err := l.pool.Do(ctx, func"),
	one("refusal-reads-on", "a refusal keeps the connection, and waits for a long body", refuseFile,
		"return r.ProtoMajor == 1 && (r.ContentLength > firstFlight || r.ContentLength < 0)",
		"return !PLANTED && r.ProtoMajor == 1 && (r.ContentLength > firstFlight || r.ContentLength < 0)"),
	one("queue-off-by-one", "one more waits than may", queueFile,
		"	case q.waiting >= q.size:\n", "	case q.waiting >= q.size && !(PLANTED && q.waiting == q.size):\n"),
	one("queue-leaks-count", "the queue counts on a request that has left it", queueFile,
		"	q.waiting--\n	q.all.remove(w)\n", "	if !PLANTED || w.links[ofAll].Next() == nil {\n		q.waiting--\n	}\n	q.all.remove(w)\n"),
	one("levels-stay", "the room for priorities that were made up is kept", queueFile,
		"	if !roomy(cap(s), len(s)) {\n", "	if !roomy(cap(s), len(s)) || PLANTED {\n"),
	one("key-off-by-one", "one more of a key runs than may", clientsFile,
		"return c == nil || c.running < s.perKey }", "return c == nil || c.running < s.perKey || PLANTED && c.running == s.perKey }"),
	one("key-queue-off-by-one", "one more of a key waits than may", clientsFile,
		"	return c.waiting >= s.perKeyQueue\n", "	return c.waiting > s.perKeyQueue || !PLANTED && c.waiting == s.perKeyQueue\n"),
	one("key-never-forgotten", "a key is remembered for good", clientsFile,
		"		delete(s.byKey, c.key)\n", "		if PLANTED {\n			return\n		}\n		delete(s.byKey, c.key)\n"),
	one("key-map-stays", "the map keeps the room for all keys that were made up", clientsFile,
		"		if left := len(s.byKey); roomy(s.most, left) {\n", "		if left := len(s.byKey); roomy(s.most, left) && !PLANTED {\n"),
	one("exit-answers", "a handler on the pool that calls Goexit is answered as if it had returned", doFile,
		"	case !v.returned:\n", "	case !v.returned && !PLANTED:\n"),
	one("abort-is-logged", "a handler on the pool that aborts is logged as a panic", doFile,
		"	case aborts(panicked):\n", "	case aborts(panicked) && !PLANTED:\n"),
	one("do-waits-for-gone", "a request whose client has hung up keeps its room in the queue of the pool", doFile,
		"p.pool.Group(r.Context())", "p.pool.Group(func() context.Context {\n		if PLANTED {\n			return context.WithoutCancel(r.Context())\n		}\n		return r.Context()\n	}())"),
}
