package overload

import (
	"net"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/64ed045f/weir/lab/internal/record"
)

// A tally counts what the clients have seen. A latency begins when a request was due, so a request that waits
// at the client does not seem faster.
type tally struct {
	// In the measured span, by the time of the answer:
	served, refused []time.Duration // latencies of answers with status 200, and of those with 503 as expected
	good            int             // served within the patience
	curve           []int           // good answers in each interval
	other           int             // any other answer
	broken          int             // no answer: the connection broke, or could not be opened

	sent   int             // by the time of sending
	unsent int             // not sent: no connection was free before the patience had passed
	lag    []time.Duration // between due time and sending, of requests that found a connection

	answered int // all answers, including those after the measured span
}

// report adds the figures.
func (t *tally) report(o order, r *record.Result) {
	seconds := o.Length.Seconds()
	r.Add("ns/op", float64(o.Length)/float64(max(t.good, 1)))
	r.Add("good/s", float64(t.good)/seconds)
	r.Add("good-%", 100*float64(t.good)/seconds/o.Capacity())
	r.Add("served/s", float64(len(t.served))/seconds)
	r.Add("refused/s", float64(len(t.refused))/seconds)
	r.Add("sent/s", float64(t.sent)/seconds)
	r.Add("unsent/s", float64(t.unsent)/seconds)
	latency := func(what string, all []time.Duration) {
		if len(all) > 0 {
			slices.Sort(all)
			r.Add(what+"p50-ns", float64(all[len(all)/2]))
			r.Add(what+"p99-ns", float64(all[len(all)*99/100]))
			r.Add(what+"max-ns", float64(all[len(all)-1]))
		}
	}
	latency("", t.served)
	latency("refused-", t.refused)
	latency("lag-", t.lag)
	r.Add("other", float64(t.other))
	r.Add("broken", float64(t.broken))
	r.Add("answered", float64(t.answered))
	var good record.Curve
	for k, n := range t.curve {
		good = append(good, [2]float64{(float64(k) + 0.5) * o.Interval().Seconds(), float64(n) / o.Interval().Seconds()})
	}
	r.Notes = append(r.Notes, record.Setting{Key: "good-curve", Value: good.String()})
}

const (
	// tail is how long requests go on after the measured span, while the server shuts down.
	tail = 200 * time.Millisecond

	// soon is how long after the load is ready the measured span begins: until the server knows of it.
	soon = 50 * time.Millisecond

	// longestAnswer is how long the load waits for the last answers.
	longestAnswer = time.Minute

	// pace is the least time between two readings of the clock. Timers are no finer on an idle machine.
	pace = time.Millisecond
)

// clients send requests at a constant rate, regardless of the fate of earlier requests. A request is sent when it
// is due, on a free connection or a new one. If the maximum number of connections is in use, the request waits.
type clients struct {
	order
	address string

	mu      sync.Mutex
	idle    []*client // the last one used is used again first
	conns   int
	waiting []time.Duration // due times of waiting requests, in order
	ended   bool            // no more requests come
	tally   tally

	live sync.WaitGroup // requests sent, or about to be sent

	dials *rate.Limiter
}

// offer is the main function of the load.
func offer(o order, r *record.Result) error {
	perSecond := opened * float64(o.Rate)
	g := &clients{
		order: o, tally: tally{curve: make([]int, o.Points())},
		dials: rate.NewLimiter(rate.Limit(perSecond), max(1, int(perSecond*(10*pace).Seconds()))),
	}
	var err error
	if g.address, err = o.told(address); err != nil {
		return err
	}
	if err := g.warm(); err != nil {
		return err
	}
	g.start = time.Now().Add(soon)
	if err := o.tell(start, g.start.Format(time.RFC3339Nano)); err != nil {
		return err
	}
	time.Sleep(soon)
	for k := 0; ; {
		now := time.Since(g.start)
		for ; g.due(k) <= now && g.due(k) < g.Length+tail; k++ {
			g.send(g.due(k), now)
		}
		if now >= g.Length+tail {
			break
		}
		time.Sleep(max(g.due(k)-now, pace))
	}
	g.mu.Lock()
	g.ended = true
	g.tally.unsent += len(g.waiting) // they are never sent
	g.waiting = nil
	g.mu.Unlock()
	answered := make(chan struct{})
	go func() { g.live.Wait(); close(answered) }()
	select {
	case <-answered:
	case <-time.After(longestAnswer): // requests without an answer are lost
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tally.report(o, r)
	return nil
}

// due returns when to send the k-th request.
func (g *clients) due(k int) time.Duration {
	return time.Duration(float64(k) / float64(g.Rate) * float64(time.Second))
}

// send sends a request that is due, if there is a connection for it.
func (g *clients) send(due, now time.Duration) {
	switch c, isNew := g.connection(due, now); {
	case c == nil:
	case isNew:
		go c.open()
	default:
		c.write()
	}
}

// connection returns a connection for a request that is due, or nil if it must wait, or is not sent at all.
func (g *clients) connection(due, now time.Duration) (c *client, isNew bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch last := len(g.idle) - 1; {
	case last >= 0:
		c, g.idle = g.idle[last], g.idle[:last]
	case now-due > g.Patience: // the load was too late to send it
		g.tally.unsent++
		return nil, false
	case g.conns < g.Conns && g.dials.Allow():
		g.conns++
		c, isNew = &client{all: g}, true
	default:
		g.waiting = append(g.waiting, due)
		return nil, false
	}
	g.begins(c, due, now)
	if now < g.Length {
		g.tally.lag = append(g.tally.lag, now-due)
	}
	return c, isNew
}

// opened is the largest share of requests for which a connection is opened. A connection costs as much as several
// requests. Without a bound on the rate of new connections, so many of them would follow a short stall of the
// machine that the stall would last.
const opened = 0.1

// warm opens the first connections: for several times as many requests as a server with a limit may have.
func (g *clients) warm() error {
	for range min(g.Conns, 10*g.Slots) {
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
	g.live.Add(1)
	if now < g.Length {
		g.tally.sent++
	}
}

// answered counts an answer. again reports whether the client has another request to send; if not, kept
// reports whether it keeps the connection.
func (g *clients) answered(c *client, status int, keep bool) (again, kept bool) {
	now := time.Since(g.start)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tally.answered++
	switch latency := now - c.due; {
	case now >= g.Length: // after the measured span
	case status == 200:
		g.tally.served = append(g.tally.served, latency)
		if latency <= g.Patience {
			g.tally.good++
			g.tally.curve[min(int(now/g.Interval()), len(g.tally.curve)-1)]++
		}
	case status == 503:
		g.tally.refused = append(g.tally.refused, latency)
	default:
		g.tally.other++
	}
	c.busy = false
	g.live.Done()
	if !keep || g.ended {
		g.conns--
		return false, false
	}
	for len(g.waiting) > 0 {
		due := g.waiting[0]
		g.waiting = g.waiting[1:]
		if now-due > g.Patience {
			g.tally.unsent++
			continue
		}
		g.begins(c, due, now)
		return true, true
	}
	g.idle = append(g.idle, c)
	return false, true
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
	g.live.Done()
	if time.Since(g.start) < g.Length {
		g.tally.broken++
	}
}

// dialTimeout is how long a client tries to connect to the server.
const dialTimeout = 10 * time.Second

func (c *client) dial() (err error) {
	c.conn, err = net.DialTimeout("tcp", c.all.address, dialTimeout)
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
