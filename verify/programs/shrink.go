package programs

import (
	"maps"
	"slices"
	"time"
)

// shrink returns a program that is still bad, and from which nothing more can be removed; or the
// smallest that it has found in time.
func shrink(p *Program, bad func(*Program) bool, until time.Time) *Program {
	for at := 0; time.Now().Before(until); at++ {
		c, n, cut := p.clone(), 0, func() {}
		c.cuts(func(f func()) {
			if n == at {
				cut = f
			}
			n++
		})
		if at == n {
			break
		}
		cut()
		if c.sound() && bad(c) {
			p, at = c, -1
		}
	}
	return p
}

// cuts calls each with a function for everything that can be removed, the largest first.
func (p *Program) cuts(each func(cut func())) {
	cutActs(&p.Main.Acts, each)
	for i := range p.Pools {
		if p.Pools[i].Limit > 1 {
			each(func() { p.Pools[i].Limit-- })
		}
	}
	p.With.cuts(each)
	for i := range p.Control {
		each(func() { p.Control = slices.Delete(p.Control, i, i+1) })
	}
}

func cutActs(acts *[]*act, each func(func())) {
	for i, a := range *acts {
		each(func() { *acts = slices.Delete(*acts, i, i+1) })
		if len(a.Body) > 0 {
			each(func() { *acts = slices.Replace(*acts, i, i+1, a.Body...) })
		}
	}
	for _, a := range *acts {
		for i := range a.Kids {
			if len(a.Kids) > 1 {
				each(func() { a.Kids = slices.Delete(a.Kids, i, i+1) })
			}
		}
		if len(a.Kids) > 0 && a.Kind != group && a.Kind != async && a.Kind != once && a.Pool != callsPool {
			each(func() { a.Kind, a.Body = group, nil })
		}
		for _, kid := range a.Kids {
			if n := kid.With["times"]; n > 2 {
				each(func() { kid.With["times"] = 2 })
			}
			kid.With.cuts(each)
			cutActs(&kid.Acts, each)
		}
		cutActs(&a.Body, each)
		if a.Kind != shut { // without its span it waits for more
			a.With.cuts(each)
		}
	}
}

func (o options) cuts(each func(func())) {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if name != "workers" && name != "noisy" && name != "rests" { // the last two say what is in the program
			each(func() { delete(o, name) })
		}
	}
}
