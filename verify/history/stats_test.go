package history_test

import "fmt"

// counted checks every Stats of the round, each for itself, and then that what only grows
// was never seen to shrink.
func (r *round) counted() error {
	var all []*event
	for client, done := range r.done {
		atRest := client == len(r.clients)
		for _, e := range done {
			if e.action != stats {
				continue
			}
			if err := r.compare(e, atRest); err != nil {
				return fmt.Errorf("Stats at %d: %w", e.call, err)
			}
			all = append(all, e)
		}
	}
	for _, a := range all {
		for _, b := range all {
			if a.end < b.call && (a.stats.Accepted > b.stats.Accepted || a.stats.HandedBack > b.stats.HandedBack ||
				a.stats.Rejected > b.stats.Rejected || a.stats.Panicked > b.stats.Panicked) {
				return fmt.Errorf("Stats at %d shows less than at %d, which was before", b.call, a.call)
			}
		}
	}
	return nil
}

// span is what a count may be: what has certainly happened, and what may have.
type span struct{ low, high int }

func (s *span) add(certain, possible bool) {
	if certain {
		s.low++
	}
	if certain || possible {
		s.high++
	}
}

// compare compares one Stats to what the round knows. With the pool at rest all is certain.
func (r *round) compare(e *event, atRest bool) error {
	var accepted, rejected, handedBack, panicked, finished, running, queued, waiting span
	for i := range r.tasks {
		t := &r.tasks[i]
		if !t.submits() || t.submitted.call > e.end {
			continue
		}
		in := t.submitted.end < e.call
		switch t.submitted.action {
		case submit, submitSoon:
			waiting.add(false, !in)
		}
		if !t.accepted() {
			rejected.add(in, true)
			continue
		}
		accepted.add(in, true)
		back := t.back != nil && t.back.end < e.call
		handedBack.add(back, t.back != nil && !atRest)
		over := t.runs.Load() > 0 && t.over < e.call
		panicked.add(over && t.ending == panics, t.ending == panics && t.ended != 0 && t.ended < e.end)
		runs := t.started != 0 && t.started < e.call && t.ended > e.end
		moving := !over && !back && !runs && !atRest
		finished.add(over, moving)
		running.add(runs, moving)
		queued.add(atRest && !over && !back, moving)
		if moving { // and may be counted wrong in either way
			finished.low--
			running.low--
			queued.low--
		}
	}
	s := e.stats
	for _, count := range []struct {
		name string
		is   int
		want span
	}{
		{"Accepted", int(s.Accepted), accepted},
		{"Rejected", int(s.Rejected), rejected},
		{"HandedBack", int(s.HandedBack), handedBack},
		{"Panicked", int(s.Panicked), panicked},
		{"Finished", int(s.Finished), finished},
		{"Running", s.Running, running},
		{"Queued", s.Queued, queued},
		{"Waiting", s.Waiting, waiting},
	} {
		if count.is < count.want.low || count.is > count.want.high {
			return fmt.Errorf("%s is %d, must be from %d to %d", count.name, count.is, count.want.low, count.want.high)
		}
	}
	if s.Running+s.Idle > s.Workers && atRest {
		return fmt.Errorf("of %d workers %d run and %d are idle", s.Workers, s.Running, s.Idle)
	}
	if last := r.done[len(r.clients)]; e == last[len(last)-1] && s.Workers != 0 { // after Close
		return fmt.Errorf("%d workers after Close", s.Workers)
	}
	return nil
}
