package step

import (
	"runtime"
	"slices"
)

// next picks the goroutine that goes on when g cannot. It fails the execution if none can.
func (e *execution) next(g *goroutine) *goroutine {
	e.able(g)
	if len(e.options) == 0 {
		e.failf("%s", e.deadlock())
	}
	return e.pick(free)
}

// others appends the goroutines that can go on, except g. The one after g comes first.
func (e *execution) others(options []*goroutine, g *goroutine) []*goroutine {
	n := len(e.all)
	for i := g.id + 1; i < n; i++ {
		if e.enabled(e.all[i]) {
			options = append(options, e.all[i])
		}
	}
	for _, other := range e.all[:g.id] {
		if e.enabled(other) {
			options = append(options, other)
		}
	}
	return options
}

// passing appends the timer that fires next, if time may pass.
func (e *execution) passing(options []*goroutine) []*goroutine {
	if e.clock == AtAnyTime || e.clock == WhenQuiet && len(options) == 0 {
		if timer := e.earliest(); timer != nil {
			options = append(options, timer)
		}
	}
	return options
}

func (e *execution) enabled(g *goroutine) bool {
	switch g.state {
	case fresh, ready:
		return true
	case blocked:
		return g.until.canGoOn()
	default:
		return false
	}
}

// able collects the goroutines that can go on. g is not one of them. If there are none, it collects the
// goroutines of Settle, which wait for that.
func (e *execution) able(g *goroutine) {
	e.options = e.others(e.options[:0], g)
	if len(e.options) == 0 {
		for _, other := range e.all {
			if other.state == last {
				e.options = append(e.options, other)
			}
		}
	}
	e.options = e.passing(e.options)
}

// pick has the chooser choose among e.options, the first of which is the default.
func (e *execution) pick(k kind) *goroutine {
	if e.hushed {
		return e.options[0]
	}
	i := e.chooser.pick(e, k, e.options)
	g := e.options[i]
	if i > 0 {
		e.deviations = append(e.deviations, deviation{e.moment, g.id, false})
	}
	return g
}

// choose has the chooser choose a number below n.
func (e *execution) choose(n int) int {
	e.moment++
	e.check()
	if e.hushed {
		return 0
	}
	i := e.chooser.choose(e, n)
	if i > 0 {
		e.deviations = append(e.deviations, deviation{e.moment, i, true})
	}
	return i
}

// letGoOn lets next go on, and returns when g is let go on again.
func (e *execution) letGoOn(g, next *goroutine) {
	if g == next {
		g.state = ready // it may have waited until no other goroutine can go on
		return
	}
	g.stays = 0
	g.ran = e.moment
	e.start(next)
	<-g.wake
	if e.ending {
		runtime.Goexit()
	}
}

// fair drops goroutines that have yielded and have not yet let all others run. Otherwise two loops that wait
// for a third goroutine could wait for each other forever. It never drops all: of those that have yielded,
// each has run since the first did.
func (e *execution) fair(options []*goroutine) []*goroutine {
	kept := options[:0]
	for _, g := range options {
		waiting := func(other *goroutine) bool { return other != g && other.ran < g.yielded && e.enabled(other) }
		if g.yielded == 0 || !slices.ContainsFunc(e.all, waiting) {
			kept = append(kept, g)
		}
	}
	return kept
}
