package books

import (
	"slices"
	"sync/atomic"
	"time"
)

// Diary has a page for each task of a round: when it was given, began and ended. It judges answers to the question which tasks have run for
// how long.
type Diary struct {
	book  *Book
	begin time.Time
	pages []page
}

// page has times since Diary.begin in ns; 0 for what has not happened yet.
type page struct{ given, began, ended, over atomic.Int64 }

// NewDiary returns a diary with room for n tasks.
func NewDiary(b *Book, n int) *Diary {
	return &Diary{book: b, begin: time.Now(), pages: make([]page, n)}
}

func (d *Diary) now() int64 { return d.since(time.Now()) }

func (d *Diary) since(t time.Time) int64 { return max(1, int64(t.Sub(d.begin))) }

// Given notes that a call is about to hand a task over.
func (d *Diary) Given(id int) { d.pages[id].given.Store(d.now()) }

// Run runs the body of a task.
func (d *Diary) Run(id int, body func()) {
	d.pages[id].began.Store(d.now())
	body()
	d.pages[id].ended.Store(d.now())
}

// Over notes that the library has told of a task's end.
func (d *Diary) Over(id int) { d.pages[id].over.Store(d.now()) }

// Began reports whether the body of a task has begun.
func (d *Diary) Began(id int) bool { return d.pages[id].began.Load() != 0 }

// Ended reports whether the body of a task has come to its end.
func (d *Diary) Ended(id int) bool { return d.pages[id].ended.Load() != 0 }

// Looker is a goroutine that asks again and again.
type Looker struct {
	diary *Diary
	exact bool
	calls []call
}

// call is one of its questions: when it was asked, and when it was answered.
type call struct{ from, to int64 }

// pause is the time between two looks at least, for both to count.
const pause = int64(10 * time.Millisecond)

// Looker returns one. With exact the library measures each task, and so must know when it began. Else it learns that from looks.
func (d *Diary) Looker(exact bool) *Looker { return &Looker{diary: d, exact: exact} }

// Look asks which tasks have run for so long or longer, and since when, and judges the answer. The tasks in it must be the kind of which expected
// reports true, and of these none may be missing.
//
// A task is missing if it ran all the time, and the looker had asked before, at a moment that the task has run since, and that was so long ago; and
// if it has run for twice as long in all, as the library does not keep each look.
func (l *Looker) Look(name string, longer time.Duration, expected func(id int) bool, ask func(found func(id int, since time.Time))) {
	d := l.diary
	answer := map[int]int64{}
	from := d.now()
	ask(func(id int, since time.Time) {
		_, twice := answer[id]
		d.book.Check(!twice, "%s(%v) lists task %d twice", name, longer, id)
		answer[id] = d.since(since)
	})
	to := d.now()
	for id, since := range answer {
		given, over := d.pages[id].given.Load(), d.pages[id].over.Load()
		d.book.Check(expected(id), "%s(%v) lists task %d, which is of another kind", name, longer, id)
		d.book.Check(since >= given, "%s(%v): task %d has run since %v before it was given", name, longer, id, time.Duration(given-since))
		d.book.Check(to-since >= int64(longer), "%s(%v) lists task %d, which has run for %v", name, longer, id, time.Duration(to-since))
		d.book.Check(over == 0 || over >= from, "%s(%v) lists task %d, which was over %v before the call", name, longer, id, time.Duration(from-over))
	}
	begun := l.known(from, int64(longer))
	for id := range d.pages {
		p := &d.pages[id]
		began := p.began.Load()
		if _, listed := answer[id]; listed || began == 0 || began > begun || !expected(id) {
			continue
		}
		ended := p.ended.Load() // last: it says what was before
		d.book.Check(ended != 0 && ended <= to, "%s(%v) does not list task %d, which had run for %v", name, longer, id, time.Duration(from-began))
	}
	l.calls = append(l.calls, call{from, to})
	d.book.Look()
}

// known returns the moment so that tasks which began until then, and still run, must be in an answer.
func (l *Looker) known(from, longer int64) int64 {
	if l.exact {
		return from - longer
	}
	for _, c := range slices.Backward(l.calls) {
		if c.to <= from-longer {
			return min(c.from-pause, from-2*longer)
		}
	}
	return 0
}
