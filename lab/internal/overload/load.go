package overload

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"
)

// A Tally is what the clients have seen. Latencies count from the moment at which a
// request was due, so waiting at the client does not make a request look quicker.
type Tally struct {
	// Of the measured span, by the moment of the answer:
	Good    int // served within the patience
	Served  int // status 200
	Refused int // status 503, as it should be
	Other   int // any other answer
	Failed  int // no answer: the connection broke, or there was none
	Sent    int // by the moment of sending
	Unsent  int // no connection was free before the patience had passed

	ServedLatency, RefusedLatency Latency

	// Lag is how long after they were due requests were sent that found a connection.
	Lag Latency

	// Curve has the good answers of each interval.
	Curve []int

	// Answered are all answers, also those after the measured span.
	Answered int
}

// A Latency says how long it took.
type Latency struct{ Median, P99, Max time.Duration }

func latencyOf(samples []time.Duration) Latency {
	if len(samples) == 0 {
		return Latency{}
	}
	slices.Sort(samples)
	at := func(share float64) time.Duration {
		return samples[min(len(samples)-1, int(share*float64(len(samples))))]
	}
	return Latency{at(0.5), at(0.99), samples[len(samples)-1]}
}

const (
	// tail is for how long requests come after the measured span, while the server shuts
	// down.
	tail = 200 * time.Millisecond

	// longestAnswer is for how long the load waits for the last answers.
	longestAnswer = time.Minute

	// pace is the least time between two looks at the clock. Timers are no finer on an idle
	// machine.
	pace = time.Millisecond
)

// clients send requests at a rate, whatever becomes of the earlier ones: each when it is
// due, on a connection that is free, or on a new one. Where there are as many as may be
// it waits.
type clients struct {
	order
	begin time.Time

	mu      sync.Mutex
	idle    []*client // the last one used is the first to be used again
	conns   int
	waiting []time.Duration // when they were due, in order
	pending int             // sent, or about to be
	ended   bool            // no more requests come
	done    chan struct{}   // closed when nothing is pending then

	dials  float64       // how many connections may be opened, at dialed
	dialed time.Duration // when that was so

	tally                Tally
	served, refused, lag []time.Duration
}

