package weirhttp_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

// model is what a Limiter should do, without regard to what it costs.
type model struct {
	limit, queue        int
	perKey, perKeyQueue int // 0 and 0 without keys
	newestFirst         bool
	maxWait             time.Duration

	running, waiting []*modelled // each in the order of arrival
	want             weirhttp.Stats
}

type modelled struct {
	*visit
	key      string
	priority int
	deadline time.Time
}

func count(in []*modelled, key string) int {
	n := 0
	for _, m := range in {
		if m.key == key {
			n++
		}
	}
	return n
}

func (m *model) mayRun(r *modelled) bool {
	return len(m.running) < m.limit && (m.perKey == 0 || count(m.running, r.key) < m.perKey)
}

// before reports whether a, which came earlier, runs before b.
func (m *model) before(a, b *modelled) bool {
	return a.priority > b.priority || a.priority == b.priority && !m.newestFirst
}

func (m *model) arrive(r *modelled) {
	if m.mayRun(r) {
		m.running = append(m.running, r)
		return
	}
	victim, counter := (*modelled)(nil), &m.want.QueueFull
	find := func(of func(*modelled) bool) {
		for _, w := range m.waiting {
			if of(w) && (victim == nil || m.before(victim, w)) {
				victim = w
			}
		}
	}
	switch {
	case m.perKey > 0 && m.queue > 0 && count(m.waiting, r.key) >= m.perKeyQueue:
		counter = &m.want.KeyFull
		find(func(w *modelled) bool { return w.key == r.key })
	case len(m.waiting) >= m.queue:
		find(func(*modelled) bool { return true })
	default:
		m.waiting = append(m.waiting, r)
		return
	}
	if victim == nil || m.before(victim, r) {
		*counter++
		return
	}
	m.drop(victim, &m.want.Displaced)
	m.waiting = append(m.waiting, r)
}

func (m *model) drop(r *modelled, counter *uint64) {
	m.waiting = slices.DeleteFunc(m.waiting, func(w *modelled) bool { return w == r })
	*counter++
}

func (m *model) advance() {
	for {
		var next *modelled
		for _, w := range m.waiting {
			if m.mayRun(w) && (next == nil || !m.before(next, w)) {
				next = w
			}
		}
		if next == nil {
			return
		}
		m.waiting = slices.DeleteFunc(m.waiting, func(w *modelled) bool { return w == next })
		m.running = append(m.running, next)
	}
}

func (m *model) expire() {
	for _, w := range slices.Clone(m.waiting) {
		if !w.deadline.After(time.Now()) {
			m.drop(w, &m.want.TooLate)
		}
	}
}

func (m *model) stats() weirhttp.Stats {
	s := m.want
	s.Limit, s.Running, s.Waiting = m.limit, len(m.running), len(m.waiting)
	if m.perKey > 0 {
		keys := map[string]bool{}
		for _, r := range slices.Concat(m.running, m.waiting) {
			keys[r.key] = true
		}
		s.Keys = len(keys)
	}
	return s
}

func names(of []*modelled) string {
	all := make([]string, len(of))
	for i, r := range of {
		all[i] = r.name
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestALimiterDoesAsItsModel(t *testing.T) {
	for range check.Scale(150, 50) {
		seed := rand.Uint64()
		synctest.Test(t, func(t *testing.T) { runModel(t, rand.New(rand.NewPCG(seed, 0))) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func runModel(t *testing.T, random *rand.Rand) {
	m := &model{
		limit:       1 + random.IntN(4),
		queue:       random.IntN(8),
		newestFirst: random.IntN(2) == 0,
		maxWait:     time.Duration(1+random.IntN(20)) * time.Second,
	}
	opts := []weirhttp.Option{weirhttp.Queue(m.queue), weirhttp.MaxWait(m.maxWait), weirhttp.Priority(priorityHeader)}
	if m.newestFirst {
		opts = append(opts, weirhttp.NewestFirst())
	}
	if random.IntN(3) > 0 {
		m.perKey, m.perKeyQueue = 1+random.IntN(3), random.IntN(m.queue+1)
		opts = append(opts, weirhttp.PerKey(m.perKey, keyHeader), weirhttp.PerKeyQueue(m.perKeyQueue))
	}
	s := newSite(t, m.limit, opts...)
	for i := range 200 {
		switch op := random.IntN(20); {
		case op < 11:
			r := &modelled{key: fmt.Sprint(random.IntN(4)), priority: random.IntN(3) - 1, deadline: time.Now().Add(m.maxWait)}
			r.visit = s.start(fmt.Sprintf("%s/%d:%d", r.key, i, r.priority))
			m.arrive(r)
		case op < 15 && len(m.running) > 0:
			at := random.IntN(len(m.running))
			close(m.running[at].leave)
			m.running = slices.Delete(m.running, at, at+1)
			m.want.Served++
			m.advance()
		case op < 17 && len(m.waiting) > 0:
			r := m.waiting[random.IntN(len(m.waiting))]
			r.cancel()
			m.drop(r, &m.want.Gone)
		case op < 18:
			m.limit = 1 + random.IntN(4)
			s.Resize(m.limit)
			m.advance()
		default:
			time.Sleep(time.Duration(random.IntN(5)) * time.Second)
			m.expire()
		}
		synctest.Wait()
		check.Equal(t, "stats", s.Stats(), m.stats())
		for _, r := range m.running {
			check.Equal(t, r.name+" has begun", r.began, true)
		}
		for _, r := range m.waiting {
			check.Equal(t, r.name+" has ended", s.ended(r.visit), false)
		}
		if t.Failed() {
			t.Fatalf("step %d, model %+v: running %s; waiting %s", i, *m, names(m.running), names(m.waiting))
		}
	}
	s.Drain()
	for _, r := range m.running {
		close(r.leave)
	}
	synctest.Wait()
	s.atRest()
	check.Equal(t, "most at once within the highest limit", s.gauge.Peak.Load() <= 4, true)
}
