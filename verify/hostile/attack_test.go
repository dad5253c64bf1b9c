package hostile_test

import (
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"testing"

	"github.com/64ed045f/weir/internal/check"
)

// attack sends wire to a site in the way that flow says, one step after the other, over as many
// connections as it takes. Visitors send requests to the same site. In the end all must be as
// it was before.
func attack(tb testing.TB, set setting, flow, wire []byte) {
	s := newSite(tb, set, loopback(tb))
	a := &attacker{site: s, wire: wire}
	v := s.visitor()
	url := "http://" + s.listener.Addr().String()

	var visits sync.WaitGroup
	visits.Go(func() {
		if status, _ := v.visit(url+"/echo", "visitor"); status != http.StatusOK && status != http.StatusServiceUnavailable {
			tb.Errorf("during the attack a visitor has got status %d", status)
		}
	})
	a.connect(true)
	for _, step := range flow {
		a.step(step)
	}
	if !s.do {
		status, _ := v.visit(url+"/health", "visitor")
		check.Equal(tb, "exempt from the limit: status", status, http.StatusOK)
	}
	a.end()
	within(visits.Wait) // the visitors are answered
	s.rest()
	s.probe(v, url)
	s.end()
}

// attacker carries out the steps of a flow.
type attacker struct {
	*site
	wire    []byte // what is still to be sent
	current *client
	all     []*client
}

func (a *attacker) connect(reads bool) {
	a.current = a.dial(reads)
	a.all = append(a.all, a.current)
}

func (a *attacker) send(n int) {
	n = min(n, len(a.wire))
	a.current.send(string(a.wire[:n]))
	a.wire = a.wire[n:]
}

// step does what one byte of a flow says: three bits tell what, five how much.
func (a *attacker) step(step byte) {
	n := int(step & 31)
	switch step >> 5 {
	case 0:
		a.send(n + 1)
	case 1:
		a.send(64 * (n + 1))
	case 2:
		a.current.finish()
		a.connect(true)
	case 3:
		a.current.reset()
		a.connect(n%2 == 0)
	case 4:
		a.current.hangUp()
		a.connect(n%2 == 0)
	case 5:
		a.connect(n%2 == 0)
	case 6:
		for range n {
			runtime.Gosched()
		}
	case 7:
		switch {
		case a.limiter == nil:
		case n == 31:
			a.drained.Store(true)
			a.limiter.Drain()
		default:
			a.limiter.Resize(1 + n%limit)
		}
	}
}

// end sends the rest, and has every connection end.
func (a *attacker) end() {
	a.send(len(a.wire))
	for _, c := range a.all {
		if c.closed == nil {
			c.reset() // else its handlers may wait for it forever
		} else {
			c.finish()
		}
	}
	a.open()
	for _, c := range a.all {
		if c.closed != nil {
			c.hear()
			c.hangUp()
		}
	}
}

// probe shows that as many requests run at once as may.
func (s *site) probe(v *visitor, url string) {
	s.Helper()
	want := http.StatusOK
	if s.drained.Load() {
		want = http.StatusServiceUnavailable
	}
	probe := make(chan struct{})
	s.probed.Store(&probe)
	if s.limiter != nil {
		s.limiter.Resize(limit)
	}
	n := s.most()
	var visits sync.WaitGroup
	for i := range n {
		visits.Go(func() {
			status, _ := v.visit(url+"/probe", fmt.Sprint(i))
			check.Equal(s, "after the attack: status", status, want)
		})
	}
	if want == http.StatusOK {
		until(func() bool { return s.inside.Now.Load() == n }) // all slots are taken
	}
	close(probe)
	within(visits.Wait) // all slots are given back
}
