package places_test

import (
	"math/rand/v2"
	"testing"

	"github.com/64ed045f/weir/verify/places"
)

const x, y, z = 0, 1, 2 // pools

func task(pool int, actions ...*places.Action) *places.Task {
	return &places.Task{Pool: pool, Actions: actions}
}

func future(number int, t *places.Task) *places.Task {
	t.Future = number
	return t
}

func helper(t *places.Task) *places.Task {
	t.Items = 1
	return t
}

func do(kind places.Kind, number int, body ...*places.Action) *places.Action {
	return &places.Action{Kind: kind, Number: number, Body: body}
}

func lock(number int, body ...*places.Action) *places.Action { return do(places.Lock, number, body...) }

func group(members ...*places.Task) *places.Action {
	return &places.Action{Kind: places.Group, Tasks: members}
}

func stream(helpers ...*places.Task) *places.Action {
	return &places.Action{Kind: places.Stream, Tasks: helpers}
}

func async(future *places.Task) *places.Action {
	return &places.Action{Kind: places.Async, Tasks: []*places.Task{future}}
}

func call(t *places.Task) *places.Action {
	return &places.Action{Kind: places.Do, Tasks: []*places.Task{t}}
}

func room(limit int, a *places.Action) *places.Action {
	a.Limit = limit
	return a
}

func cancellable(a *places.Action) *places.Action {
	a.Cancel = true
	return a
}

func with(mode places.Mode, a *places.Action, body ...*places.Action) *places.Action {
	a.Mode, a.Body = mode, body
	return a
}

// try waits with a deadline for a task that waits for a signal.
func try() *places.Action { return cancellable(group(task(x, do(places.Receive, 1)))) }

// hands are programs made by hand, under the names that the simulator of the design gave them.
var hands = []struct {
	name   string
	ends   bool // false for a program that the library does not promise to end
	extra  int  // the most extra places that are seen
	limits []int
	tasks  []*places.Task
}{
	{"firstbody: a wait with the first end", true, 1, []int{1, 1}, []*places.Task{
		task(x, with(places.First, group(task(y), task(y, group(task(x)))), group(task(y)))),
	}},
	{"looselock: a future takes the lock held over a group", true, 0, []int{1}, []*places.Task{
		task(x, async(future(1, task(x, lock(1)))), lock(1, group(task(x)))),
	}},
	{"needexcess: a member receives what the owner sends with the first end", true, 1, []int{1, 2}, []*places.Task{
		task(x, with(places.Each, group(task(y, group(task(x, do(places.Receive, 1)))), task(y)), do(places.Signal, 1))),
	}},
	{"orphan: a member of a cancelled group takes the lock held over the next", true, 0, []int{1}, []*places.Task{
		task(x, cancellable(group(task(x, lock(1)))), lock(1, group(task(x)))),
	}},
	{"getleft: a get is cancelled, and the future goes on", true, 1, []int{1, 1}, []*places.Task{
		task(x, async(future(1, task(y, group(task(x))))), cancellable(do(places.Get, 1))), task(x, group(task(y))),
	}},
	{"ring: a future waits for the pool of the task that gets it", true, 0, []int{1, 1}, []*places.Task{
		future(9, task(y, group(task(x)))), task(x, do(places.Get, 9)),
	}},
	{"poolring: two pools wait for each other", true, 1, []int{1, 1}, []*places.Task{task(x, group(task(y))), task(y, group(task(x)))}},
	{"i: a stream's helpers wait for the pool of its owner", true, 2, []int{1, 1, 1}, []*places.Task{task(x, stream(
		helper(task(z, async(future(1, task(x, group(task(z))))), cancellable(do(places.Get, 1)))),
		helper(task(z, stream(helper(task(x))))),
	))}},
	{"lockring: a lock in a ring of pools", true, 1, []int{1, 1, 1}, []*places.Task{
		task(x, lock(1, group(task(y)))), task(y, group(task(z))), task(z, lock(1)),
	}},
	{"wide: each member waits for the pool of the owner", true, 4, []int{1, 1}, []*places.Task{
		task(x, group(task(y, do(places.Compute, 0)))),
		task(y, group(task(x, group(task(y))), task(x, group(task(y))), task(x, group(task(y))), task(x, group(task(y))), task(x, group(task(y))))),
	}},
	{"a root does not take a place on which another root waits", true, 1, []int{2, 1}, []*places.Task{
		task(x, with(places.First, group(task(x, group(task(y, do(places.Compute, 0)))), task(x)), do(places.Compute, 0), do(places.Compute, 0))),
		task(x, group(task(y, do(places.Compute, 0)))), task(x),
	}},
	{"several: two goroutines of a task wait, each for another pool", true, 0, []int{1, 1, 1}, []*places.Task{task(x, group(task(y), task(z))), task(x)}},
	{"room: a member of a group with room for one calls Do on the owner's pool", true, 1, []int{1, 1}, []*places.Task{
		task(x, room(1, group(task(y, call(task(x))), task(y)))), task(y, group(task(x))),
	}},
	{"yieldlock: a lock held across one yield", true, 1, []int{1}, []*places.Task{
		task(x, with(places.All, stream(helper(task(x, lock(1, do(places.Yield, 0))))), lock(1))),
	}},
	{"branches: a member holds a lock over a wait, and another waits for a task that takes it", false, 0, []int{1, 2}, []*places.Task{
		task(x, group(task(y, lock(1, group(task(x)))), task(y, group(task(x, lock(1)))))),
	}},
	{"retry: members receive what the owner sends later", false, 0, []int{1}, []*places.Task{task(x, try(), try(), do(places.Signal, 1))}},
	{"cross: two holders wait for tasks that take the other's lock", false, 0, []int{2, 1, 1}, []*places.Task{
		task(x, lock(1, group(task(y)))), task(x, lock(2, group(task(z)))), task(y, lock(2)), task(z, lock(1)),
	}},
}

func TestProgramsMadeByHand(t *testing.T) {
	for _, hand := range hands {
		t.Run(hand.name, func(t *testing.T) {
			p := &places.Program{Limits: hand.limits, Roots: hand.tasks}
			choose, problem, extra := rand.New(rand.NewPCG(1, 0)).IntN, "", 0
			for i := 0; i < 1000 && problem == ""; i++ {
				seen := places.Run(p, places.Options{Cancels: choose(4)}, choose)
				problem, extra = seen.Problem, max(extra, seen.Extra)
			}
			if want := map[bool]string{false: places.Deadlock}[hand.ends]; problem != want {
				t.Errorf("%v: %q; want %q", p, problem, want)
			}
			if extra != hand.extra {
				t.Errorf("%d extra places; want %d", extra, hand.extra)
			}
			if !hand.ends {
				return
			}
			n, all := schedules(t, p, 2000)
			t.Logf("%d schedules, all: %v", n, all)
		})
	}
}
