package peer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
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

// ofOneProducer are the settings for what has no other, and whose tasks always differ.
func ofOneProducer(all []setting) []setting {
	return slices.DeleteFunc(all, func(s setting) bool { return s.producers > 1 || s.same })
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

// limited is the setting for what holds the limit also where [peer.Peer.Unlimited] says that Open
// does not.
func (s setting) limited() setting {
	s.must, s.may = min(s.must, s.limit), min(s.may, s.limit)
	return s
}

// forAll runs the check for each peer that has the form, in each setting. It returns how many have it.
func forAll[F any](t *testing.T, name string, all []setting, form func(p peer.Peer) F, check func(form F, s setting) error) (found int) {
	t.Helper()
	for _, p := range peer.All() {
		if reflect.ValueOf(form(p)).IsNil() {
			continue
		}
		found++
		t.Run(name+"/"+p.Name, func(t *testing.T) {
			for _, s := range all {
				if err := check(form(p), s.of(p)); err != nil {
					t.Errorf("%v: %v", s, err)
				}
			}
		})
	}
	if found == 0 {
		t.Errorf("no peer was checked: %s", name)
	}
	return found
}

// The forms that a peer may have.
func openOf(p peer.Peer) opener        { return p.Open }
func queuedOf(p peer.Peer) queueOpener { return p.Queued }
func groupOf(p peer.Peer) groupOpener  { return p.Group }
func loopOf(p peer.Peer) looper        { return p.Loop }
func collectOf(p peer.Peer) collector  { return p.Collect }
func streamOf(p peer.Peer) streamer    { return p.Stream }

func TestEachTaskRunsOnceAndTheOrderIsKept(t *testing.T) {
	forAll(t, "Open", settings(), openOf, checkOnce)
	forAll(t, "Queued", settings(), queuedOf, func(open queueOpener, s setting) error { return checkOnce(open.asOpener(s), s) })
	forAll(t, "Group", settings(), groupOf, checkGroupOnce)
	forAll(t, "Loop", ofOneProducer(settings()), loopOf, checkLoop)
	forAll(t, "Collect", ofOneProducer(settings()), collectOf, checkCollect)
	forAll(t, "Stream", ofOneProducer(settings()), streamOf, checkStream)
}

func TestLimitsHold(t *testing.T) {
	forAll(t, "Open", crowded(), openOf, checkLimit)
	forAll(t, "Queued", crowded(), queuedOf, func(open queueOpener, s setting) error { return checkLimit(open.asOpener(s), s) })
	forAll(t, "Group", crowded(), groupOf, func(open groupOpener, s setting) error { return checkLimit(groupAsRunner(open), s) })

	one := ofOneProducer(crowded())
	forAll(t, "Loop", one, loopOf, func(run looper, s setting) error { return checkLimit(loopAsRunner(run), s.limited()) })
	forAll(t, "Collect", one, collectOf, func(collect collector, s setting) error { return checkLimit(collectAsRunner(collect), s) })
	forAll(t, "Stream", one, streamOf, func(stream streamer, s setting) error { return checkLimit(streamAsRunner(stream), s.limited()) })
}

func TestQueuedNeverMakesSubmitWait(t *testing.T) {
	forAll(t, "Queued", crowded(), queuedOf, func(open queueOpener, s setting) error {
		s.tasks = 1500 // more than any queue that is made beforehand
		return checkQueued(open, s)
	})
}

func TestGroupsEndByTheFirstErrorAndWithTheirParent(t *testing.T) {
	forAll(t, "error", crowded(), groupOf, checkGroupError)
	forAll(t, "parent", crowded(), groupOf, checkGroupParent)
}

func TestStreamDoesNotWaitForItsEnd(t *testing.T) {
	forAll(t, "Stream", ofOneProducer(crowded()), streamOf, checkFlow)
}

func TestSortSorts(t *testing.T) {
	var all []setting
	for _, limit := range []int{1, 2, 8} {
		all = append(all, setting{limit: limit, tasks: 10}, setting{limit: limit, tasks: 100_000})
	}
	forAll(t, "Sort", all, func(p peer.Peer) sorter { return p.Sort }, checkSort)
}

func TestFibonacciIsRight(t *testing.T) {
	all := []setting{{limit: 1}, {limit: 2}, {limit: 8}}
	type finder func(limit, n int) int
	found := forAll(t, "Fibonacci", all, func(p peer.Peer) finder { return p.Fibonacci }, func(find finder, s setting) error {
		if got := find(s.limit, 15); got != 610 {
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
	forAll(t, "New", all, func(p peer.Peer) func(int) func() { return p.New }, checkNew)
}

// The race detector reports it if Wait does not wait for the memory of the tasks as well.
func TestWaitSeesWhatTheTasksWrote(t *testing.T) {
	forAll(t, "Open", []setting{{limit: 4, producers: 2, tasks: 500}}, openOf, func(open opener, s setting) error {
		wrote := make([]int, s.tasks)
		r := open(s.limit, s.work(func(i int) { wrote[i]++ }))
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
