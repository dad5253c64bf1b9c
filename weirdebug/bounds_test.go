package weirdebug_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirdebug"
)

func TestAnswersWaitForTheirTurnAndThoseOfClientsThatHaveLeftAreNotMade(t *testing.T) {
	h := weirdebug.Handler()
	for range cap(weirdebug.Turns) {
		weirdebug.Turns <- struct{}{}
	}
	ask := func(ctx context.Context) <-chan int {
		status := make(chan int, 1)
		go func() {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
			status <- w.Code
		}()
		return status
	}
	ctx, cancel := context.WithCancel(t.Context())
	stays, left := ask(t.Context()), ask(ctx)
	cancel()
	check.Equal(t, "status of the client that has left", <-left, http.StatusServiceUnavailable)
	select {
	case <-stays:
		t.Error("an answer does not wait")
	default:
	}
	<-weirdebug.Turns
	check.Equal(t, "status of the other", <-stays, http.StatusOK)
	check.Equal(t, "status of a client that left before", <-ask(ctx), http.StatusServiceUnavailable)
	for range cap(weirdebug.Turns) - 1 {
		<-weirdebug.Turns
	}
	check.Equal(t, "answers that are made", len(weirdebug.Turns), 0)
}

// The wall's clock is set forward by an hour, of which a time that was read before knows nothing.
func TestAgesInJSONAreRightAfterTheClockWasSet(t *testing.T) {
	now := time.Now()
	before := now.Add(-time.Minute)
	*(*uint64)(unsafe.Pointer(&before)) -= 3600 << 30 // seconds of the wall's clock, where there is that of the monotonic, too
	if now.Sub(before) != time.Minute || now.Round(0).Sub(before.Round(0)) != time.Hour+time.Minute {
		t.Fatal("a time is made of something else: the line above must set its clock of the wall, and that one alone")
	}
	s, err := weirdebug.Collected("groups", []weir.GroupInfo{{ID: 1, Since: before, Running: []weir.Running{{Worker: 1, Since: before}}}})
	check.OK(t, err)
	data, err := json.Marshal(s)
	check.OK(t, err)
	var got weirdebug.Snapshot
	check.OK(t, json.Unmarshal(data, &got))
	for what, since := range map[string]time.Time{"group": got.Groups[0].Since, "task": got.Groups[0].Running[0].Since} {
		check.Equal(t, "age of the "+what, got.Time.Sub(since).Round(30*time.Second), time.Minute)
	}
}

// chain returns n groups, each of which was made in the task of the one before.
func chain(n int) []weir.GroupInfo {
	list := make([]weir.GroupInfo, n)
	for i := range list {
		list[i] = weir.GroupInfo{ID: uint64(i + 1), Tasks: 1, Running: []weir.Running{{Worker: 1, Group: uint64(i + 1)}}}
		if i > 0 {
			list[i].Parent, list[i].ParentWorker = uint64(i), 1
		}
	}
	return list
}

func TestNestedGroupsAreBounded(t *testing.T) {
	list := chain(8000)
	list[7999].Label = "leafy"
	for query, want := range map[string][2]int{"groups": {1000, 7000}, "groups&find=LEAFY": {1000, 7000}, "groups&group=7501": {1000, 7000}, "groups&find=none": {}} {
		s, err := weirdebug.Collected(query, list)
		check.OK(t, err)
		check.Equal(t, query+": groups", len(s.Groups), want[0])
		check.Equal(t, query+": groups left out", s.GroupsLeftOut, want[1])
		page, err := weirdebug.Shown(s)
		check.OK(t, err)
		check.Equal(t, query+": groups of the page", strings.Count(page, "<b><bdi>")+strings.Count(page, ">group "), want[0]+strings.Count(page, "leafy"))
		depth, most := 0, 0
		for part := range strings.SplitSeq(page, "<") {
			switch {
			case strings.HasPrefix(part, "ul"):
				depth++
			case strings.HasPrefix(part, "/ul"):
				depth--
			}
			most = max(most, depth)
		}
		if most > 210 {
			t.Errorf("%s: lists of the page are nested %d times", query, most)
		}
	}
}

// Each step of these is quick, and all of them squared would take minutes.
func TestTheGroupsAroundAGroupAreFoundAtOnce(t *testing.T) {
	const n = 200_000
	list := chain(n)
	began := time.Now()
	s, err := weirdebug.Collected(fmt.Sprintf("groups&group=%d", n/2), list)
	check.OK(t, err)
	check.Equal(t, "groups", len(s.Groups), 1000)
	check.Equal(t, "groups left out", s.GroupsLeftOut, n-1000)
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it takes %v", took)
	}
	list = chain(3)
	list[0].Parent = 3 // a circle
	s, err = weirdebug.Collected("groups&group=2", list)
	check.OK(t, err)
	check.Equal(t, "groups of a circle", len(s.Groups), 3)
}

func TestATaskIsShownWithTheGroupsThatItWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := weirdebug.Handler()
		for _, c := range []struct {
			waits int // goroutines
			want  string
		}{{1, ""}, {5, ""}, {8, " and 3 more"}} {
			p := weir.New(4, weir.Name("waiting"))
			release := heldInTask(t, p, 20, c.waits)
			time.Sleep(2 * time.Second)
			_, task, _ := strings.Cut(get(h, "?find=waiting").Body.String(), "Tasks that run now")
			_, task, _ = strings.Cut(task, "waiting</bdi>")
			task, _, _ = strings.Cut(task, "</tr>")
			check.Equal(t, fmt.Sprintf("links to %d groups", c.waits), strings.Count(task, ">group "), min(c.waits, 5))
			check.Equal(t, "rest is said", strings.Contains(task, "more"), c.want != "")
			if !strings.Contains(task, c.want) {
				t.Errorf("%q is missing in %s", c.want, task)
			}
			release()
		}
	})
}

func TestPagesSayWhatTheyLeaveOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := weirdebug.Handler()
		p := weir.New(2, weir.Name("left out"))
		release := heldInTask(t, p, 1100, 1)
		get(h, "") // from now on it is known how long tasks run
		time.Sleep(2 * time.Second)
		id := named(t, h, "left out").ID
		for query, want := range map[string][]string{
			fmt.Sprintf("?pool=%d", id):          {"101 more groups are left out", "there for 10ms or more"},
			fmt.Sprintf("?pool=%d&worker=1", id): {"101 more groups are left out"},
			"?groups":                            {" more are left out", "there for 10ms or more"},
			"":                                   {" more have run for 1s or longer, and are left out"},
		} {
			says(t, h, query, want...)
		}
		release()
	})
}

func TestAPoolThatIsShownAmongVeryManyHasAThroughput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := weirdebug.Handler()
		pools := make([]*weir.Pool, 10_001)
		for i := range pools {
			pools[i] = weir.New(1, weir.Name(fmt.Sprintf("crowd %d.", i)))
			check.OK(t, pools[i].Submit(func() {}))
		}
		synctest.Wait() // a worker lists its pool when it begins
		named(t, h, "crowd 10000.")
		time.Sleep(5 * time.Second)
		check.Equal(t, "parts", len(named(t, h, "crowd 10000.").Throughput) > 0, true)
		for _, p := range pools {
			p.Close()
		}
	})
}
