package programs

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	shared    = 3          // pools that all tasks use
	callsPool = shared     // the number of the Stateful
	outside   = shared + 1 // where the main task runs: on no pool
	firstOwn  = shared + 2 // workers of a group's or loop's own have this number, or a later one
	own       = -1         // the Pool of an act whose kids run on workers of its own
	lockCount = 3
	keyCount  = 2

	funcLane, contextLane = keyCount + 1, keyCount + 2 // in place of a key: a FuncPool and a FuncContext that are lanes
)

// Program says what goroutines outside do, and what the tasks do that they hand over.
type Program struct {
	Pools []bounds // the shared ones, and the Stateful
	With  options  // noisy: something is cancelled, fails, panics or exits; rests: in weir.Blocking; channel1 and so on: this lock is a channel; looks: a goroutine looks at all that runs; objects: how many the keeper has at most; lifetime: of each, in µs
	Main  *task

	Control []control `json:",omitempty"` // what another goroutine does meanwhile, one after the other
}

type bounds struct {
	Limit, Queue int
	Of           int `json:",omitempty"` // of a lane: the number of its pool, plus 1
	Rate         int `json:",omitempty"` // µs from one token to the next; 0 for none, or for that of a lane's pool

	Priority, Share, Aging int `json:",omitempty"` // of a lane; Aging in µs, 0 for none
	Expiry                 int `json:",omitempty"` // µs; 0 for none
	Keys                   int `json:",omitempty"` // how many tasks of a key run at once; 0 for 1
	Idle                   int `json:",omitempty"` // µs after which an idle worker ends; 0 for the default
	Waiting                int `json:",omitempty"` // how many submitters may wait; 0 for any number
	Tries                  int `json:",omitempty"` // how often tasks that fail are tried, of groups that do not say it; 0 for 1
}

// control is one call of Resize, Pause or Shutdown, a rest of After µs after the last one.
type control struct {
	After, Pool int
	Limit       int `json:",omitempty"` // of Resize
	Pause       int `json:",omitempty"` // µs until Resume
	Shutdown    int `json:",omitempty"` // µs until its context is done
}

// task ends as one of its options says: fails, panics, exits or cancels, its own group. Others
// are heeds: an error of an act ends it; and times: so many such tasks are handed over.
type task struct {
	With options `json:",omitempty"`
	Acts []*act

	id, pool int // set by index
}

// The kinds of acts. All except the first eleven, and later, wait for something of the library.
const (
	compute = "compute" // for span µs; if that is below 0, asleep
	rest    = "rest"    // for span µs, while any other task may have the place
	locked  = "lock"    // does its Body while it holds a lock
	fork    = "fork"    // does each act of its Body on a goroutine of its own; with rests, any other task may have the place until all are done
	block   = "block"   // does its Body

	resize = "resize" // sets the limit of the pool to N
	pause  = "pause"  // pauses the pool for span µs, and does not wait
	shut   = "close"  // shuts the pool down, for span µs; if that is 0, closes it
	quiet  = "wait"   // waits until what the pool has accepted is done
	lease  = "lease"  // computes for span µs with an object of a keeper, and with a buffer
	divide = "range"  // computes for N indices, on the pool as well
	sorted = "sort"   // sorts N numbers, on the pool as well

	group, values, all, ordered, first = "group", "values", "all", "ordered", "first" // the last four: of Results
	each, mapped, stream               = "each", "map", "stream"
	async, get, do, call, submit       = "async", "get", "do", "call", "submit"
	hedge                              = "hedge" // runs its kid as the second call, after one that fails; with after, so many µs after one that takes longer

	keyed = "keyed" // submits to the key that is its number, of which as many tasks run at once as the pool says
	once  = "once"  // calls that have the same number share a task, which the first of them in the text has
	later = "later" // hands over a timer, which is due after N µs; with runs, every N µs, until it has run so often
)

// submits reports whether a hands over a task that gets no context, and waits for room only.
func (a *act) submits() bool { return a.Kind == submit || a.Kind == keyed }

