package engine_test

import (
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/engine"
)

// A worker whose tasks take less time than to take them steps back more and more, one whose tasks take longer soon stops to.
func TestWorkersOfShortTasksStepBackFromEachOther(t *testing.T) {
	const many = 1 << 20
	var c engine.Contention
	if n := c.Patience(0, many); n != 0 {
		t.Errorf("a worker that never lost steps back for %d pauses", n)
	}
	now := time.Duration(0)
	for i := range 20 {
		c.Lost(now, now+400)
		now += 450 // so the task takes 50 ns
		want := uint64(1) << min(2*(i+1), 16)
		if n := c.Patience(now, many); n != want {
			t.Fatalf("after %d tasks shorter than to take them the worker steps back for %d pauses, want %d", i+1, n, want)
		}
	}
	if n := c.Patience(now, 10); n > 200 {
		t.Errorf("with ten tasks queued the worker steps back for %d pauses", n)
	}
	if n := c.Patience(now, 0); n != 0 {
		t.Errorf("without a task queued the worker steps back for %d pauses", n)
	}
	for i := 0; c.Patience(now, many) > 0; i++ {
		if i > 16 {
			t.Fatal("a worker that loses no more still steps back")
		}
		c.Lost(now, now+400)
		now += 400 + 201 // more than half of what it took to take the task
	}
	if c.Counts() {
		t.Error("a worker that does not step back still looks at the clock")
	}
}
