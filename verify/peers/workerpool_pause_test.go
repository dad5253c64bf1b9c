package peers_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/verify/peers"
)

// workerpoolPausing are those about Pause, which there occupies all workers until a context is done, and about
// the package pacer.
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
			var pausing sync.WaitGroup
			for range 4 {
				pausing.Go(func() {
					for range 100 {
						p.Pause()
						p.Resume()
					}
				})
			}
			pausing.Wait()
			ok(t, p.Submit(func() {}))
			p.Wait()
			p.Close()
		},
	},
	{
		Name:      "TasksAreStartedOneInAPeriod",
		Theirs:    []string{"pacer.TestPacedWorkers"},
		Behaviour: "A function can be wrapped so that its calls begin no sooner than a given time after one another, whatever pool runs them; several such paces hold side by side.",
		Different: "How many tasks run at once is what Weir limits, not how many start in a second: the submitter can wait for a ticker, which costs no worker, where a paced task occupies one while it waits.",
		Run: func(t *testing.T) {
			p := newWorkerpool(5)
			var submitters sync.WaitGroup
			for _, period := range []time.Duration{100 * time.Millisecond, 300 * time.Millisecond} {
				submitters.Go(func() {
					ticks := time.NewTicker(period)
					defer ticks.Stop()
					begun := time.Now()
					for i := range 10 {
						<-ticks.C
						ok(t, p.Submit(func() {
							equal(t, "time of the start", time.Since(begun), time.Duration(i+1)*period)
						}))
					}
				})
			}
			submitters.Wait()
			p.Close()
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
