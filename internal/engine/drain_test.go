package engine

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

type countRunner struct{ ran atomic.Int32 }

func (*countRunner) Begin(*Worker)                   {}
func (r *countRunner) Run(w *Worker, t Task)         { r.ran.Add(1); w.Vacate() }
func (*countRunner) Broken(w *Worker, t Task, p any) {}

func TestDrainAndResume(t *testing.T) {
	bad := 0
	for range 300 {
		r := new(countRunner)
		e := New(Config{Limit: 1, Queue: 8, IdleTimeout: time.Second, MaxWaiting: 1, Runner: r, Measure: 0})
		if !e.Pause() {
			t.Fatal()
		}
		if e.TrySubmit(Task{}, nil) != Accepted {
			t.Fatal()
		}
		// a submitter has taken the next slot, and has not written its task
		q := e.queue.tail.Load()
		pos := q.tailAt()
		if !q.tail.CompareAndSwap(q.tail.Load(), q.after(pos)) {
			t.Fatal("cas")
		}
		done := make(chan struct{})
		close(done)
		out := make(chan int)
		go func() { unrun, _ := e.Shutdown(done); out <- len(unrun) }()
		for e.Glance().HandedBack == 0 {
			runtime.Gosched()
		}
		e.Resume()
		finishSlot(q, pos)
		if e.permits.wakeable() {
			e.stir()
		}
		n := <-out
		e.Close()
		if r.ran.Load() > 0 {
			bad++
			if n != 1 {
				t.Fatal(n)
			}
		}
	}
	if bad > 0 {
		t.Errorf("in %d of 300 runs a task began behind one that was handed back", bad)
	}
}

func finishSlot(q *ring, pos uint64) { q.slots[pos&q.mask].stamp.Store(pos + 1) }
