package step

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// deviation is a moment at which something else than the default was chosen: a goroutine, or a number.
type deviation struct {
	moment, chosen int
	number         bool
}

// schedule describes an execution of a scene by its deviations from the default. It is written as
// 1@47.0@60.=1@75: at moment 47 goroutine 1 goes on, at moment 60 goroutine 0, and at moment 75 the number 1
// is chosen. A lone 0 is the default itself.
type schedule []deviation

func (s schedule) String() string {
	if len(s) == 0 {
		return "0"
	}
	var parts []string
	for _, d := range s {
		mark := ""
		if d.number {
			mark = "="
		}
		parts = append(parts, fmt.Sprintf("%s%d@%d", mark, d.chosen, d.moment))
	}
	return strings.Join(parts, ".")
}

var errSchedule = errors.New("not a schedule such as 1@47.0@60")

func parseSchedule(text string) (s schedule, err error) {
	if text == "0" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ".") {
		rest, number := strings.CutPrefix(part, "=")
		chosen, moment, _ := strings.Cut(rest, "@")
		d := deviation{number: number}
		if d.chosen, err = strconv.Atoi(chosen); err != nil {
			return nil, fmt.Errorf("%w: %q", errSchedule, text)
		}
		if d.moment, err = strconv.Atoi(moment); err != nil {
			return nil, fmt.Errorf("%w: %q", errSchedule, text)
		}
		s = append(s, d)
	}
	return s, nil
}

// replay follows a schedule.
type replay struct{ rest schedule }

func (*replay) begin(*execution) {}

func (*replay) resume(e *execution) { e.ask = 0 }

func (r *replay) pick(e *execution, _ kind, options []*goroutine) int {
	if len(r.rest) == 0 || r.rest[0].moment != e.moment {
		return 0
	}
	id := r.rest[0].chosen
	r.rest = r.rest[1:]
	for i, g := range options {
		if g.id == id {
			return i
		}
	}
	e.broke(fmt.Sprintf("the schedule does not fit: goroutine %d cannot go on at moment %d", id, e.moment))
	return 0
}

func (r *replay) choose(e *execution, n int) int {
	if len(r.rest) == 0 || r.rest[0].moment != e.moment {
		return 0
	}
	i := r.rest[0].chosen
	r.rest = r.rest[1:]
	if i >= n {
		e.broke(fmt.Sprintf("the schedule does not fit: there are %d choices at moment %d", n, e.moment))
		return 0
	}
	return i
}
