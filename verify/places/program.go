package places

import (
	"fmt"
	"slices"
)

// Program is a set of pools, and the tasks that are handed to them from outside, in their order.
type Program struct {
	Limits []int // of the pools
	Roots  []*Task
}

// Task is work for a pool: actions, one after the other.
type Task struct {
	Pool    int
	Actions []*Action
	Items   int // if not 0, the task is a helper of a stream: it does its actions and delivers an item, this many times
	Future  int // if not 0, other tasks may get the task under this number
}

// Action is one thing that a task does.
type Action struct {
	Kind   Kind
	Number int       // of the lock, the future or the signal
	Tasks  []*Task   // what the action hands over
	Mode   Mode      // what a Group waits for
	Limit  int       // how many members of a Group are open at once; 0 is no limit
	Cancel bool      // the wait may be cancelled
	Body   []*Action // what is done with the lock, or with each item
}

// Kind says what an action does.
type Kind string

// The library sees the waits of Group, Stream, Get and Do. It does not see that Lock and Receive block.
const (
	Compute Kind = "compute"
	Lock    Kind = "lock"    // takes a lock for the time of the body
	Group   Kind = "group"   // hands members over and waits for them; those on several pools stand for goroutines that wait at once
	Stream  Kind = "stream"  // hands helpers over, does the body with each item that they deliver, and waits for their end
	Async   Kind = "async"   // hands a future over
	Get     Kind = "get"     // waits for a future
	Do      Kind = "do"      // hands a task over and waits for it; one of its own pool it runs on its own place
	Yield   Kind = "yield"   // delivers an item, with user code on the helper's stack
	Signal  Kind = "signal"  // closes a channel
	Receive Kind = "receive" // receives from it
)

// Mode says what a Group waits for before it waits for all its members.
type Mode string

// The modes of a Group.
const (
	All   Mode = ""
	First Mode = "-first" // the end of one member, with which it does the body
	Each  Mode = "-each"  // the end of each member, with which it does the body
)

// rounds returns how often the action does its body.
func (a *Action) rounds() (n int) {
	switch {
	case a.Mode == First:
		n = 1
	case a.Mode == Each:
		n = len(a.Tasks)
	case a.Kind == Stream:
		for _, helper := range a.Tasks {
			n += helper.Items
		}
	}
	return n
}

// flat returns the actions of a list and of the bodies within, but not those of the tasks handed over.
func flat(actions []*Action) (all []*Action) {
	for _, a := range actions {
		all = append(append(all, a), flat(a.Body)...)
	}
	return all
}

// Tasks returns all tasks of the program.
func (p *Program) Tasks() []*Task {
	all := slices.Clone(p.Roots)
	for i := 0; i < len(all); i++ {
		for _, a := range flat(all[i].Actions) {
			all = append(all, a.Tasks...)
		}
	}
	return all
}

// String writes the program in one line: X[…] is a task of the first pool, f1=X[…] a future,
// X*2[…] a helper that delivers two items, and ~ a wait that may be cancelled.
func (p *Program) String() string { return fmt.Sprintf("limits %v: %v", p.Limits, p.Roots) }

func (t *Task) String() string {
	name := fmt.Sprintf("%c%v", 'X'+t.Pool, t.Actions)
	if t.Items > 0 {
		name = fmt.Sprintf("%c*%d%v", 'X'+t.Pool, t.Items, t.Actions)
	}
	if t.Future > 0 {
		name = fmt.Sprintf("f%d=%s", t.Future, name)
	}
	return name
}

func (a *Action) String() string {
	text := string(a.Kind) + string(a.Mode)
	if a.Cancel {
		text += "~"
	}
	if a.Number > 0 {
		text += fmt.Sprint(" ", a.Number)
	}
	if a.Limit > 0 {
		text += fmt.Sprint(" limit ", a.Limit)
	}
	if len(a.Tasks) > 0 {
		text += fmt.Sprint(a.Tasks)
	}
	if len(a.Body) > 0 {
		text += fmt.Sprint(" body", a.Body)
	}
	return text
}
