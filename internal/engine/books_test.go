package engine_test

import (
	"slices"
	"sync"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/step"
)

// books is what a scene knows of its tasks: what the engine promised of each, and what became of it.
// They are in a file that the explorer leaves as it is: nothing in them is a step.
type books struct {
	*step.Run
	mu     sync.Mutex
	clock  int // counts what is noted, so that times can be compared
	tasks  []*task
	limit  int    // how many may run at once, at most
	places int    // of the queue
	runs   int    // how many do
	above  *books // those of the parent, if the engine is a lane
	all    int    // how many run here and in the lanes
	extra  int    // how many tasks that have waited may go on beyond the limit
	away   int    // how many of them wait for others
	taking int    // how many goroutines have tasks handed back

	changing       int  // how many goroutines change the limit, or pause
	changed, mixed bool // a goroutine has; several do at once
	paused         int  // since when no task may begin, 0 if they may
	begun          int  // how many have begun since then
	ceiling        int  // the limit for tasks that are offered from now on, 0 if that is not known
}

// task is a task, and its page in the books.
type task struct {
	name   string
	run    func()
	on     func(own *engine.Worker) // instead of run, for a task that must know its worker
	ledger engine.Ledger            // that of a subtask
	in     *family                  // if it has a ticket in the queue: its family
	of     *family                  // if it is a ticket: the family
	isFor  uint64                   // and the number of its task in the source
	stands *future                  // if it is an entry in the queue: the future
	over   chan struct{}            // if not nil: is closed when the task is over

	kept             bool // strike leaves it alone
	started, struck  bool // a worker has come to it, or strike has discarded it before
	noted            bool // the engine knows that
	verdict          engine.Verdict
	called, answered int // when it was offered, and when the answer came
	began, ended     int
	by               *engine.Worker // that runs it, or has
	told             int            // when a goroutine had learned from the engine that it is over
	unrun            bool           // Shutdown has handed it back
	begins, returned int            // how often
	ahead            []*task        // waited in the line before this one was offered
	most             int            // if not 0: how many may run at once where this one begins
	waits            bool           // its submitter waits for room
}

// counts returns how often tasks have begun, and how many were discarded.
func (b *books) counts() (begun, struck int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, j := range b.tasks {
		begun += j.begins
		if j.struck {
			struck++
		}
	}
	return begun, struck
}

// unfinished reports whether the task is known to be accepted, and is not over.
func (j *task) unfinished() bool {
	return j.verdict == engine.Accepted && j.ended == 0 && j.returned == 0
}

// lock begins each access: the explorer must know that goroutines meet here.
func (b *books) lock() {
	b.Note()
	b.mu.Lock()
}

func (b *books) now() int {
	b.clock++
	return b.clock
}

// offered opens the page of a task that is about to be submitted.
func (b *books) offered(j *task) {
	b.lock()
	defer b.mu.Unlock()
	b.tasks = append(b.tasks, j)
	j.called = b.now()
	if j.ledger == nil { // else it may have a place that is lent, which a lower limit leaves alone
		j.most = b.ceiling
	}
}

// answer notes the answer that its submitter got.
func (b *books) answer(j *task, verdict engine.Verdict) engine.Verdict {
	b.lock()
	defer b.mu.Unlock()
	j.verdict, j.answered = verdict, b.now()
	if verdict == engine.Accepted && j.ledger == nil && b.taking == 0 {
		open := len(b.with(func(j *task) bool { return j.unfinished() && j.ledger == nil })) - b.away
		b.Check(open <= b.limit+b.places, "%s is accepted as one of %d, where there is room for %d", j.name, open, b.limit+b.places)
	}
	return verdict
}

// begin notes that a task begins on a worker, and whether it may.
func (b *books) begin(j *task, by *engine.Worker) {
	b.lock()
	j.by = by
	j.begins++
	j.began = b.now()
	b.runs++
	runs, most := b.runs, b.limit
	if j.most > 0 {
		most = min(most, j.most)
	}
	b.begun++
	held := b.paused > 0 && (j.called > b.paused || b.begun > b.limit) // so many may have been taken before
	b.mu.Unlock()
	b.Check(runs <= most, "%s begins as one of %d, where %d may run at once", j.name, runs, most)
	b.count(j.name, 1)
	b.Check(!held, "%s begins in an engine that is paused or shut down", j.name)
}

