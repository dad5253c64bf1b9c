package peers_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/internal/gauge"
	"github.com/64ed045f/weir/verify/peers"
)

// workerpoolPausing answers Pause, which there occupies all workers until a context is done, by
// Pause and Resume.
var workerpoolPausing = []peers.Case{
	{
		Name:      "PauseWaitsForWhatRuns",
		Theirs:    []string{"workerpool.TestPause"},
		Behaviour: "Pause returns when all tasks submitted before it have run.",
		Different: "Pause stops workers from taking tasks at once, and does not wait, neither for those that run nor for those queued; Wait before it does.",
		Run: func(t *testing.T) {
			p := newWorkerpool(25)
			ran := false
			ok(t, p.Submit(func() { time.Sleep(time.Second); ran = true }))
			synctest.Wait()
			begun := time.Now()
			p.Pause()
			equal(t, "time that Pause took", time.Since(begun), 0)
			p.Wait()
			equal(t, "time until the task has run", time.Since(begun), time.Second)
			equal(t, "ran", ran, true)
			p.Close()
		},
	},
	{
		Name:      "NothingStartsWhilePaused",
		Theirs:    []string{"workerpool.TestPause"},
		Behaviour: "A task submitted to a paused pool is queued, and counted there, and starts only when the pause ends.",
		Run: func(t *testing.T) {
			p := newWorkerpool(25)
			p.Pause()
			ran := begin(func() { ok(t, waitingCalls["a group"](t.Context(), p, func() {})) })
			time.Sleep(time.Hour)
			synctest.Wait()
			equal(t, "ran while paused", over(ran), false)
			equal(t, "tasks in the queue", p.Stats().Queued, 1)
			p.Resume()
			<-ran
			p.Close()
		},
	},
	{
		Name:      "PauseWhilePaused",
		Theirs:    []string{"workerpool.TestPause"},
		Behaviour: "A second Pause waits for the end of the first, and pauses then for as long as its own context lasts.",
		Different: "A pool is paused or not: a second Pause returns at once and changes nothing, and one Resume ends both.",
		Run: func(t *testing.T) {
			p := newWorkerpool(25)
			begun := time.Now()
			p.Pause()
			p.Pause()
			equal(t, "time that both took", time.Since(begun), 0)
			ok(t, p.Submit(func() {}))
			synctest.Wait()
			equal(t, "tasks in the queue", p.Stats().Queued, 1)
			p.Resume()
			p.Wait()
			p.Close()
		},
	},
	{
		Name:      "PausesAtOnce",
		Theirs:    []string{"workerpool.TestPause"},
		Behaviour: "Pauses by several goroutines at once do not block each other for ever, and the pool goes on when they are over.",
		Run: func(t *testing.T) {
			p := newWorkerpool(25)
			var done []<-chan struct{}
			for range 4 {
				done = append(done, begin(func() {
					for range 100 {
						p.Pause()
						p.Resume()
					}
				}))
			}
			for _, done := range done {
				<-done
			}
			ok(t, p.Submit(func() {}))
			p.Wait()
			p.Close()
		},
	},
	{
		Name:      "ClosingAPausedPool",
		Theirs:    []string{"workerpool.TestPause"},
		Behaviour: "Ending a pool ends its pauses, and runs what was queued meanwhile.",
		Run: func(t *testing.T) {
			p := newWorkerpool(25)
			p.Pause()
			p.Pause()
			ran := false
			ok(t, p.Submit(func() { ran = true }))
			p.Close()
			equal(t, "ran", ran, true)
		},
	},
	{
		Name:      "PausingAClosedPool",
		Theirs:    []string{"workerpool.TestPause"},
		Behaviour: "Pause returns at once when the pool has ended.",
		Run: func(t *testing.T) {
			p := newWorkerpool(25)
			p.Close()
			begun := time.Now()
			p.Pause()
			p.Resume()
			equal(t, "time that it took", time.Since(begun), 0)
			isError(t, p.Submit(func() {}), weir.ErrClosed)
		},
	},
	{
		Name:      "APauseBlocksNoQuestion",
		Theirs:    []string{"workerpool.TestStoppedDuringPause"},
		Behaviour: "While a pool is paused, and another goroutine asks for a pause, questions about its state are answered at once.",
		Run: func(t *testing.T) {
			p := newWorkerpool(1)
			p.Pause()
			again := begin(p.Pause)
			ok(t, p.TrySubmit(func() {}))
			begun := time.Now()
			equal(t, "tasks in the queue", p.Stats().Queued, 1)
			equal(t, "time that it took", time.Since(begun), 0)
			<-again
			p.Close()
		},
	},
}

