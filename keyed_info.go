package weir

import (
	"cmp"
	"slices"
	"time"
)

// observedKeyed is a Keyed as [Pools] yields it: one pool, with the tasks of all keys.
type observedKeyed[K comparable] Keyed[K]

// observed returns what core.shown does for the lane of which those of the keys are lanes.
func (k *Keyed[K]) observed() observed { return (*observedKeyed[K])(k) }

// observed returns what core.shown does for the lane of a key.
//
//go:norace
func (l *keyLane[K]) observed() observed { return l.of.observed() }

func (k *observedKeyed[K]) base() *core { return &k.pool.core }

func (k *observedKeyed[K]) describe() (name, kind string, made uintptr) { return k.base().describe() }

// glance adds up the counts of the keys, also of those that are not in use any more.
func (k *observedKeyed[K]) glance() Stats {
	lanes, s := k.lanes()
	all := k.base().glance()
	s.Limit = min(all.Limit, k.on.core.glance().Limit)
	s.Extra, s.Throttled, s.Paused, s.Closed = all.Extra, all.Throttled, all.Paused, all.Closed
	for _, l := range lanes {
		of := l.pool.core.glance()
		s.Throttled = s.Throttled || of.Throttled // the lane above has no tasks of its own
		s.add(of)
	}
	return s
}

// lanes returns the lanes of keys, and the counts of those that there were before.
func (k *observedKeyed[K]) lanes() (lanes []*keyLane[K], before Stats) {
	k.mu.Lock()
	defer k.mu.Unlock()
	lanes = slices.Clone(k.free)
	for _, l := range k.keys.All() {
		lanes = append(lanes, l)
	}
	return lanes, k.before
}

// add adds the counts of another pool.
func (s *Stats) add(more Stats) {
	s.Workers += more.Workers
	s.Running += more.Running
	s.Suspended += more.Suspended
	s.Returning += more.Returning
	s.Idle += more.Idle
	s.InLanes += more.InLanes
	s.Queued += more.Queued
	s.Waiting += more.Waiting
	s.Timers += more.Timers
	s.Accepted += more.Accepted
	s.Finished += more.Finished
	s.HandedBack += more.HandedBack
	s.Rejected += more.Rejected
	s.Panicked += more.Panicked
}

func (k *observedKeyed[K]) times() Times { return k.base().times() }

// longer numbers the tasks by the workers of the pool: those of each key have numbers from 1.
func (k *observedKeyed[K]) longer(d time.Duration) (list []Running) {
	lanes, _ := k.lanes()
	for _, l := range lanes {
		if !l.pool.core.engine.IsAtRest() { // a task in Blocking has no permit
			list = append(list, l.pool.core.longer(d)...)
		}
	}
	slices.SortFunc(list, func(a, b Running) int { return cmp.Or(a.Since.Compare(b.Since), a.Worker-b.Worker) })
	return list
}

func (k *observedKeyed[K]) resizePool(limit int) { k.base().resize(limit) }
func (k *observedKeyed[K]) pause()               { k.base().pause() }
func (k *observedKeyed[K]) resume()              { k.base().resume() }
