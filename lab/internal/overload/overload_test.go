package overload_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/lab/internal/child"
	"github.com/64ed045f/weir/lab/internal/noleak"
	"github.com/64ed045f/weir/lab/internal/overload"
)

// TestMain makes the test's program play a part when it starts itself.
func TestMain(m *testing.M) {
	overload.AddContenders()
	if len(os.Args) == 4 && os.Args[1] == overload.Flag {
		os.Exit(overload.Child(os.Args[2], os.Args[3], os.Stdin, os.Stdout, os.Stderr))
	}
	check.Overlap()
	noleak.Main(m)
}

// small is a backend of 500 requests a second that is offered five times as many.
func small(contender string) overload.Setup {
	return overload.Setup{
		Contender: contender, Procs: 2,
		Slots: 10, Service: 20 * time.Millisecond, Queue: 10, MaxWait: 100 * time.Millisecond,
		Rate: 2500, Length: 300 * time.Millisecond, Patience: 100 * time.Millisecond, Conns: 250,
	}
}

func run(t *testing.T, setup overload.Setup) overload.Outcome {
	t.Helper()
	o, err := overload.Run(t.Context(), child.Itself, setup)
	check.OK(t, err)
	return o
}

func TestAServerWithALimitServesWhatItCanAndRefusesTheRest(t *testing.T) {
	t.Parallel()
	for _, name := range overload.Names() {
		if name == "go" || name == overload.Unlimited || name == overload.Dropping || name == overload.Rude {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			setup := small(name)
			o := run(t, setup)
			if o.Server.MostRunning > setup.Slots || o.Server.MostRunning == 0 {
				t.Errorf("%d requests ran at once, want at most %d", o.Server.MostRunning, setup.Slots)
			}
			l := o.Load
			if l.Other != 0 || l.Failed != 0 || o.Lost != 0 {
				t.Errorf("%d other answers, %d broken, %d lost", l.Other, l.Failed, o.Lost)
			}
			// A busy machine may take its time, but not so much that most is served.
			if share := float64(l.Served) / (setup.Capacity() * setup.Length.Seconds()); share < 0.3 || share > 1.1 {
				t.Errorf("served %d, %.2f of the capacity", l.Served, share)
			}
			if l.Refused < l.Served {
				t.Errorf("refused %d, served %d, of five times the capacity", l.Refused, l.Served)
			}
			if l.ServedLatency.Median < setup.Service || l.ServedLatency.P99 < l.ServedLatency.Median || l.ServedLatency.Max < l.ServedLatency.P99 {
				t.Errorf("latencies of %v, of a service that takes %v", l.ServedLatency, setup.Service)
			}
			if o.Server.Service < setup.Service {
				t.Errorf("the backend took %v for a request, of %v", o.Server.Service, setup.Service)
			}
			if o.Server.PeakMemory < 1<<20 || o.Server.MostGoroutines < setup.Slots || o.ServerCPU <= 0 || o.LoadCPU <= 0 {
				t.Errorf("%+v", o)
			}
			sum := 0
			for _, n := range l.Curve {
				sum += n
			}
			if sum != l.Good || len(l.Curve) != 3 {
				t.Errorf("the curve %v has not the %d that were served in time", l.Curve, l.Good)
			}
			during := 0
			for _, s := range o.Server.Samples {
				if s.At >= 0 && s.At < setup.Length {
					during++
				}
			}
			if during < 2 {
				t.Errorf("%d samples of the measured span: %v", during, o.Server.Samples)
			}
		})
	}
}

func TestAServerWithoutALimitQueuesUp(t *testing.T) {
	t.Parallel()
	setup := small("go")
	o := run(t, setup)
	if o.Server.MostRunning <= 2*setup.Slots || o.Load.Refused != 0 || o.Load.Failed != 0 || o.Lost != 0 {
		t.Errorf("%+v", o)
	}
	if o.Load.ServedLatency.Max <= setup.Patience || o.Load.Good >= o.Load.Served {
		t.Errorf("no request waited for long: %+v", o.Load)
	}
}