// workerpoolPacing answers the package pacer. Weir has no pacer, but a pool that can be paused.
var workerpoolPacing = []peers.Case{
	{
		Name:      "TasksAreStartedOneInAPeriod",
		Theirs:    []string{"pacer.TestPacedWorkers"},
		Behaviour: "A function can be wrapped so that its calls begin no sooner than a given time after one another, whatever pool runs them; several such paces hold side by side.",
		Different: "How many tasks run at once is what Weir limits, not how many start in a second: the submitter can wait for a ticker, which costs no worker, where a paced task occupies one while it waits.",
		Run: func(t *testing.T) {
			p := newWorkerpool(5)
			var submitters []<-chan struct{}
			for _, period := range []time.Duration{100 * time.Millisecond, 300 * time.Millisecond} {
				submitters = append(submitters, begin(func() {
					ticks := time.NewTicker(period)
					defer ticks.Stop()
					begun := time.Now()
					for i := range 10 {
						<-ticks.C
						ok(t, p.Submit(func() {
							equal(t, "time of the start", time.Since(begun), time.Duration(i+1)*period)
						}))
					}
				}))
			}
			for _, done := range submitters {
				<-done
			}
			p.Close()
		},
	},
	{
		Name:      "PausedBeforeTheFirstTask",
		Theirs:    []string{"pacer.TestPauseBeforeFirstTask"},
		Behaviour: "What is paused before its first task runs none until it is resumed.",
		Run: func(t *testing.T) {
			p := newWorkerpool(1)
			p.Pause()
			ran := begin(func() { ok(t, waitingCalls["Do"](t.Context(), p, func() {})) })
			time.Sleep(time.Hour)
			synctest.Wait()
			equal(t, "ran while paused", over(ran), false)
			p.Resume()
			<-ran
			p.Close()
		},
	},
	{
		Name:      "PausedWhileManyWait",
		Theirs:    []string{"pacer.TestPauseWithWaitingCallers"},
		Behaviour: "However many wait for their turn, Pause does not wait for them: after it none gets its turn, and after Resume all do.",
		Run: func(t *testing.T) {
			const tasks = 10
			p := newWorkerpool(1)
			var running gauge.Gauge
			ran := 0
			for range tasks {
				ok(t, p.Submit(func() {
					running.Enter()
					defer running.Leave()
					time.Sleep(50 * time.Millisecond)
					ran++
				}))
			}
			time.Sleep(75 * time.Millisecond) // into the second task
			begun := time.Now()
			p.Pause()
			equal(t, "time that Pause took", time.Since(begun), 0)
			time.Sleep(time.Hour)
			synctest.Wait()
			equal(t, "tasks that ran", ran, 2)
			p.Resume()
			p.Close()
			equal(t, "tasks that ran in the end", ran, tasks)
			equal(t, "ran at most", running.Peak.Load(), 1)
		},
	},
	{
		Name:      "ResumedWithoutAPause",
		Theirs:    []string{"pacer.TestResumeWhenNotPaused"},
		Behaviour: "Resume without Pause changes nothing and does not block, nor does one too many.",
		Run: func(t *testing.T) {
			p := newWorkerpool(1)
			p.Resume()
			ok(t, p.Submit(func() {}))
			p.Wait()
			p.Pause()
			ok(t, p.Submit(func() {}))
			synctest.Wait()
			equal(t, "tasks in the queue while paused", p.Stats().Queued, 1)
			p.Resume()
			p.Resume()
			p.Wait()
			p.Close()
		},
	},
	{
		Name:      "AskingWhetherItIsPaused",
		Theirs:    []string{"pacer.TestPacedWorkers", "pacer.TestResumeWhenNotPaused"},
		Behaviour: "A pacer tells whether there is a pause.",
		Different: "Stats has counts, not the orders that were given: the code that pauses and resumes a pool knows; that tasks are queued while no worker runs one shows it to others.",
		Run: func(t *testing.T) {
			p := newWorkerpool(1)
			p.Pause()
			ok(t, p.Submit(func() {}))
			synctest.Wait()
			stats := p.Stats()
			equal(t, "tasks in the queue", stats.Queued, 1)
			equal(t, "tasks that run", stats.Running, 0)
			p.Close()
		},
	},
}