// act is one thing that a task does. Among its options are the deadline, in µs, of the context with
// which it waits; limit, ahead and break, after so many items; retry, how often a task that fails is tried; resized, the limit that the group gets after its first task; waiters, how many goroutines wait for it; again, it is used once more; try, tasks are first given by a call that does not wait for room; key, of a group; before and after, so many stages of a pipeline; and outer: in a task of Do, it waits with the context
// of the caller.
type act struct {
	Kind string
	N    int     `json:",omitempty"` // the number of the lock or future
	Pool int     `json:",omitempty"` // where the kids run
	With options `json:",omitempty"`
	Kids []*task `json:",omitempty"`
	Body []*act  `json:",omitempty"` // also of a range statement; of a loop over a sequence, done before each item
}

// options are numbers with names; a flag has 1.
type options map[string]int

func (o options) has(name string) bool { return o[name] != 0 }

// visit calls f for each act of a task, however deep it is nested.
func visit(acts []*act, f func(*act)) {
	for _, a := range acts {
		f(a)
		visit(a.Body, f)
	}
}

// index numbers the tasks, and tells each on which pool it runs.
func (p *Program) index() (tasks []*task, pools int) {
	pools = firstOwn
	var add func(t *task, pool int)
	add = func(t *task, pool int) {
		t.id, t.pool = len(tasks), pool
		tasks = append(tasks, t)
		visit(t.Acts, func(a *act) {
			at := a.Pool
			if at == own {
				at = pools
				pools++
			}
			for _, kid := range a.Kids {
				add(kid, at)
			}
		})
	}
	add(p.Main, outside)
	return tasks, pools
}

func (p *Program) clone() *Program {
	var c Program
	if err := json.Unmarshal([]byte(p.JSON()), &c); err != nil {
		panic(err)
	}
	return &c
}

// JSON is the program for a user to run it again.
func (p *Program) JSON() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// flat repeats each task as often as it is handed over.
func flat(kids []*task) (flat []*task) {
	for _, kid := range kids {
		flat = append(flat, slices.Repeat([]*task{kid}, max(kid.With["times"], 1))...)
	}
	return flat
}

func (p *Program) String() string {
	s := ""
	for i, b := range p.Pools {
		s += fmt.Sprintf("%s:%d/%d ", poolName(i), b.Limit, b.Queue)
		if b.Of > 0 {
			s += fmt.Sprintf("of %s ", poolName(b.Of-1))
		}
		s = strings.TrimSpace(s) + options{"rate": b.Rate, "priority": b.Priority, "share": b.Share, "aging": b.Aging, "expiry": b.Expiry, "keys": b.Keys, "idle": b.Idle, "waiting": b.Waiting, "tries": b.Tries}.String() + " "
	}
	for _, c := range p.Control {
		s += fmt.Sprintf("%+v ", c)
	}
	return s + "main" + p.With.String() + p.Main.String()
}

func poolName(number int) string {
	if number < 0 || number > callsPool {
		return "own"
	}
	return []string{"p", "q", "r", "calls"}[number]
}

func (t *task) String() string { return strings.TrimSpace(t.With.String() + "[" + text(t.Acts) + "]") }

func text(acts []*act) string {
	parts := make([]string, len(acts))
	for i, a := range acts {
		parts[i] = a.String()
	}
	return strings.Join(parts, "; ")
}

func (a *act) String() string {
	name := a.Kind
	if a.N > 0 {
		name += fmt.Sprint(a.N)
	}
	if len(a.Kids) > 0 || a.Kind == resize || a.Kind == pause || a.Kind == shut || a.Kind == quiet || a.Kind == divide || a.Kind == sorted {
		name += " on " + poolName(a.Pool)
	}
	parts := []string{name + a.With.String()}
	for _, kid := range a.Kids {
		parts = append(parts, kid.String())
	}
	if len(a.Body) > 0 {
		parts = append(parts, "{"+text(a.Body)+"}")
	}
	return strings.Join(parts, " ")
}

func (o options) String() string {
	var s strings.Builder
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if o.has(name) {
			fmt.Fprintf(&s, " %s=%d", name, o[name])
		}
	}
	return s.String()
}