// offer is the load's part.
func offer(o order, stdout io.Writer) error {
	g := &clients{order: o, begin: time.Unix(0, o.Start), done: make(chan struct{})}
	g.tally.Curve = make([]int, g.Setup.Points())
	if err := g.warm(); err != nil {
		return err
	}
	time.Sleep(time.Until(g.begin))
	told := false
	for k := 0; ; {
		now := time.Since(g.begin)
		for ; g.due(k) <= now && g.due(k) < g.Setup.Length+tail; k++ {
			g.send(g.due(k), now)
		}
		if !told && now >= g.Setup.Length {
			told = true
			if _, err := fmt.Fprintln(stdout, over); err != nil {
				return err
			}
		}
		if now >= g.Setup.Length+tail {
			break
		}
		time.Sleep(max(g.due(k)-now, pace))
	}
	g.end()
	select {
	case <-g.done:
	case <-time.After(longestAnswer): // what has come to no end is lost
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tally.ServedLatency, g.tally.RefusedLatency, g.tally.Lag = latencyOf(g.served), latencyOf(g.refused), latencyOf(g.lag)
	return json.NewEncoder(stdout).Encode(g.tally)
}

// due is when the k-th request is to be sent.
func (g *clients) due(k int) time.Duration {
	return time.Duration(float64(k) / float64(g.Setup.Rate) * float64(time.Second))
}

// send sends a request that is due, if there is a connection for it.
func (g *clients) send(due, now time.Duration) {
	g.mu.Lock()
	last := len(g.idle) - 1
	switch {
	case last >= 0:
		c := g.idle[last]
		g.idle = g.idle[:last]
		g.begins(c, due, now)
		g.mu.Unlock()
		c.write()
	case now-due > g.Setup.Patience: // the load has been kept from sending it
		g.tally.Unsent++
		g.mu.Unlock()
	case g.mayDial(now):
		g.conns++
		c := &client{all: g}
		g.begins(c, due, now)
		g.mu.Unlock()
		go c.open()
	default:
		g.waiting = append(g.waiting, due)
		g.mu.Unlock()
	}
}

// mayDial says whether one more connection may be opened now. A connection costs as much
// as several requests. Without a bound to how fast new ones come, a moment in which the
// machine is away would be followed by so many that the delay lasts.
func (g *clients) mayDial(now time.Duration) bool {
	perSecond := opened * float64(g.Setup.Rate)
	saved := max(1, perSecond*(10*pace).Seconds())
	g.dials = min(saved, g.dials+perSecond*(now-g.dialed).Seconds())
	g.dialed = now
	if g.conns >= g.Setup.Conns || g.dials < 1 {
		return false
	}
	g.dials--
	return true
}

// opened is the largest share of the requests for which a connection is opened.
const opened = 0.1

// warmed is how many connections there are when the load begins: several times as many
// as requests may be with a server that has a limit.
func (g *clients) warmed() int { return min(g.Setup.Conns, 10*g.Setup.Slots) }

// warm opens those connections.
func (g *clients) warm() error {
	for range g.warmed() {
		c := &client{all: g}
		if err := c.dial(); err != nil {
			return err
		}
		g.mu.Lock()
		g.conns++
		g.idle = append(g.idle, c)
		g.mu.Unlock()
		go c.read()
	}
	return nil
}

// begins is called under mu.
func (g *clients) begins(c *client, due, now time.Duration) {
	c.busy, c.due = true, due
	g.pending++
	if now < g.Setup.Length {
		g.tally.Sent++
		g.lag = append(g.lag, now-due)
	}
}

// answered notes an answer, and says whether the client has another request to send, or
// else whether it is to keep the connection.
func (g *clients) answered(c *client, status int, keep bool) (again, kept bool) {
	now := time.Since(g.begin)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tally.Answered++
	g.count(now, now-c.due, status)
	c.busy = false
	g.pending--
	defer g.ends()
	if !keep || g.ended {
		g.conns--
		return false, false
	}
	for len(g.waiting) > 0 {
		due := g.waiting[0]
		g.waiting = g.waiting[1:]
		if now-due > g.Setup.Patience {
			g.tally.Unsent++
			continue
		}
		c.busy, c.due = true, due
		g.pending++
		if now < g.Setup.Length {
			g.tally.Sent++
		}
		return true, true
	}
	g.idle = append(g.idle, c)
	return false, true
}

// count is called under mu.
func (g *clients) count(now, latency time.Duration, status int) {
	if now >= g.Setup.Length {
		return
	}
	switch status {
	case 200:
		g.tally.Served++
		g.served = append(g.served, latency)
		if latency <= g.Setup.Patience {
			g.tally.Good++
			g.tally.Curve[min(int(now/g.Setup.Interval()), len(g.tally.Curve)-1)]++
		}
	case 503:
		g.tally.Refused++
		g.refused = append(g.refused, latency)
	default:
		g.tally.Other++
	}
}

// broken takes out a connection that the server has closed, or that never came to be.
func (g *clients) broken(c *client) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.conns--
	if !c.busy {
		g.idle = slices.DeleteFunc(g.idle, func(other *client) bool { return other == c })
		return
	}
	c.busy = false
	g.pending--
	if time.Since(g.begin) < g.Setup.Length {
		g.tally.Failed++
	}
	g.ends()
}

// end says that no more requests come. Those that wait are never sent.
func (g *clients) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
	g.tally.Unsent += len(g.waiting)
	g.waiting = nil
	g.ends()
}

// ends is called under mu, after a request has come to its end.
func (g *clients) ends() {
	if g.ended && g.pending == 0 {
		select {
		case <-g.done:
		default:
			close(g.done)
		}
	}
}

// dialTimeout is for how long a client tries to reach the server.
const dialTimeout = 10 * time.Second

func (c *client) dial() (err error) {
	c.conn, err = net.DialTimeout("tcp", c.all.Address, dialTimeout)
	return err
}

func (c *client) open() {
	if err := c.dial(); err != nil {
		c.all.broken(c)
		return
	}
	c.write()
	c.read()
}