// count notes that n more tasks run, here and in the engines above.
func (b *books) count(name string, n int) {
	for ; b != nil; b = b.above {
		b.lock()
		b.all += n
		all, most := b.all, b.limit+b.extra
		b.mu.Unlock()
		b.Check(n < 0 || all <= most, "%s goes on as one of %d, where %d may run at once with those of the lanes", name, all, most)
	}
}

// read returns the time.
func (b *books) read() int {
	b.lock()
	defer b.mu.Unlock()
	return b.now()
}

// found checks that those are the workers which have had one task since a probe that ended by probed. The probe began, and one looked for
// them, at the other times.
func (b *books) found(found []*engine.Worker, begin, probed, looks, looked int) {
	b.lock()
	other := b.with(func(j *task) bool {
		second := slices.ContainsFunc(b.tasks, func(i *task) bool { return i.by == j.by && i.ended > probed && j.began > i.ended })
		return second && j.began < looks && slices.Contains(found, j.by)
	})
	missing := b.with(func(j *task) bool {
		lasts := j.began > 0 && j.began < begin && (j.ended == 0 || j.ended > looked)
		return lasts && j.by != nil && !slices.Contains(found, j.by)
	})
	b.mu.Unlock()
	b.Check(len(other) == 0, "a worker is found that has taken another task since the probe")
	b.Check(len(missing) == 0, "a worker is not found, and has had a task since before the probe")
}

// running is how many tasks run.
func (b *books) running() int {
	b.lock()
	defer b.mu.Unlock()
	return b.runs
}

// end notes that a task has ended.
func (b *books) end(j *task) {
	b.count(j.name, -1)
	b.lock()
	defer b.mu.Unlock()
	j.ended = b.now()
	b.runs--
}

// aside notes that a task waits for others, back that it goes on.
func (b *books) aside() {
	b.count("a task", -1)
	b.lock()
	defer b.mu.Unlock()
	b.runs--
	b.away++
}

func (b *books) back() {
	b.lock()
	b.runs++
	b.away--
	runs, most := b.runs, b.limit+b.extra
	b.mu.Unlock()
	b.Check(runs <= most, "a task that has waited goes on as one of %d, where %d may run at once", runs, most)
	b.count("a task that has waited", 1)
}

// changes notes that a goroutine begins to change the limit, or whether the engine is paused: what
// the engine promised of that before does not hold any more. limit is the new one, or 0.
func (b *books) changes(limit int) {
	b.lock()
	defer b.mu.Unlock()
	b.changing++
	b.mixed = b.mixed || b.changing > 1
	b.changed = true
	b.limit = max(b.limit, limit)
	b.paused, b.ceiling = 0, 0
	for _, j := range b.tasks {
		j.most = 0
	}
}

// hasChanged notes that the change is done, and what holds from now on, unless
// another goroutine changed it at the same time: no task that is offered later begins in a paused engine, or
// as one of more than limit. Nor does one of those that still are queued.
func (b *books) hasChanged(paused bool, limit, queued int) {
	b.lock()
	defer b.mu.Unlock()
	b.changing--
	alone := !b.mixed
	b.mixed = b.mixed && b.changing > 0
	if !alone {
		return
	}
	if paused {
		b.paused, b.begun = b.now(), 0
	}
	if b.ceiling = limit; limit == 0 {
		return
	}
	if accepted, ok := b.sequence(); ok {
		for _, j := range accepted[max(0, len(accepted)-queued):] {
			j.most = limit
		}
	}
}

// ends notes that from now on no task begins, as no worker has taken one.
func (b *books) ends() {
	b.lock()
	defer b.mu.Unlock()
	b.paused, b.begun = b.now(), b.limit
}

// sequence returns the tasks that were accepted, in that order, if it is known.
func (b *books) sequence() (accepted []*task, ok bool) {
	last := 0
	for _, j := range b.tasks {
		if j.answered == 0 || j.called < last || j.ledger != nil {
			return nil, false
		}
		if last = j.answered; j.verdict == engine.Accepted {
			accepted = append(accepted, j)
		}
	}
	return accepted, true
}

// starts reports whether a worker that has come to j may begin it.
func (b *books) starts(j *task) bool {
	b.lock()
	defer b.mu.Unlock()
	j.started = !j.struck
	return j.started
}

