package peer_test

import (
	"slices"
	"testing"
	"time"

	"github.com/64ed045f/weir/lab/internal/noleak"
	"github.com/64ed045f/weir/lab/internal/peer"
)

func TestMain(m *testing.M) { noleak.Main(m) }

const patience = 20 * time.Second

// limits are those of the experiments: none at all, few, the usual, and as good as
// unlimited.
var limits = []int{1, 2, 64, 50_000}

// settings are the ways in which a peer is used, with many tasks in one of them.
func settings() (all []setting) {
	const few, many = 100, 10_000 // few are more than the usual limit
	for _, same := range []bool{true, false} {
		for _, limit := range limits {
			for _, producers := range []int{1, 4} {
				for _, tasks := range []int{0, 1, few} {
					all = append(all, setting{limit: limit, producers: producers, tasks: tasks, rounds: 3, same: same})
				}
			}
		}
		all = append(all, setting{limit: 64, producers: 4, tasks: many, rounds: 1, same: same})
	}
	return all
}

// crowded are the settings in which there are more tasks than places.
func crowded() (all []setting) {
	for _, same := range []bool{true, false} {
		for _, limit := range []int{1, 2, 64} {
			for _, producers := range []int{1, 4} {
				all = append(all, setting{limit: limit, producers: producers, tasks: 2*limit + 30, rounds: 1, same: same})
			}
		}
	}
	return all
}

// of is the setting for a peer. Two do not hold the limit, for the reason that stands here.
func (s setting) of(p peer.Peer) setting {
	s.patience = patience
	s.must, s.may, s.together = min(s.limit, s.tasks), s.limit, s.producers
	switch {
	case p.Unlimited:
		s.must, s.may = s.tasks, s.tasks
	case p.Name == peer.InPlace:
		// The submitters are its workers.
		s.must, s.may = min(s.producers, s.tasks), s.producers
	case p.Name == "gopool":
		// Its Go compares the number of workers with the limit, and then adds one, in two
		// steps: as many may do that at once as there are submitters.
		s.may = s.limit + s.producers - 1
	case p.Name == "conc.context":
		// Its Go starts a worker and then offers it the task; another submitter's Go may offer its own first. The submitter
		// that started the worker then waits until one is free, whatever the limit is.
		s.together = 1
	}
	return s
}

// A test checks what a peer promises by one of its fields.
type test struct {
	name, field string
	settings    []setting
	same        bool // the tasks are all the same
	alone       bool // there is one producer, and the tasks differ
	check       func(p peer.Peer, s setting) error
}

// fitting returns the settings that the test has.
func (c test) fitting(all []setting) []setting {
	return slices.DeleteFunc(all, func(s setting) bool { return c.same && !s.same || c.alone && (s.producers > 1 || s.same) })
}

// tests are all tests of a peer: in each form each task runs once and the limit holds, and what only one form promises.
var tests = func() []test {
	var list []test
	for _, f := range forms {
		list = append(list, test{"once", f.name, settings(), f.same, f.alone, f.checkOnce}, test{"limit", f.name, crowded(), f.same, f.alone, f.checkLimit})
	}
	var lengths, fibonacci, pools []setting
	for _, limit := range []int{1, 2, 8} {
		lengths = append(lengths, setting{limit: limit, tasks: 10}, setting{limit: limit, tasks: 20_000})
		fibonacci = append(fibonacci, setting{limit: limit})
	}
	for _, limit := range limits {
		pools = append(pools, setting{limit: limit, rounds: 3})
	}
	queues := crowded()
	for k := range queues {
		queues[k].tasks = 1500 // more than any queue that is made beforehand
	}
	return append(list,
		test{"queued", "Queued", queues, true, false, checkQueued},
		test{"error", "Group", crowded(), false, false, checkGroupError},
		test{"parent", "Group", crowded(), false, false, checkGroupParent},
		test{"failed", "Collect", crowded(), false, true, checkCollectError},
		test{"flow", "Stream", crowded(), false, true, checkFlow},
		test{"sort", "Sort", lengths, false, true, checkSort},
		test{"new", "New", pools, false, true, checkNew},
		test{"fibonacci", "Fibonacci", fibonacci, false, true, checkFibonacci},
	)
}()

func TestEachPeerDoesWhatItPromises(t *testing.T) {
	for _, c := range tests {
		found := 0
		for _, p := range peer.All() {
			if !has(p, c.field) {
				continue
			}
			found++
			t.Run(c.field+"/"+c.name+"/"+p.Name, func(t *testing.T) {
				for _, s := range c.fitting(slices.Clone(c.settings)) {
					if err := c.check(p, s.of(p)); err != nil {
						t.Errorf("%v: %v", s, err)
					}
				}
			})
		}
		if found == 0 || c.field == "Fibonacci" && found < 4 {
			t.Errorf("only %d peers have %s", found, c.field)
		}
	}
}
