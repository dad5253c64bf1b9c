package peer_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/64ed045f/weir/lab/internal/peer"
)

const patience = 20 * time.Second

// limits are those of the experiments: none at all, few, the usual, and as good as
// unlimited.
var limits = []int{1, 2, 64, 50_000}

// settings are the ways in which a peer is used, with many tasks in one of them.
func settings() (all []setting) {
	few, many := 500, 10_000
	if testing.Short() {
		few, many = 100, 2_000
	}
	for _, same := range []bool{true, false} {
		for _, limit := range limits {
			for _, producers := range []int{1, 4} {
				for _, tasks := range []int{0, 1, few} {
					all = append(all, setting{limit, producers, tasks, 3, same, patience})
				}
			}
		}
		all = append(all, setting{64, 4, many, 1, same, patience})
	}
	return all
}

// crowded are the settings in which there are more tasks than places.
func crowded() (all []setting) {
	for _, same := range []bool{true, false} {
		for _, limit := range []int{1, 2, 64} {
			for _, producers := range []int{1, 4} {
				all = append(all, setting{limit, producers, 2*limit + 30, 1, same, patience})
			}
		}
	}
	return all
}

// bounds says how many tasks must come to run at once, and how many may. Two peers
// do not hold the limit, for the reason that stands here.
func bounds(p peer.Peer, s setting) (must, may int) {
	must, may = min(s.limit, s.tasks), s.limit
	switch {
	case p.Unlimited:
		must, may = s.tasks, s.tasks
	case p.Name == peer.InPlace:
		// The submitters are its workers.
		must, may = min(s.producers, s.tasks), s.producers
	case p.Name == "gopool":
		// Its Go compares the number of workers with the limit, and then adds one, in two
		// steps: as many may do that at once as there are submitters.
		may = s.limit + s.producers - 1
	}
	return must, may
}

// together is a setting in which as many tasks as the limit come to run at once, with none to follow.
func together(p peer.Peer, s setting) setting {
	if p.Name == "conc.context" {
		// Its Go starts a worker and then offers it the task; another submitter's Go may offer its own first. The submitter
		// that started the worker then waits until one is free, whatever the limit is.
		s.producers = 1
	}
	return s
}

// forAll runs the check for each peer that has what it is about, in each setting.
func forAll(t *testing.T, all []setting, check func(p peer.Peer, s setting) error) {
	t.Helper()
	found := false
	for _, p := range peer.All() {
		t.Run(p.Name, func(t *testing.T) {
			for _, s := range all {
				err := check(p, s)
				if errors.Is(err, errLacks) {
					t.Skip(err)
				}
				if err != nil {
					t.Errorf("%v: %v", s, err)
				}
				found = true
			}
		})
	}
	if !found && !t.Failed() {
		t.Error("no peer was checked")
	}
}

// errLacks says that a library does not have what a check is about.
var errLacks = errors.New("it has none")

func TestOpenRunsEachTaskOnce(t *testing.T) {
	forAll(t, settings(), func(p peer.Peer, s setting) error {
		if p.Open == nil {
			return errLacks
		}
		return checkOnce(p.Open, s)
	})
}

func TestQueuedRunsEachTaskOnce(t *testing.T) {
	forAll(t, settings(), func(p peer.Peer, s setting) error {
		if p.Queued == nil {
			return errLacks
		}
		return checkOnce(func(limit int, work peer.Work) peer.Runner {
			return p.Queued(limit, s.tasks, work)
		}, s)
	})
}

func TestGroupRunsEachTaskOnce(t *testing.T) {
	forAll(t, settings(), func(p peer.Peer, s setting) error {
		if p.Group == nil {
			return errLacks
		}
		return checkGroupOnce(p.Group, s)
	})
}

func TestLoopVisitsEachItemOnce(t *testing.T) {
	forAll(t, settings(), func(p peer.Peer, s setting) error {
		if p.Loop == nil {
			return errLacks
		}
		return checkLoop(p.Loop, s)
	})
}

