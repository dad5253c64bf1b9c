package suite

import (
	"context"
	"time"

	"github.com/64ed045f/weir/lab/internal/overload"
	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/record"
)

var httpSuite = Suite{
	Name:  "http",
	Title: "An HTTP server that is offered five times what it can serve",
	About: "Each request needs a place of a backend for 20 ms, of which there are 20, 40 or 100. With a limit, as many wait as run, for at most 100 ms; the rest gets a 503.",
	Experiments: func(s Scale) []Experiment {
		return each(pick(s, []int{100, 40}, []int{20}), func(places int) Experiment { return overloads(s, places) })
	},
}

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
		Rounds: pick(s, 10, 1), Turn: turn, // although a turn is long
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
	return Contender{Name: name, Observe: func(ctx context.Context) (record.Result, error) {
		limited, cancel := context.WithTimeout(ctx, 2*turn+30*time.Second)
		defer cancel()
		return overload.Run(limited, setup)
	}}
}
