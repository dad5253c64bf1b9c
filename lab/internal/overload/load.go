package overload

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A Tally counts what the clients have seen. A latency begins when a request was due, so a request that waits
// at the client does not seem faster.
type Tally struct {
	// In the measured span, by the time of the answer:
	Good    int // served within the patience
	Served  int // status 200
	Refused int // status 503, as expected
	Other   int // any other answer
	Failed  int // no answer: the connection broke, or could not be opened
	Sent    int // by the time of sending
	Unsent  int // not sent: no connection was free before the patience had passed

	ServedLatency, RefusedLatency Latency

	// Lag is the delay between due time and sending, for requests that found a connection.
	Lag Latency

	// Curve has the number of good answers in each interval.
	Curve []int

	// Answered counts all answers, including those after the measured span.
	Answered int
}

// A Latency is the distribution of some latencies.
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
	// tail is how long requests go on after the measured span, while the server shuts down.
	tail = 200 * time.Millisecond

	// longestAnswer is how long the load waits for the last answers.
	longestAnswer = time.Minute

	// pace is the least time between two readings of the clock. Timers are no finer on an idle machine.
	pace = time.Millisecond
)

// clients send requests at a constant rate, regardless of the fate of earlier requests. A request is sent when it
// is due, on a free connection or a new one. If the maximum number of connections is in use, the request waits.
type clients struct {
	order
	begin time.Time

	mu      sync.Mutex
	idle    []*client // the last one used is used again first
	conns   int
	waiting []time.Duration // due times of waiting requests, in order
	pending int             // requests sent, or about to be sent
	ended   bool            // no more requests come
	done    chan struct{}   // closed when ended and nothing is pending

	dials *rate.Limiter

	tally                Tally
	served, refused, lag []time.Duration
}

// offer is the main function of the load.
func offer(o order, stdout io.Writer) error {
	perSecond := opened * float64(o.Setup.Rate)
	g := &clients{
		order: o, begin: time.Unix(0, o.Start), done: make(chan struct{}),
		dials: rate.NewLimiter(rate.Limit(perSecond), max(1, int(perSecond*(10*pace).Seconds()))),
	}
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
	case <-time.After(longestAnswer): // requests without an answer are lost
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tally.ServedLatency, g.tally.RefusedLatency, g.tally.Lag = latencyOf(g.served), latencyOf(g.refused), latencyOf(g.lag)
	return json.NewEncoder(stdout).Encode(g.tally)
}

// due returns when to send the k-th request.
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
	case now-due > g.Setup.Patience: // the load was too late to send it
		g.tally.Unsent++
		g.mu.Unlock()
	case g.mayDial():
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

// mayDial reports whether one more connection may be opened now. A connection costs as much as several
// requests. Without a bound on the rate of new connections, so many of them would follow a short stall of the
// machine that the stall would last.
func (g *clients) mayDial() bool { return g.conns < g.Setup.Conns && g.dials.Allow() }

// opened is the largest share of requests for which a connection is opened.
const opened = 0.1

// warmed returns how many connections are open when the load begins: several times as many requests as a
// server with a limit may have.
func (g *clients) warmed() int { return min(g.Setup.Conns, 10*g.Setup.Slots) }

// warm opens the first connections.
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

// begins notes that a request is sent. The caller holds mu.
func (g *clients) begins(c *client, due, now time.Duration) {
	c.busy, c.due = true, due
	g.pending++
	if now < g.Setup.Length {
		g.tally.Sent++
		g.lag = append(g.lag, now-due)
	}
}

// answered counts an answer. again reports whether the client has another request to send; if not, kept
// reports whether it keeps the connection.
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

// count counts an answer. The caller holds mu.
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

// broken removes a connection that the server has closed, or that could not be opened.
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

// end notes that no more requests come. Waiting requests are never sent.
func (g *clients) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
	g.tally.Unsent += len(g.waiting)
	g.waiting = nil
	g.ends()
}

// ends closes done after the last request has ended. The caller holds mu.
func (g *clients) ends() {
	if g.ended && g.pending == 0 {
		select {
		case <-g.done:
		default:
			close(g.done)
		}
	}
}

// dialTimeout is how long a client tries to connect to the server.
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
