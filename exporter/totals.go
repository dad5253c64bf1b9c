package exporter

import (
	"math"
	"time"

	"github.com/64ed045f/weir"
)

// Totals are the sums over all pools of one name: see [Pools.Look].
type Totals struct {
	Name  string    // name of the pools, or "unnamed" or "other"
	Since time.Time // start of the counters and histograms: the last look without this name, or NewPools if the first look found it

	Pools     int // pools that exist
	Throttled int // pools whose next task waits for its turn: see [weir.Rate]
	Paused    int // pools whose workers take no tasks: see [weir.Pool.Pause]
	Closing   int // closed pools that still have workers

	Limit   int           // the most tasks that run at once, in a lane as well as in its pool, but not in a Keyed; math.MaxInt if the sum overflows
	Extra   int           // places in use beyond the limit: see [weir.Stats]
	Queued  int           // accepted tasks that have not started
	Waiting int           // submitters that wait for room
	Timers  int           // timers whose task is not due
	Oldest  time.Duration // the least time for which the oldest queued task of these pools has waited

	// Workers by state; each worker has one state. One that works for a lane counts only among those of the lane.
	Running   int // the worker's task runs
	Suspended int // the worker's task waits for other work
	Returning int // the worker's task waits to go on: see [weir.Blocking]
	Idle      int // the worker has no task, and is parked
	Searching int // the worker has no task, and looks for one

	// Counters, which never fall.
	Accepted   uint64 // accepted tasks
	Finished   uint64 // tasks that returned, panicked or called runtime.Goexit
	HandedBack uint64 // accepted tasks that were removed before they started
	Rejected   uint64 // tasks that were refused
	Panicked   uint64 // tasks that panicked

	// Histograms, whose buckets never fall: see [weir.Times].
	Wait Histogram // how long tasks were queued
	Run  Histogram // how long tasks ran, without the time they waited for other tasks
}

// clearGauges resets all but the counters and histograms.
func (t *Totals) clearGauges() {
	*t = Totals{
		Name: t.Name, Since: t.Since,
		Accepted: t.Accepted, Finished: t.Finished, HandedBack: t.HandedBack, Rejected: t.Rejected, Panicked: t.Panicked,
		Wait: t.Wait, Run: t.Run,
	}
}

// gauge adds the present state of a pool.
func (t *Totals) gauge(s weir.Stats, of weir.Times) {
	t.Pools++
	if s.Throttled {
		t.Throttled++
	}
	if s.Paused {
		t.Paused++
	}
	if s.Closed {
		t.Closing++
	}
	t.Limit += min(s.Limit, math.MaxInt-t.Limit)
	t.Extra += s.Extra
	t.Queued += s.Queued
	t.Waiting += s.Waiting
	t.Timers += s.Timers
	t.Oldest = max(t.Oldest, of.Oldest) // of.Oldest is negative if the pool uses the clock of another test bubble
	returning := min(s.Returning, s.Suspended)
	t.Running += s.Running
	t.Suspended += s.Suspended - returning
	t.Returning += returning
	t.Idle += s.Idle
	t.Searching += max(0, s.Workers-s.Running-s.Suspended-s.Idle-s.InLanes)
}

// grow adds what the counters and histograms of a pool have gained since their highest values, and raises the
// highest values.
func (t *Totals) grow(highest *Totals, s weir.Stats, of weir.Times) {
	grow(&t.Accepted, &highest.Accepted, s.Accepted)
	grow(&t.Finished, &highest.Finished, s.Finished)
	grow(&t.HandedBack, &highest.HandedBack, s.HandedBack)
	grow(&t.Rejected, &highest.Rejected, s.Rejected)
	grow(&t.Panicked, &highest.Panicked, s.Panicked)
	t.Wait.grow(&highest.Wait, of.Wait)
	t.Run.grow(&highest.Run, of.Run)
}

// grow adds to total what a count has gained since its highest value, and raises the highest value.
func grow[N uint64 | float64](total, highest *N, now N) {
	if now > *highest {
		*total += now - *highest
		*highest = now
	}
}

// clone returns a copy that shares nothing with t.
func (t *Totals) clone() Totals {
	c := *t
	c.Wait, c.Run = t.Wait.clone(), t.Run.clone()
	return c
}
