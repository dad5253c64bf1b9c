package suite

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/64ed045f/weir/lab/internal/child"
	"github.com/64ed045f/weir/lab/internal/overload"
	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/record"
)

var httpSuite = Suite{
	Name:    "http",
	Title:   "An HTTP server that is offered five times what it can serve",
	About:   "Each request needs a place of a backend for 20 ms, of which there are 20, 40 or 100. With a limit, as many wait as run, for at most 100 ms; the rest gets a 503.",
	LeftOut: "backends of 5000 and 2000 requests a second, for 30 s (here 1000, for half a second), and all servers but two",
	Experiments: func(s Scale) []Experiment {
		return each(pick(s, []int{100, 40}, []int{20}), func(places int) Experiment { return overloads(s, places) })
	},
}

// publishedRounds is the number of rounds that a figure in the README needs, although a turn is long.
const publishedRounds = 10

// overloads offers a backend with the given number of places five times the load that it can serve.
func overloads(s Scale, places int) Experiment {
	setup := overload.Setup{
		Procs: s.Cores,
		Slots: places, Service: 20 * time.Millisecond,
		Queue: places, MaxWait: 100 * time.Millisecond,
		Length: pick(s, 30*time.Second, 500*time.Millisecond),
		// A queue of all connections must take longer than the patience. Otherwise the server without a limit
		// suffers no harm from it.
		Patience: pick(s, time.Second, 200*time.Millisecond),
		Conns:    pick(s, 100, 25) * places,
	}
	setup.Rate = 5 * int(setup.Capacity())
	turn := setup.Length + 600*time.Millisecond
	e := Experiment{
		ID:     id(s.Cores, "overload", "capacity", int(setup.Capacity()), "offered", setup.Rate, "patience", setup.Patience),
		About:  "the time for each request that is served within the patience; capacity and offered are requests a second",
		Rounds: pick(s, publishedRounds, 1), Turn: turn,
	}
	for _, name := range pick(s, overload.Names(), []string{"weir.Limit", peer.Go}) {
		setup.Contender = name
		e.Contenders = append(e.Contenders, overloaded(name, setup, turn))
	}
	if s.Full {
		setup.Contender, setup.Rate = peer.Go, int(setup.Capacity())
		e.Contenders = append(e.Contenders, overloaded(JustEnough, setup, turn))
	}
	return e
}

// JustEnough is the server without a limit, with no more load than its capacity: the most that this machine
// lets it serve. It is not a competitor.
const JustEnough = peer.Go + ".1x"

func overloaded(name string, setup overload.Setup, turn time.Duration) Contender {
	return Contender{Name: name, Observe: func(ctx context.Context, command child.Command) ([]record.Value, []record.Setting, error) {
		limited, cancel := context.WithTimeout(ctx, 2*turn+30*time.Second)
		defer cancel()
		o, err := overload.Run(limited, command, setup)
		if err != nil {
			return nil, nil, err
		}
		values, notes := overloadFigures(setup, o)
		return values, notes, nil
	}}
}

// overloadFigures returns the figures of one turn, and its curves as notes: pairs of seconds and value.
func overloadFigures(setup overload.Setup, o overload.Outcome) ([]record.Value, []record.Setting) {
	seconds := setup.Length.Seconds()
	var values []record.Value
	add := func(unit string, value float64) { values = append(values, record.Value{Unit: unit, Value: value}) }
	rate := func(unit string, n int) { add(unit, float64(n)/seconds) }
	latency := func(what string, l overload.Latency) {
		if l.Max > 0 {
			add(what+"p50-ns", float64(l.Median))
			add(what+"p99-ns", float64(l.P99))
			add(what+"max-ns", float64(l.Max))
		}
	}
	load, server := o.Load, o.Server
	add("ns/op", float64(setup.Length)/float64(max(load.Good, 1)))
	rate("good/s", load.Good)
	add("good-%", 100*float64(load.Good)/seconds/setup.Capacity())
	// A timer that fires late keeps the backend busy for longer. So what the backend has served is compared
	// with what it could have served at its actual time for each request.
	add("service-ns", float64(server.Service))
	add("busy-%", 100*float64(load.Served)/seconds*server.Service.Seconds()/float64(setup.Slots))
	rate("served/s", load.Served)
	rate("refused/s", load.Refused)
	rate("sent/s", load.Sent)
	rate("unsent/s", load.Unsent)
	latency("", load.ServedLatency)
	latency("refused-", load.RefusedLatency)
	latency("lag-", load.Lag)
	add("other", float64(load.Other))
	add("broken", float64(load.Failed))
	add("lost", float64(o.Lost))
	add("shutdown-ns", float64(server.Shutdown))
	add("server-cores", o.ServerCPU.Seconds()/seconds)
	add("load-cores", o.LoadCPU.Seconds()/seconds)
	add("peak-B", float64(server.PeakMemory))
	add("peak-goroutines", float64(server.MostGoroutines))
	add("peak-running", float64(server.MostRunning))
	if growth := growth(setup, server.Samples); growth > 0 {
		add("growth", growth)
	}

	var good, held []string
	perSecond := float64(time.Second) / float64(setup.Interval())
	for k, n := range load.Curve {
		good = append(good, fmt.Sprintf("%.3f:%.0f", (float64(k)+0.5)*setup.Interval().Seconds(), float64(n)*perSecond))
	}
	for _, s := range server.Samples {
		if s.At >= 0 && s.At < setup.Length {
			held = append(held, fmt.Sprintf("%.3f:%d", s.At.Seconds(), s.Memory))
		}
	}
	return values, []record.Setting{
		{Key: "good-curve", Value: strings.Join(good, " ")},
		{Key: "memory-curve", Value: strings.Join(held, " ")},
	}
}

// growth returns the most memory of the second half over that of the first half.
func growth(setup overload.Setup, samples []overload.Sample) float64 {
	var halves [2]uint64
	for _, s := range samples {
		if s.At >= 0 && s.At < setup.Length {
			half := 2 * s.At / setup.Length
			halves[half] = max(halves[half], s.Memory)
		}
	}
	if halves[0] == 0 {
		return 0
	}
	return float64(halves[1]) / float64(halves[0])
}
