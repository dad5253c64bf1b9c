package streams_test

import (
	"slices"
	"time"
)

// clock says when each result of a pipeline is handed over, if all orders are kept and all
// goroutines are its own. It follows from what waits for what:
//
//   - a stage asks for an item when it has got the one before, and the result that stands
//     Ahead items before it was taken;
//   - a call begins when its item has come, the calls before it have begun, the result that
//     stands Ahead before it was taken, and fewer than the limit run;
//   - a result is taken when it and those before it are ready, and the next stage or the consumer asks for it.
//
// Entries keep their number from stage to stage.
type clock struct {
	plan  *plan
	lasts [][]time.Duration // of each call, by stage and number
	known map[question]time.Duration
}

type question struct {
	what   byte
	stage  int
	number int
}

// timed reports whether a clock is right about p.
func (p *plan) timed() bool {
	free := slices.ContainsFunc(p.stages, func(s stage) bool { return s.unordered || s.pooled || s.batch > 0 })
	return !free && p.source.kind != channel && !p.has(panics)
}

func newClock(p *plan) *clock {
	c := &clock{plan: p, known: map[question]time.Duration{}}
	n := len(p.source.delays) + 1 // one for a source that exits
	failed := make([]bool, n)
	for i := range p.source.delays {
		failed[i] = p.source.fails[i]
	}
	failed[n-1] = true
	for _, s := range p.stages {
		lasts := make([]time.Duration, n)
		for i := range lasts {
			if !failed[i] {
				lasts[i] = s.calls[i].lasts
				failed[i] = s.calls[i].ends != well
			}
		}
		c.lasts = append(c.lasts, lasts)
	}
	return c
}

func (c *clock) ask(what byte, stage, number int, find func() time.Duration) time.Duration {
	if number < 0 {
		return 0
	}
	q := question{what, stage, number}
	if at, ok := c.known[q]; ok {
		return at
	}
	at := find()
	c.known[q] = at
	return at
}

// asked is when the stage asks for an item.
func (c *clock) asked(stage, number int) time.Duration {
	return c.ask('a', stage, number, func() time.Duration {
		return max(c.came(stage, number-1), c.taken(stage, number-c.plan.stages[stage].aheadOf()))
	})
}

// came is when the item comes.
func (c *clock) came(stage, number int) time.Duration {
	return c.ask('c', stage, number, func() time.Duration {
		switch {
		case stage > 0:
			return c.taken(stage-1, number)
		case c.plan.source.kind == slice:
			return 0
		case number == len(c.plan.source.delays):
			return c.asked(stage, number)
		default:
			return c.asked(stage, number) + c.plan.source.delays[number]
		}
	})
}

func (c *clock) begins(stage, number int) time.Duration {
	return c.ask('b', stage, number, func() time.Duration {
		s := &c.plan.stages[stage]
		at := max(c.came(stage, number), c.begins(stage, number-1), c.taken(stage, number-s.aheadOf()))
		if number >= s.limit {
			ends := make([]time.Duration, number)
			for i := range ends {
				ends[i] = c.ends(stage, i)
			}
			slices.Sort(ends)
			at = max(at, ends[number-s.limit])
		}
		return at
	})
}

func (c *clock) ends(stage, number int) time.Duration {
	if number < 0 {
		return 0
	}
	return c.begins(stage, number) + c.lasts[stage][number]
}

func (c *clock) ready(stage, number int) time.Duration {
	return c.ask('r', stage, number, func() time.Duration {
		return max(c.ready(stage, number-1), c.ends(stage, number))
	})
}

func (c *clock) taken(stage, number int) time.Duration {
	return c.ask('t', stage, number, func() time.Duration {
		at := c.ready(stage, number)
		if stage < len(c.plan.stages)-1 {
			return max(at, c.asked(stage+1, number))
		}
		if number == 0 {
			return at
		}
		return max(at, c.taken(stage, number-1)+c.plan.consumer.lasts[min(number, len(c.plan.consumer.lasts)-1)])
	})
}
