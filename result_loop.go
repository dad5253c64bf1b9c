package weir

import (
	"errors"
	"iter"
)

// All returns an iterator over the results, as the tasks finish. It yields the errors that
// [Group.Wait] would return:
//
//   - With [KeepGoing], a task that fails yields what it returned, or the zero value, and a
//     [*TaskError]. At the end comes what else is wrong, if anything.
//   - Otherwise only tasks that succeed yield a value, and the cause comes last, with the zero
//     value, if the group was cancelled, as it is by the first error.
//
// The loop ends when every task of the group has finished; then, if one has panicked, with a panic
// like that of [Group.Wait]. Its body may give more tasks, and must not wait for the group. Leaving
// the loop, by break, return or panic, cancels the group and waits for the tasks that run, whose
// errors are then of no interest.
func (r *Results[T]) All() iter.Seq2[T, error] {
	r.mustBeMade()
	return func(yield func(T, error) bool) { _ = r.each(yield, false) }
}

// Ordered is [Results.All] in the order in which the tasks were given: the n-th
// result is that of task n, and comes as soon as all before it have come.
// Where the order has a gap it ends, and only the error is left to come: at a
// task that never ran because the group was cancelled and, without [KeepGoing], at
// one that failed. What is ready and not yet due is kept.
func (r *Results[T]) Ordered() iter.Seq2[T, error] {
	r.mustBeMade()
	return func(yield func(T, error) bool) { _ = r.each(yield, true) }
}

// loop is a range over a set, on the goroutine that ranges.
type loop[T any] struct {
	set     *resultSet[T]
	yield   func(T, error) bool
	ordered bool
	next    int           // if ordered: the number of the result that comes next
	over    chan struct{} // closed when the batch has ended
	stopped bool          // no more results are to be yielded
	left    bool          // nor an error: the loop's body has been left
}

// each calls yield for the results and what else is wrong, and returns what Wait
// would.
func (r *Results[T]) each(yield func(T, error) bool, ordered bool) error {
	s := r.take(ranged)
	b := s.batch
	g := r.group
	if b.subtasks != nil {
		s.stay.task = g.task()
		g.needEngine()
		b.leaveBell()
		defer s.stay.with(g.pool, b.subtasks.Want())()
	}
	s.stay.init(g.hostEngine())
	l := &loop[T]{set: s, yield: yield, ordered: ordered, over: make(chan struct{})}
	held := b.hold()
	at := watchedCallers()
	go func() {
		b.wait(false, at)
		close(l.over)
	}()
	returned := false
	defer func() {
		if returned {
			return
		}
		// The loop's body has panicked or called runtime.Goexit, and that goes on
		// when nothing of the batch is left.
		l.stop()
		l.run()
		r.forget(s)
		if p := b.panicked(); p != nil {
			r.group.pool.core.reporter.report(p)
		}
	}()
	s.feed.Watch(held)
	l.catchUp()
	l.run()
	returned = true
	r.forget(s)
	if p := b.panicked(); p != nil {
		panic(p)
	}
	if err := s.rest(); err != nil && !l.left {
		var none T
		yield(none, err)
	}
	return b.err
}

// catchUp yields what was there before the loop watched.
func (l *loop[T]) catchUp() {
	if l.ordered {
		l.due()
		return
	}
	for i := 0; i < int(l.set.given.Load()) && !l.stopped; i++ {
		if m := l.set.result(i); m.Finished() {
			l.give(m)
		}
	}
}

// run yields what comes, until the batch has ended. It must go on when nothing more is
// to be yielded, too, to release what is held for the loop.
func (l *loop[T]) run() {
	f := &l.set.feed
	for {
		m, tell := f.Next()
		if tell {
			l.set.batch.notify(nil)
		}
		switch {
		case m == nil:
			if !l.wait() {
				return
			}
		case l.ordered:
			l.due()
		default:
			for ; m != nil && !l.stopped; m = f.After(m) {
				if !m.Taken { // by catchUp
					l.give(m)
				}
			}
		}
	}
}

// wait blocks until there are news, or the batch has ended; then it reports false.
func (l *loop[T]) wait() bool {
	s := &l.set.stay
	if s.engine == nil && s.task.pool == nil { // most often; this needs no more stack than a new goroutine has
		select {
		case <-s.waiter.Turn:
			return true
		case <-l.over:
			return false
		}
	}
	return l.waitInTask()
}

// waitInTask is wait for a set of a group that was made in a task. It is no part of wait: see [Group.initInTask].
//
//go:noinline
func (l *loop[T]) waitInTask() bool {
	s := &l.set.stay
	defer s.arrive()
	if s.task.pool == nil {
		return s.wait(l.over, nil, nil)
	}
	// When the last task is over it takes another goroutine to end the batch.
	b, w := l.set.batch, s.engine.Wakeup()
	if b.stay.looper.Join(w, &b.tally) {
		b.notify(nil)
	}
	defer s.engine.GoesOn(w)
	return s.wait(l.over, nil, nil)
}

// due yields, in order, the results that are ready.
func (l *loop[T]) due() {
	for !l.stopped && l.next < int(l.set.given.Load()) {
		m := l.set.result(l.next)
		if !m.Finished() {
			return
		}
		l.give(m)
		l.next++
	}
}

func (l *loop[T]) give(m *result[T]) {
	var none T
	value := m.value
	m.value, m.Taken = none, true
	var err error
	if m.fault != nil {
		if !l.set.keepsGoing() {
			l.stopped = l.ordered
			return
		}
		err = m.fault
	}
	if !l.yield(value, err) {
		l.stop()
	}
}

func (l *loop[T]) stop() {
	l.stopped, l.left = true, true
	l.set.batch.scope.cancel(nil)
}

// rest is what is wrong with the ended batch in addition to the errors that were yielded.
func (s *resultSet[T]) rest() error {
	b := s.batch
	if !s.keepsGoing() {
		return b.err
	}
	var errs []error
	for _, failure := range b.failures() {
		if i := failure.Index; i < int(s.given.Load()) {
			if m := s.result(i); m.fault == failure && m.Taken {
				continue
			}
		}
		errs = append(errs, failure)
	}
	cause := b.cause()
	if len(errs) == 0 {
		return cause
	}
	return errors.Join(append(errs, cause)...)
}

func (s *resultSet[T]) keepsGoing() bool { return s.batch.group.options.keepGoing }

// hold keeps the batch from ending, for the feed, unless it has ended, or been given up.
func (b *batch) hold() bool {
	number, ok := b.intake.Begin()
	if !ok {
		return false
	}
	held := b.tally.Enter()
	b.withdraw(number)
	return held
}
