package peer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
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

// forAll runs the check for each peer that has the field, in each setting. It returns how many have it.
func forAll(t *testing.T, field string, all []setting, check func(p peer.Peer, s setting) error) (found int) {
	t.Helper()
	for _, p := range peer.All() {
		if !has(p, field) {
			continue
		}
		found++
		t.Run(field+"/"+p.Name, func(t *testing.T) {
			for _, s := range all {
				if err := check(p, s.of(p)); err != nil {
					t.Errorf("%v: %v", s, err)
				}
			}
		})
	}
	if found == 0 {
		t.Errorf("no peer was checked: %s", field)
	}
	return found
}

func TestEachTaskRunsOnceInEachForm(t *testing.T) {
	for _, f := range forms {
		forAll(t, f.name, f.in(settings()), f.checkOnce)
	}
}

func TestEachFormHoldsItsLimit(t *testing.T) {
	for _, f := range forms {
		forAll(t, f.name, f.in(crowded()), f.checkLimit)
	}
}

// in are the settings that the form has.
func (f form) in(all []setting) []setting {
	return slices.DeleteFunc(all, func(s setting) bool { return f.alone && (s.producers > 1 || s.same) })
}

func TestQueuedNeverMakesSubmitWait(t *testing.T) {
	forAll(t, "Queued", crowded(), func(p peer.Peer, s setting) error {
		s.tasks = 1500 // more than any queue that is made beforehand
		return checkQueued(p.Queued, s)
	})
}

func TestGroupsEndByTheFirstErrorAndWithTheirParent(t *testing.T) {
	forAll(t, "Group", crowded(), func(p peer.Peer, s setting) error { return checkGroupError(p.Group, s) })
	forAll(t, "Group", crowded(), func(p peer.Peer, s setting) error { return checkGroupParent(p.Group, s) })
}

func TestCollectReturnsTheErrorOfATask(t *testing.T) {
	forAll(t, "Collect", crowded(), func(p peer.Peer, s setting) error { return checkCollectError(p.Collect, s) })
}

func TestStreamDoesNotWaitForItsEnd(t *testing.T) {
	forAll(t, "Stream", crowded(), func(p peer.Peer, s setting) error { return checkFlow(p.Stream, s) })
}

func TestSortSorts(t *testing.T) {
	var all []setting
	for _, limit := range []int{1, 2, 8} {
		all = append(all, setting{limit: limit, tasks: 10}, setting{limit: limit, tasks: 20_000})
	}
	forAll(t, "Sort", all, func(p peer.Peer, s setting) error { return checkSort(p.Sort, s) })
}

func TestFibonacciIsRight(t *testing.T) {
	all := []setting{{limit: 1}, {limit: 2}, {limit: 8}}
	found := forAll(t, "Fibonacci", all, func(p peer.Peer, s setting) error {
		if got := p.Fibonacci(s.limit, 15); got != 610 {
			return fmt.Errorf("%d, want 610", got)
		}
		return nil
	})
	if found < 4 {
		t.Errorf("only %d peers recur", found)
	}
}

func TestNewLeavesNothing(t *testing.T) {
	var all []setting
	for _, limit := range limits {
		all = append(all, setting{limit: limit, rounds: 3})
	}
	forAll(t, "New", all, func(p peer.Peer, s setting) error { return checkNew(p.New, s) })
}

// The race detector reports it if Wait does not wait for the memory of the tasks as well.
func TestWaitSeesWhatTheTasksWrote(t *testing.T) {
	forAll(t, "Open", []setting{{limit: 4, producers: 2, tasks: 500}}, func(p peer.Peer, s setting) error {
		wrote := make([]int, s.tasks)
		r := p.Open(s.limit, s.work(func(i int) { wrote[i]++ }))
		err := s.await("two rounds", func() {
			for range 2 {
				s.submit(r, 0, s.tasks)
				r.Wait()
			}
			r.Close()
		})
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(wrote, func(n int) bool { return n != 2 }); i >= 0 {
			return fmt.Errorf("task %d wrote %d times, want 2", i, wrote[i])
		}
		return nil
	})
}

func TestFindKnowsEveryPeer(t *testing.T) {
	seen := make(map[string]bool)
	for _, p := range peer.All() {
		if seen[p.Name] {
			t.Errorf("two peers are called %q", p.Name)
		}
		seen[p.Name] = true
		if got, err := peer.Find(p.Name); err != nil || got.About != p.About {
			t.Errorf("Find(%q) = %q, %v, want %q", p.Name, got.About, err, p.About)
		}
		if p.About == "" {
			t.Errorf("%s says nothing about itself", p.Name)
		}
		if p.Open == nil && p.Set == nil && p.Group == nil && p.Loop == nil && p.Fibonacci == nil &&
			p.Collect == nil && p.Stream == nil && p.Sort == nil {
			t.Errorf("%s runs nothing", p.Name)
		}
	}
	if p, err := peer.Find("nobody"); err == nil {
		t.Errorf("Find found %q for a name that is none", p.Name)
	}
}

func TestLibraryIsTheFirstPartOfTheName(t *testing.T) {
	for name, want := range map[string]string{"ants.func": "ants", "conc": "conc", "weir.FuncPool": "weir"} {
		check.Equal(t, "library of "+name, peer.LibraryOf(name), want)
	}
}

// A report names the version of each library: its module must be a requirement.
func TestModulesAreRequired(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	check.OK(t, err)
	required := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		for field := range strings.FieldsSeq(line) {
			required[field] = true
		}
	}
	for _, p := range peer.All() {
		if p.Module != "" && !required[p.Module] {
			t.Errorf("%s is of the module %q, which go.mod does not require", p.Name, p.Module)
		}
	}
}
