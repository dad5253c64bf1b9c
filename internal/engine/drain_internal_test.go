package engine

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// counts is a runner that counts tasks.
type counts struct{ ran atomic.Int32 }

func (*counts) Begin(*Worker)             {}
func (c *counts) Run(w *Worker, _ Task)   { c.ran.Add(1); w.Vacate() }
func (*counts) Broken(*Worker, Task, any) {}

// Shutdown hands back the first task of a paused engine, and releases the lock to wait for the second one, which its submitter has not written yet.
// No worker may then take that, though a call of Resume comes.
func TestResumeDuringShutdownLetsNoTaskBegin(t *testing.T) {
	for range 300 {
		c := new(counts)
		e := New(Config{Limit: 1, Queue: 8, IdleTimeout: time.Second, MaxWaiting: 1, Runner: c})
		if !e.Pause() || e.TrySubmit(Task{}, nil) != Accepted {
			t.Fatal("the engine does not pause, or has no room")
		}
		r := e.queue.tail.Load()
		at := r.tailAt()
		if tail := r.tail.Load(); !r.tail.CompareAndSwap(tail, r.after(at)) { // as a submitter does that is about to write its task
			t.Fatal("another submitter came")
		}
		over, unrun := make(chan struct{}), make(chan int)
		close(over)
		go func() {
			tasks, _ := e.Shutdown(over)
			unrun <- len(tasks)
		}()
		for e.Glance().HandedBack == 0 {
			runtime.Gosched()
		}
		e.Resume()
		r.slots[at&r.mask].stamp.Store(at + 1)
		if e.permits.wakeable() {
			e.stir()
		}
		n := <-unrun
		e.Close()
		if ran := c.ran.Load(); n != 2 || ran != 0 {
			t.Fatalf("%d tasks are handed back, and %d have run", n, ran)
		}
	}
}
