package books_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/64ed045f/weir/verify/soak/internal/books"
)

func TestALedgerReportsEveryFalseEntry(t *testing.T) {
	run := func(l *books.Ledger, id int) { l.Run(id, nil, func() {}) }
	for name, c := range map[string]struct {
		enter func(l *books.Ledger, id int)
		want  string
	}{
		"accepted and never run":   {func(l *books.Ledger, id int) { l.Accept(id) }, "was accepted: it has run 0 times and was handed back 0 times"},
		"run twice":                {func(l *books.Ledger, id int) { l.Accept(id); run(l, id); run(l, id) }, "has started 2 times"},
		"run and handed back":      {func(l *books.Ledger, id int) { l.Accept(id); run(l, id); l.Returned(id) }, "was accepted: it has run 1 times and was handed back 1 times"},
		"handed back twice":        {func(l *books.Ledger, id int) { l.Accept(id); l.Returned(id); l.Returned(id) }, "was handed back 2 times"},
		"run, then rejected":       {func(l *books.Ledger, id int) { run(l, id); l.Reject(id) }, "was rejected, and has started"},
		"rejected, then run":       {func(l *books.Ledger, id int) { l.Reject(id); run(l, id) }, "has started after it was rejected"},
		"rejected and handed back": {func(l *books.Ledger, id int) { l.Reject(id); l.Returned(id) }, "was rejected: it has run 0 times and was handed back 1 times"},
		"settled twice":            {func(l *books.Ledger, id int) { l.Accept(id); l.Reject(id); run(l, id) }, "was settled twice"},
		"never settled":            {func(*books.Ledger, int) {}, "never returned"},
		"a strange error":          {func(l *books.Ledger, id int) { l.Settle(id, errors.New("strange")) }, "strange"},
		"a wait that did not wait": {func(l *books.Ledger, id int) { l.Accept(id); l.Ended("Wait", l.Accepted()...); run(l, id) }, "Wait has returned, and task 0"},
		"running at the end": {func(l *books.Ledger, id int) {
			l.Accept(id)
			l.Run(id, nil, func() { l.Quiet("Close") })
		}, "Close has returned, and task 0 still runs"},
	} {
		t.Run(name, func(t *testing.T) {
			j := books.NewJournal()
			l := books.NewLedger(books.New("load", j), 1, context.Canceled)
			c.enter(l, l.New())
			l.Audit()
			wantBreach(t, j, c.want)
		})
	}
}

func TestALedgerThatAddsUpHasNoBreach(t *testing.T) {
	j := books.NewJournal()
	b := books.New("load", j)
	l := books.NewLedger(b, 10, context.Canceled)
	ids := make([]int, 5)
	for i := range ids {
		ids[i] = l.New()
	}
	l.Settle(ids[0], nil)
	l.Run(ids[0], nil, func() {})
	l.Settle(ids[1], context.Canceled)
	l.Accept(ids[2])
	l.Returned(ids[2])
	l.Accept(ids[3])
	func() {
		defer func() { _ = recover() }()
		l.Run(ids[3], nil, func() { l.Panic(ids[3]) })
	}()
	l.Accept(ids[4])
	l.Returned(ids[4])
	l.Ended("Wait", ids[0], ids[3])
	l.Quiet("Close")
	want := books.Tally{Accepted: 4, Finished: 2, HandedBack: 2, Rejected: 1, Panicked: 1}
	if got := l.Audit(); got != want {
		t.Errorf("the tally is %+v, want %+v", got, want)
	}
	if got := b.Tally(); got != want {
		t.Errorf("the book's tally is %+v, want %+v", got, want)
	}
	wantBreach(t, j, "")
}

func TestTheFirstBreachHasStacksAndManyAreCutShort(t *testing.T) {
	j := books.NewJournal()
	b := books.New("load", j)
	for range 100 {
		b.Breach("no")
	}
	found := j.Breaches()
	if len(found) == 0 || len(found) > 50 {
		t.Fatalf("%d breaches are kept", len(found))
	}
	if !strings.Contains(found[0].Stacks, "TestTheFirstBreachHasStacks") || found[1].Stacks != "" {
		t.Error("not just the first breach has the stacks")
	}
	<-j.Failed()
}

// wantBreach fails the test unless one of the breaches has a text, or, if that is "", there is none.
func wantBreach(t *testing.T, j *books.Journal, text string) {
	t.Helper()
	found := j.Breaches()
	has := slices.ContainsFunc(found, func(b books.Breach) bool { return strings.Contains(b.What, text) })
	if has == (text == "") {
		t.Errorf("no breach says %q: %v", text, found)
	}
}