func TestALimitThatDoesNotHoldIsNoMeasurement(t *testing.T) {
	t.Parallel()
	_, err := overload.Run(t.Context(), child.Itself, small(overload.Unlimited))
	if err == nil || !strings.Contains(err.Error(), "under a limit of 10") {
		t.Errorf("got %v", err)
	}
}

func TestRequestsThatGetNoAnswerAreLost(t *testing.T) {
	t.Parallel()
	o := run(t, small(overload.Dropping))
	if o.Lost < o.Server.Entered/5 || o.Lost > o.Server.Entered/3 || o.Load.Failed == 0 {
		t.Errorf("%d lost of %d, %d broken; every fourth was dropped", o.Lost, o.Server.Entered, o.Load.Failed)
	}
}

func TestARefusalThatDoesNotSayUntilWhenIsAnotherAnswer(t *testing.T) {
	t.Parallel()
	o := run(t, small(overload.Rude))
	if o.Load.Other == 0 || o.Load.Refused != 0 || o.Lost != 0 {
		t.Errorf("%+v", o.Load)
	}
}

// With one connection a client is no faster than the server, and only the few requests
// that it sends would count.
func TestLatenciesCountFromTheMomentAtWhichARequestWasDue(t *testing.T) {
	t.Parallel()
	setup := small("go")
	setup.Conns, setup.Rate = 1, 500
	o := run(t, setup)
	if o.Load.ServedLatency.Median < 2*setup.Service || o.Load.Unsent == 0 {
		t.Errorf("one connection, ten times as many requests as it can have: %+v", o.Load)
	}
}

func TestAServerThatGoesAwayIsAnError(t *testing.T) {
	_, err := overload.Run(t.Context(), child.Itself, small("nobody"))
	if err == nil || !strings.Contains(err.Error(), `no contender is called "nobody"`) {
		t.Errorf("got %v", err)
	}
}

func TestACancelledRunEndsItsProcesses(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	setup := small("weir.Limit")
	setup.Length = time.Hour
	var processes []*exec.Cmd
	started := func(ctx context.Context, args ...string) *exec.Cmd {
		c := child.Itself(ctx, args...)
		processes = append(processes, c)
		if len(processes) == 2 {
			time.AfterFunc(100*time.Millisecond, cancel)
		}
		return c
	}
	if _, err := overload.Run(ctx, started, setup); err == nil || errors.Is(err, exec.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	for _, c := range processes {
		if c.ProcessState == nil {
			t.Errorf("%v still runs", c.Args[1:3])
		}
	}
}

func TestAnswersAreReadAsTheyStand(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nDate: x\r\nContent-Length: 2\r\n\r\nok"
	for _, c := range []struct {
		text        string
		status      int
		last, whole bool
		fails       bool
	}{
		{text: ok, status: 200, whole: true},
		{text: "HTTP/1.1 503 x\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status: 503, last: true, whole: true},
		{text: "HTTP/1.1 503 x\r\nContent-Length: 0\r\n\r\n", status: 0, whole: true},
		{text: ok + "HTTP", whole: true, fails: true}, // more than was asked for
		{text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", whole: true, fails: true},
		{text: "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", whole: true, fails: true},
		{text: "HTTP/1.1 xyz OK\r\nContent-Length: 0\r\n\r\n", whole: true, fails: true},
		{text: "SSH-2.0\r\n\r\n", whole: true, fails: true},
	} {
		status, last, whole, err := overload.Parse(c.text)
		if (err != nil) != c.fails || err == nil && (status != c.status || last != c.last || whole != c.whole) {
			t.Errorf("%q: %d, last %t, whole %t, %v", c.text, status, last, whole, err)
		}
	}
	for k := range len(ok) {
		if _, _, whole, err := overload.Parse(ok[:k]); whole || err != nil {
			t.Errorf("%q is whole, %v", ok[:k], err)
		}
	}
}
