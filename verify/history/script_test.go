package history_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/64ed045f/weir"
)

// action is what a client does.
type action uint8

const (
	try        action = iota // TrySubmit
	submit                   // Submit, which waits for room
	submitDone               // SubmitContext with a context that is done
	submitSoon               // SubmitContext with a context that is soon done
	tryGo                    // Group.TryGo
	groupWait                // Group.Wait, for the group of the last tryGo
	resize
	pause
	resume
	stats
	wait
	closing
	shutdown // with a context that is done
	release  // lets the client's oldest task that blocks go on

	// What no client calls: moments in the life of a task.
	start
	finish
	handBack
	doom    // a task of a group that will not start leaves the queue
	giveUp  // and the worker that has taken it, if one has
	drained // nothing is queued any more
)

var actionNames = [...]string{"TrySubmit", "Submit", "Submit, done", "Submit, soon done", "TryGo", "Group.Wait", "Resize",
	"Pause", "Resume", "Stats", "Wait", "Close", "Shutdown", "release", "start", "finish", "hand back", "doom", "give up", "drained"}

func (a action) String() string { return actionNames[a] }

// submits reports whether a hands a task over.
func (a action) submits() bool { return a <= tryGo }

// ending is how a task ends.
type ending uint8

const (
	returns ending = iota
	panics
	exits
)

// step is one thing that a client does.
type step struct {
	action action
	n      int // the number of the task, or the limit
	yields int // before it
	spins  int // after those
}

// plan is what one task does.
type plan struct {
	gated  bool // it blocks until its client releases it
	yields int
	spins  int
	sleeps time.Duration
	ending ending
}

// script is a round: a pool, and what each client does with it. A large one has too many tasks to look for an order of
// all that happened: there only what adds up is checked.
type script struct {
	limit, queue int
	highest      int // limit
	large        bool
	prestart     int
	refusing     bool // MaxWaiting(0)
	expiring     bool // IdleTimeout(0)
	function     bool // a FuncPool
	used         bool // the pool has run tasks before, so that its queue has a ring, unless its workers have ended
	clients      [][]step
	tasks        []plan
}

func (s *script) String() string {
	kind := "Pool"
	if s.function {
		kind = "FuncPool"
	}
	return fmt.Sprintf("%s, limit %d, queue %d, prestart %d, MaxWaiting(0) %t, IdleTimeout(0) %t, used before %t",
		kind, s.limit, s.queue, s.prestart, s.refusing, s.expiring, s.used)
}

func (s *script) options() []weir.Option {
	opts := []weir.Option{weir.Queue(s.queue), weir.Prestart(s.prestart), weir.OnPanic(func(*weir.Panic) {})}
	if s.refusing {
		opts = append(opts, weir.MaxWaiting(0))
	}
	if s.expiring {
		opts = append(opts, weir.IdleTimeout(0))
	} else {
		opts = append(opts, weir.IdleTimeout(time.Hour))
	}
	return opts
}

// The weights of what clients do: mostly they submit. Those at the end end a client's part.
var weights = []struct {
	action action
	weight int
}{
	{try, 36}, {submit, 6}, {submitDone, 3}, {submitSoon, 4}, {tryGo, 8}, {groupWait, 8}, {resize, 8},
	{pause, 4}, {resume, 5}, {stats, 8}, {wait, 4}, {release, 12}, {closing, 2}, {shutdown, 2},
}

// newScript draws a round.
func newScript(r *rand.Rand) *script {
	s := &script{
		limit:    1 + r.IntN(3)*r.IntN(2),
		queue:    r.IntN(4),
		large:    r.IntN(50) == 0,
		refusing: r.IntN(4) == 0,
		expiring: r.IntN(4) == 0,
		function: r.IntN(3) == 0,
	}
	clients, steps := 2+r.IntN(3), 6
	if s.large {
		s.limit = []int{1, 1, 2, 3, 8, 64, weir.Unbounded}[r.IntN(7)]
		s.queue = []int{0, 1, 2, 16, 256, 4096, weir.Unbounded}[r.IntN(7)]
		clients, steps = []int{4, 8, 100}[r.IntN(3)], 100
	}
	s.highest = s.limit
	s.prestart = r.IntN(2) * r.IntN(min(s.limit, 8)+1)
	s.used = r.IntN(4) > 0
	total := 0
	for _, w := range weights {
		total += w.weight
	}
	s.clients = make([][]step, clients)
	for c := range s.clients {
		for range 2 + r.IntN(steps) {
			at, i := r.IntN(total), 0
			for ; at >= weights[i].weight; i++ {
				at -= weights[i].weight
			}
			s.add(r, c, weights[i].action)
		}
	}
	return s
}

// add adds a step to a client's part.
func (s *script) add(r *rand.Rand, client int, a action) {
	if s.function { // has no groups
		switch a {
		case tryGo:
			a = try
		case groupWait:
			a = release
		}
	}
	if s.large && (a == closing || a == shutdown) && r.IntN(10*len(s.clients)) > 0 {
		a = submit // else the pool would be closed before much has happened
	}
	next := step{action: a, yields: r.IntN(2) * r.IntN(5), spins: r.IntN(2) * r.IntN(300)}
	switch {
	case a == resize && s.large:
		next.n = 1 + r.IntN(16)
		s.highest = max(s.highest, next.n)
	case a == resize:
		next.n = 1 + r.IntN(3)
		s.highest = max(s.highest, next.n)
	case a.submits():
		next.n = len(s.tasks)
		task := plan{gated: r.IntN(3) == 0, yields: r.IntN(2) * r.IntN(4), spins: r.IntN(2) * r.IntN(300)}
		if s.large && r.IntN(8) == 0 {
			task.sleeps = time.Duration(r.IntN(200)) * time.Microsecond
		}
		if n := r.IntN(8); n < 2 && a != tryGo {
			task.ending = panics + ending(n)
		}
		s.tasks = append(s.tasks, task)
	}
	s.clients[client] = append(s.clients[client], next)
}