// strike discards the accepted tasks that no worker has come to, except subtasks.
func (b *books) strike(noted bool) (struck []*task) {
	b.lock()
	defer b.mu.Unlock()
	for _, j := range b.tasks {
		if j.verdict == engine.Accepted && j.ledger == nil && !j.kept && !j.started && !j.struck {
			j.struck, j.noted = true, noted
			struck = append(struck, j)
		}
	}
	return struck
}

func (b *books) isNoted(j *task) bool {
	b.lock()
	defer b.mu.Unlock()
	return j.noted || !j.struck
}

func (b *books) isStruck(j *task) bool {
	b.lock()
	defer b.mu.Unlock()
	return j.struck
}

// takesBack notes that tasks are about to be handed back: until that is done, a goroutine that finds
// them open cannot tell.
func (b *books) takesBack() {
	b.lock()
	defer b.mu.Unlock()
	b.taking++
}

// handedBack notes that they will never run.
func (b *books) handedBack(tasks ...*task) {
	b.lock()
	defer b.mu.Unlock()
	b.taking--
	for _, j := range tasks {
		j.returned++
	}
}

// expires notes that j will never run.
func (b *books) expires(j *task) {
	b.lock()
	defer b.mu.Unlock()
	j.returned++
}

// hasRoom reports whether the engine certainly had room for one more than j, for as long as j was
// offered: of the others too few were unfinished, and no submitter waited in the line.
func (b *books) hasRoom(j *task, room int) bool {
	b.lock()
	defer b.mu.Unlock()
	if b.changed {
		return false
	}
	for _, other := range b.tasks {
		switch refused := other.verdict != engine.Accepted && other.answered > 0; {
		case other == j, other.told > 0 && other.told < j.called, refused && other.answered < j.called:
		case other.ledger != nil, other.waits && (other.answered == 0 || other.answered > j.called):
			return false
		default:
			room--
		}
	}
	return room > 0
}

// with returns the tasks that have something.
func (b *books) with(has func(*task) bool) (some []*task) {
	for _, j := range b.tasks {
		if has(j) {
			some = append(some, j)
		}
	}
	return some
}

// open returns the tasks that were accepted and are not over.
func (b *books) open() []*task {
	b.lock()
	defer b.mu.Unlock()
	return b.with((*task).unfinished)
}

// over fails the execution unless those tasks are.
func (b *books) over(who string, tasks []*task) {
	b.lock()
	defer b.mu.Unlock()
	for _, j := range tasks {
		over := j.ended > 0 || j.returned > 0
		b.Check(over || b.taking > 0, "%s, and %s is not over", who, j.name)
		if over && j.told == 0 {
			j.told = b.now()
		}
	}
}

// balance closes the books: what was accepted has run once, or was handed back once, and nothing else.
func (b *books) balance() {
	b.lock()
	defer b.mu.Unlock()
	for _, j := range b.tasks {
		times := 0
		if j.verdict == engine.Accepted {
			times = 1
		}
		b.Check(j.begins+j.returned == times, "%s: verdict %d, began %d times, handed back %d times", j.name, j.verdict, j.begins, j.returned)
		b.Check(j.begins == 0 || j.ended > 0, "%s has not ended", j.name)
	}
	b.Check(b.runs == 0, "%d tasks run when all is over", b.runs)
}

// leavesNoGap checks that no task began that was offered after the acceptance of one that Shutdown has handed back.
func (b *books) leavesNoGap() {
	b.lock()
	defer b.mu.Unlock()
	for _, j := range b.with(func(j *task) bool { return j.unrun && j.ledger == nil }) {
		for _, late := range b.with(func(late *task) bool { return late.began > 0 && late.ledger == nil && late.called > j.answered }) {
			b.Failf("%s begins, and %s, which was accepted before it was offered, is handed back", late.name, j.name)
		}
	}
}

// inOrder checks that tasks began in the order in which they were submitted. That can be said
// only where one runs at a time.
func (b *books) inOrder() {
	b.lock()
	defer b.mu.Unlock()
	for _, late := range b.with(func(j *task) bool { return j.began > 0 && j.ledger == nil }) {
		for _, j := range b.with(func(j *task) bool { return j.began > late.began && j.ledger == nil }) {
			b.Check(j.answered > late.called, "%s begins before %s, which was accepted before it was offered", late.name, j.name)
		}
		for _, j := range late.ahead {
			b.Check(j.began == 0 || j.began < late.began, "%s overtakes %s, which stood in the line", late.name, j.name)
		}
	}
}
