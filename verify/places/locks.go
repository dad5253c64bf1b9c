package places

import "slices"

// RestrictLocks removes locks from the program until they are as the package documentation wants them.
// Of two that conflict, choose says which goes.
func (p *Program) RestrictLocks(choose func(n int) int) {
	for held, other := p.Conflict(); held != nil; held, other = p.Conflict() {
		if choose(3) == 2 {
			other = held
		}
		for _, t := range p.Tasks() {
			t.Actions = without(t.Actions, other)
		}
	}
}

// without returns the actions with a lock replaced by its body.
func without(actions []*Action, lock *Action) (kept []*Action) {
	for _, a := range actions {
		a.Body = without(a.Body, lock)
		if a == lock {
			kept = append(kept, a.Body...)
		} else {
			kept = append(kept, a)
		}
	}
	return kept
}

// Conflict returns two locks of which the second may not be taken while the first is held, or nil.
func (p *Program) Conflict() (held, other *Action) {
	all := p.Tasks()
	for _, t := range all {
		for _, held := range locks(t.Actions) {
			inside := locks(held.Body)
			for _, a := range flat(held.Body) {
				if a.Kind == Async {
					continue
				}
				work := below(handedOver(a, all), all, false)
				if slices.ContainsFunc(work, func(u *Task) bool { return u.Pool != t.Pool }) {
					work = below(work, all, true)
				}
				for _, u := range work {
					inside = append(inside, locks(u.Actions)...)
				}
			}
			for _, other := range inside {
				if other.Number <= held.Number {
					return held, other
				}
			}
		}
	}
	return nil, nil
}

// locks returns the locks among the actions.
func locks(actions []*Action) []*Action {
	return slices.DeleteFunc(flat(actions), func(a *Action) bool { return a.Kind != Lock })
}

// handedOver returns what an action hands over or gets.
func handedOver(a *Action, all []*Task) []*Task {
	if a.Kind == Get {
		return slices.DeleteFunc(slices.Clone(all), func(t *Task) bool { return t.Future != a.Number })
	}
	return a.Tasks
}

// below returns tasks with all that they hand over or get, and so on; with pools also all else on their pools.
func below(tasks, all []*Task, pools bool) []*Task {
	tasks = slices.Clone(tasks)
	add := func(u *Task) {
		if !slices.Contains(tasks, u) {
			tasks = append(tasks, u)
		}
	}
	for i := 0; i < len(tasks); i++ {
		for _, a := range flat(tasks[i].Actions) {
			for _, u := range handedOver(a, all) {
				add(u)
			}
		}
		for _, u := range all {
			if pools && u.Pool == tasks[i].Pool {
				add(u)
			}
		}
	}
	return tasks
}
