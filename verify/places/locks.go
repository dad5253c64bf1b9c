package places

import "slices"

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
