package reuse_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

// model drives a keeper by random operations, one after the other, whose functions take random
// times and end in random ways. After each it compares the keeper with its own counts.
type model struct {
	*factory
	k        *reuse.Keeper[*thing]
	capacity int

	mu     sync.Mutex // the functions of the keeper draw, too
	random *rand.Rand

	waiting []*asker // in the order in which they came
	leases  []lease
}

func (m *model) draw(n int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.random.IntN(n)
}

// ends takes some time, and then ends in some way.
func (m *model) ends() error {
	time.Sleep(time.Duration(m.draw(3)*m.draw(50)) * time.Millisecond)
	switch m.draw(20) {
	case 0:
		return panicKept()
	case 1:
		return exitKept()
	case 2, 3:
		return errKept
	}
	return nil
}

func (m *model) open(context.Context) (*thing, error) {
	m.exist.Enter()
	sound := false
	defer func() {
		if !sound {
			m.exist.Leave()
		}
	}()
	if err := m.ends(); err != nil {
		return nil, err
	}
	sound = true
	return m.made(), nil
}

func (m *model) close(o *thing) {
	m.end(o)
	defer m.exist.Leave()
	_ = m.ends()
}

// proves is Check or Heartbeat: no user may have the object meanwhile.
func (m *model) proves(_ context.Context, o *thing) error {
	m.use(o, 1)
	defer m.use(o, -1)
	return m.ends()
}

// step does one thing, and lets all other goroutines run until they block.
func (m *model) step() {
	switch i := m.draw(100); {
	case i < 35:
		m.waiting = append(m.waiting, asks(m.t, m.k))
	case i < 45 && len(m.waiting) > 0:
		m.waiting[m.draw(len(m.waiting))].cancel(errKept)
	case i < 75 && len(m.leases) > 0:
		j := m.draw(len(m.leases))
		m.giveUp(m.leases[j])
		m.leases = slices.Delete(m.leases, j, j+1)
	case i < 80:
		if l, err := m.k.TryGet(); err == nil {
			if len(m.waiting) > 0 {
				m.t.Error("TryGet has overtaken a user that waits")
			}
			m.took(l)
		}
	case i < 82:
		m.k.Reset()
	default:
		time.Sleep(time.Duration(m.draw(200)) * time.Millisecond)
	}
	synctest.Wait()
}

func (m *model) took(l lease) {
	m.use(l.Value(), 1)
	m.leases = append(m.leases, l)
}

func (m *model) giveUp(l lease) {
	o := l.Value()
	m.use(o, -1)
	switch m.draw(10) {
	case 0, 1:
		l.Discard()
	case 2:
		m.taken.Add(1)
		m.exist.Leave() // before: another may be opened before Detach returns
		l.Detach()
	default:
		l.Put()
	}
	check.Panics(m.t, leaseOver, l.Put)
}

// look compares what the keeper says and does with the model's own counts.
func (m *model) look(checks bool) {
	var still []*asker
	for _, a := range m.waiting {
		switch {
		case !a.answered():
			still = append(still, a)
		case a.panicked != nil:
			wantKeptPanic(m.t, a.panicked)
		case a.err == nil:
			if len(still) > 0 {
				m.t.Error("a user was served before one that came first")
			}
			m.took(a.lease)
		}
	}
	m.waiting = still

	s := m.k.Stats()
	total := s.Opening + s.Checking + s.Idle + s.Leased + s.Closing
	check.Equal(m.t, "waiting", s.Waiting, len(still))
	check.Equal(m.t, "leased", s.Leased, len(m.leases))
	check.Equal(m.t, "existing", int64(total), m.exist.Now.Load())
	check.Equal(m.t, "opened", s.Opened, m.opened.Load())
	check.Equal(m.t, "opened and not gone", s.Opened-s.Closed-s.Detached, int64(total-s.Opening))
	if peak := m.exist.Peak.Load(); peak > int64(m.capacity) {
		m.t.Errorf("%d objects existed at once", peak)
	}
	if s.Waiting > 0 && s.Idle > 0 && !checks {
		m.t.Errorf("%d wait while %d objects are idle", s.Waiting, s.Idle)
	}
	if s.Waiting > s.Opening+s.Checking && (total < m.capacity || s.Idle > 0) {
		m.t.Errorf("too little is under way: %+v", s)
	}
}

func TestAKeeperDoesWhatItsModelSays(t *testing.T) {
	for i := range check.Scale(300, 40) {
		seed := rand.Uint64()
		synctest.Test(t, func(t *testing.T) {
			m := &model{factory: &factory{t: t}, capacity: 1 + i%5, random: rand.New(rand.NewPCG(seed, 0))}
			c := config{Capacity: m.capacity, Open: m.open, Close: m.close, OnPanic: new(panics).report}
			if i&1 != 0 {
				c.IdleTimeout, c.Lifetime = 300*time.Millisecond, 2*time.Second
			}
			if i&2 != 0 {
				c.Check, c.CheckAfter = m.proves, 50*time.Millisecond
			}
			if i&4 != 0 {
				c.Heartbeat, c.HeartbeatEvery = m.proves, 100*time.Millisecond
			}
			if i&8 != 0 {
				c.MinIdle = 1 + i%m.capacity
			}
			m.k = reuse.NewKeeper(c)
			for range 100 {
				m.step()
				m.look(c.Check != nil)
				if t.Failed() {
					break
				}
			}
			for _, l := range m.leases {
				m.giveUp(l)
			}
			for _, a := range m.waiting {
				a.cancel(errKept)
			}
			synctest.Wait()
			for _, a := range m.waiting {
				if <-a.over; a.err == nil && a.panicked == nil {
					a.lease.Put()
				}
			}
			m.k.Close()
			m.settled(int64(m.capacity))
		})
		if t.Failed() {
			t.Fatalf("run %d, seed %d", i, seed)
		}
	}
}
