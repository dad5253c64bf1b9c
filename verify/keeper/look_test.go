package keeper_test

import (
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/reuse"
)

// underWay is how many objects are being opened or checked that can be leased afterwards.
func (b *books) underWay() int {
	return b.number(func(o *thing) bool { return (o.activity == opening || o.activity == checking) && o.era == b.era })
}

// collect takes the leases of the users that have got one, and reports whether there was any. The
// books are locked.
func (m *machine) collect() (served bool) {
	still := m.waiting[:0]
	for _, a := range m.waiting {
		select {
		case <-a.over:
			if a.lease != (reuse.Lease[*thing]{}) {
				m.leases = append(m.leases, a.lease)
				served = true
			}
		default:
			still = append(still, a)
		}
	}
	m.waiting = still
	return served
}

// look compares the keeper to the books, while all goroutines are blocked.
func (m *machine) look() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.collect()
	m.lookAtStats()
	m.lookAtUsers()
	m.lookAtTimes()
	for _, c := range m.closers {
		select {
		case <-c.over:
			if c.err == nil && m.existing() > 0 || c.err != nil && (!c.ended || c.err != errLeft) { //nolint:errorlint // the cause itself is promised
				m.mustNot("Shutdown returned %v, and %d objects exist", c.err, m.existing())
			}
		default:
			if c.ended || m.existing() == 0 && m.thrown == 0 {
				m.mustNot("Shutdown blocks, and %d objects exist", m.existing())
			}
		}
	}
}

// lookAtStats compares the counts.
func (m *machine) lookAtStats() {
	got := m.k.Stats()
	want := m.want
	want.Capacity = m.config.Capacity
	want.Opening = m.count(opening)
	want.Checking = m.count(checking) + m.count(beating)
	want.Idle = m.count(none)
	want.Leased = m.number(func(o *thing) bool { return o.leased })
	want.Closing = m.count(closing)
	want.Waiting = len(m.asking)
	if got != want {
		m.mustNot("Stats are\n%+v, must be\n%+v", got, want)
	}
	if m.thrown > 0 {
		m.mustNot("OnPanic did not get %d panics", m.thrown)
	}
}

// lookAtUsers checks that no user waits in vain.
func (m *machine) lookAtUsers() {
	waiting, under := len(m.asking), m.underWay()
	for _, p := range m.passed {
		if p.of.unanswered() || p.of.at > p.by.at {
			m.mustNot("user %d was served before user %d", p.by.number, p.of.number)
		}
	}
	m.passed = nil
	switch {
	case waiting > 0 && m.closed:
		m.mustNot("%d wait for a closed keeper", waiting)
	case waiting > under && m.existing() < m.config.Capacity:
		m.mustNot("%d wait, %d objects are under way, and there is room for more", waiting, under)
	}
	for _, o := range m.things {
		switch {
		case !o.idle() || waiting == 0:
		case waiting > under:
			m.mustNot("%d wait, %d objects are under way, and object %d is idle", waiting, under, o.number)
		case m.config.Check == nil || o.rested > m.asking[0].came:
			m.mustNot("%d wait, and object %d was free for them", waiting, o.number)
		}
	}
	// The user that gets the error when Open fails for others may have gone meanwhile: then the test cannot see from
	// outside when the keeper tries Open again, only that it does.
	lull := m.trouble > 0 && m.now() <= m.failed+time.Minute+time.Second
	if lull && !m.straggle {
		lull = m.now() <= m.nextTry()
	}
	beats := m.number(func(o *thing) bool { return o.activity == beating && o.era == m.era }) // of objects that can be leased afterwards
	ready := m.count(none) + beats + under - waiting
	if !m.closed && !lull && ready < m.config.MinIdle && m.existing() < m.config.Capacity {
		m.mustNot("%d objects are ready or will be", ready)
	}
}

// lookAtTimes checks that no idle object has outlived its times.
func (m *machine) lookAtTimes() {
	now, c := m.now(), &m.config
	for _, o := range m.things {
		switch {
		case !o.idle():
		case o.era != m.era, m.closed, o.sick, o.discarded:
			m.mustNot("object %d, of no more use, is idle: %+v", o.number, *o)
		case c.Lifetime > 0 && now-o.opened > c.Lifetime:
			m.mustNot("object %d, opened at %v, is idle", o.number, o.opened)
		case c.IdleTimeout > 0 && now-o.used > c.IdleTimeout && m.count(none) > c.MinIdle:
			m.mustNot("object %d, used at %v, is idle", o.number, o.used)
		case c.Heartbeat != nil && now-o.proved > c.HeartbeatEvery:
			m.mustNot("object %d, good at %v, had no heartbeat", o.number, o.proved)
		}
	}
}

// end closes the keeper, and gives everything back.
func (m *machine) end() {
	m.shutdown()
	synctest.Wait()
	m.mu.Lock()
	m.collect()
	for _, l := range m.leases {
		l.Value().leased = false
	}
	m.mu.Unlock()
	for _, l := range m.leases {
		l.Put()
	}
	m.k.Close()
	synctest.Wait()
	for _, c := range m.closers {
		c.cancel(errLeft)
		<-c.over
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if served := m.collect(); served || len(m.waiting) > 0 || m.existing() > 0 {
		m.mustNot("after Close %d wait, and %d objects exist", len(m.waiting), m.existing())
	}
	m.lookAtStats()
}