func TestOpenHoldsItsLimit(t *testing.T) {
	forAll(t, crowded(), func(p peer.Peer, s setting) error {
		if p.Open == nil {
			return errLacks
		}
		must, may := bounds(p, s)
		return checkLimit(p.Open, s, must, may)
	})
}

func TestQueuedHoldsItsLimit(t *testing.T) {
	forAll(t, crowded(), func(p peer.Peer, s setting) error {
		if p.Queued == nil {
			return errLacks
		}
		must, may := bounds(p, s)
		return checkLimit(func(limit int, work peer.Work) peer.Runner {
			return p.Queued(limit, s.tasks, work)
		}, s, must, may)
	})
}

func TestGroupHoldsItsLimit(t *testing.T) {
	forAll(t, crowded(), func(p peer.Peer, s setting) error {
		if p.Group == nil {
			return errLacks
		}
		must, may := bounds(p, s)
		return checkLimit(groupAsRunner(p.Group), s, must, may)
	})
}

func TestLoopHoldsItsLimit(t *testing.T) {
	forAll(t, ofOneProducer(crowded()), func(p peer.Peer, s setting) error {
		if p.Loop == nil {
			return errLacks
		}
		p.Unlimited = false // that is about Open and Collect
		must, may := bounds(p, s)
		return checkLimit(loopAsRunner(p.Loop), s, must, may)
	})
}

// ofOneProducer are the settings for what has no other, and whose tasks always differ.
func ofOneProducer(all []setting) []setting {
	return slices.DeleteFunc(all, func(s setting) bool { return s.producers > 1 || s.same })
}

func TestFibonacciIsRight(t *testing.T) {
	found := 0
	for _, p := range peer.All() {
		if p.Fibonacci == nil {
			continue
		}
		found++
		for _, limit := range []int{1, 2, 8} {
			if got := p.Fibonacci(limit, 15); got != 610 {
				t.Errorf("%s, limit %d: %d, want 610", p.Name, limit, got)
			}
		}
	}
	if found < 4 {
		t.Errorf("only %d peers recur", found)
	}
}

func TestQueuedNeverMakesSubmitWait(t *testing.T) {
	forAll(t, crowded(), func(p peer.Peer, s setting) error {
		if p.Queued == nil {
			return errLacks
		}
		s.tasks = 1500 // more than any queue that is made beforehand
		return checkQueued(p.Queued, s)
	})
}

func TestGroupReturnsTheFirstErrorAndCancelsTheOthers(t *testing.T) {
	forAll(t, crowded(), func(p peer.Peer, s setting) error {
		if p.Group == nil {
			return errLacks
		}
		return checkGroupError(p.Group, together(p, s))
	})
}

func TestGroupEndsWithItsParent(t *testing.T) {
	forAll(t, crowded(), func(p peer.Peer, s setting) error {
		if p.Group == nil {
			return errLacks
		}
		return checkGroupParent(p.Group, together(p, s))
	})
}

func TestNewLeavesNothing(t *testing.T) {
	var all []setting
	for _, limit := range limits {
		all = append(all, setting{limit: limit, rounds: 3, patience: patience})
	}
	forAll(t, all, func(p peer.Peer, s setting) error {
		if p.New == nil {
			return errLacks
		}
		return checkNew(p.New, s)
	})
}

// The race detector reports it if Wait does not wait for the memory of the tasks as well.
func TestWaitSeesWhatTheTasksWrote(t *testing.T) {
	forAll(t, []setting{{limit: 4, producers: 2, tasks: 500, patience: patience}}, func(p peer.Peer, s setting) error {
		if p.Open == nil {
			return errLacks
		}
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
		if p.Open == nil && p.Group == nil && p.Loop == nil && p.Fibonacci == nil &&
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
		p, err := peer.Find(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := p.Library(); got != want {
			t.Errorf("the library of %s is %q, want %q", name, got, want)
		}
	}
}

// A report names the version of each library: its module must be a requirement.
func TestModulesAreRequired(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
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
