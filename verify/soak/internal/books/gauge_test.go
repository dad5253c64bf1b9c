package books_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/verify/soak/internal/books"
)

func gauge(limit int) (*books.Gauge, *books.Book, *books.Journal) {
	j := books.NewJournal()
	b := books.New("load", j)
	return books.NewGauge(b, limit), b, j
}

func enter(g *books.Gauge, n int) {
	for range n {
		g.Enter()
	}
}

func fine(t *testing.T, j *books.Journal) {
	t.Helper()
	if found := j.Breaches(); len(found) > 0 {
		t.Errorf("breaches: %v", found)
	}
}

func TestAStartAboveTheLimitIsABreach(t *testing.T) {
	g, b, j := gauge(3)
	enter(g, 3)
	g.Leave()
	enter(g, 1)
	fine(t, j)
	if tally := b.Tally(); tally.Peak != 3 || tally.PeakLimit != 3 {
		t.Errorf("the peak is %d of %d, want 3 of 3", tally.Peak, tally.PeakLimit)
	}
	enter(g, 1)
	wantBreach(t, j, "a task has started while 3 ran: the limit is 3")
}

func TestUnderALowerLimitOnlyWhatWasTakenMayStart(t *testing.T) {
	g, _, j := gauge(4)
	enter(g, 1)
	g.Lower(1)
	// Three were taken and had not started; the gauge cannot know that it was not four.
	for range 4 {
		g.Enter()
		g.Leave()
	}
	fine(t, j)
	g.Enter()
	wantBreach(t, j, "a task has started while 1 ran: the limit is 1")
}

func TestUnderALimitLoweredInStillnessNoStartIsAboveIt(t *testing.T) {
	g, _, j := gauge(4)
	enter(g, 4)
	g.LowerStill(2)
	for range 3 {
		g.Leave()
	}
	enter(g, 1)
	fine(t, j)
	enter(g, 1)
	wantBreach(t, j, "a task has started while 2 ran: the limit is 2")
}

func TestAHigherLimitHoldsAtOnce(t *testing.T) {
	g, _, j := gauge(1)
	g.Raise(3)
	enter(g, 3)
	fine(t, j)
	enter(g, 1)
	wantBreach(t, j, "the limit is 3")
}

func TestWhatGoesOnMayBeAboveALoweredLimitButNotAboveAll(t *testing.T) {
	g, _, j := gauge(3)
	enter(g, 3)
	g.Leave()
	g.LowerStill(1)
	g.Back()
	fine(t, j)
	g.Back()
	wantBreach(t, j, "the limit was never above 3")
}

func TestMoreThanTheLimitMayRunWhileThePoolHasMorePlaces(t *testing.T) {
	g, _, j := gauge(1)
	places, asked := 3, 0
	g.Ask(func() (int, any) {
		asked++
		return places, max(0, 5-asked) // it stands still after a while
	})
	enter(g, 2)
	g.Back()
	fine(t, j)
	g.Leave()
	places = 2
	g.Back()
	wantBreach(t, j, "a task goes on while 2 others run: the limit was never above 1")
}

func TestAStallIsMeasuredWhileATaskIsQueuedAndAWorkerFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, b, j := gauge(1)
		l := books.NewLedger(b, 2)
		stop := g.Stalls(l)
		id := l.New()
		l.Accept(id)
		time.Sleep(50*time.Millisecond + time.Microsecond)
		l.Run(id, g, func() { time.Sleep(time.Second) }) // no stall: the limit is in use
		time.Sleep(time.Second)                          // nor here: nothing is queued
		stop()
		fine(t, j)
		if stall := b.Tally().Stall; stall != 50*time.Millisecond {
			t.Errorf("the stall is %v, want 50ms", stall)
		}
	})
}
