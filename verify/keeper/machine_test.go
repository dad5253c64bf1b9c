package keeper_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
	"github.com/64ed045f/weir/verify/internal/plant"
)

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "1000"); err != nil { // the command line may still say otherwise
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// machine is a keeper, its books, and its users.
type machine struct {
	*books
	k       *reuse.Keeper[*thing]
	askers  int
	leases  []reuse.Lease[*thing]
	waiting []*asker
	closers []*closer
	log     []string
}

// closer is a goroutine in Shutdown.
type closer struct {
	over   chan struct{}
	err    error
	cancel context.CancelCauseFunc
	ended  bool
}

func TestAKeeperKeepsItsPromises(t *testing.T) { rapid.Check(t, checkKeeper) }

func FuzzKeeper(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkKeeper)) }

func checkKeeper(t *rapid.T) {
	b := drawBooks(t)
	var m *machine
	rapid.SyncTest(t, func(t *rapid.T) {
		b.begin = time.Now()
		m = &machine{books: b, k: reuse.NewKeeper(b.config)}
		defer m.end() // also when there is nothing left to draw from
		synctest.Wait()
		t.Repeat(m.steps())
	})
	if m.wrong != nil {
		t.Fatalf("%v\n%+v\n%v", m.wrong, b.config, m)
	}
}

// drawBooks draws a keeper and what its functions do.
func drawBooks(t *rapid.T) *books {
	const ms = time.Millisecond
	b := new(books)
	may := func(what string, times ...int) time.Duration {
		return time.Duration(rapid.SampledFrom(times).Draw(t, what)) * ms
	}
	c := &b.config
	c.Capacity = rapid.IntRange(1, 4).Draw(t, "Capacity")
	c.Open, c.Close, c.OnPanic = b.open, b.shut, b.reported
	c.IdleTimeout = may("IdleTimeout", 0, 0, 30, 200)
	c.Lifetime = may("Lifetime", 0, 0, 100, 1000)
	if rapid.Bool().Draw(t, "Check") {
		c.Check, c.CheckAfter = b.check, may("CheckAfter", 0, 20, 100)
	}
	if rapid.IntRange(0, 2).Draw(t, "Heartbeat") == 2 {
		c.Heartbeat, c.HeartbeatEvery = b.beat, may("HeartbeatEvery", 15, 80)
	}
	if rapid.IntRange(0, 2).Draw(t, "MinIdle") == 2 {
		c.MinIdle = rapid.IntRange(1, c.Capacity).Draw(t, "ready")
	}
	hostile := rapid.IntRange(0, 2).Draw(t, "hostile")
	for i := range rapid.IntRange(1, 24).Draw(t, "fates") {
		f := fate{lasts: may("lasts", 0, 0, 1, 3, 10, 50), heeds: i%2 == 1}
		if hostile > 0 && rapid.IntRange(0, 5).Draw(t, "ends badly") == 5 {
			f.ending = fails
			if hostile > 1 {
				f.ending = ending(rapid.IntRange(1, 3).Draw(t, "ending"))
			}
		}
		b.fates = append(b.fates, f)
	}
	return b
}

// steps are what the machine draws from.
func (m *machine) steps() map[string]func(*rapid.T) {
	steps := map[string]func(*rapid.T){
		"get":     func(*rapid.T) { m.get(false) },
		"get2":    func(*rapid.T) { m.get(false) },
		"getDone": func(*rapid.T) { m.get(true) },
		"tryGet":  func(*rapid.T) { m.tryGet() },
		"leave":   m.leave,
		"put":     m.put,
		"put2":    m.put,
		"discard": m.discard,
		"detach":  m.detach,
		"reset":   func(t *rapid.T) { m.rarely(t, 4, m.reset) },
		"close":   func(t *rapid.T) { m.rarely(t, 12, m.shutdown) },
		"hasten":  m.hasten,
		"moment":  func(t *rapid.T) { m.sleep(rapid.IntRange(1, 20).Draw(t, "ms")) },
		"while":   func(t *rapid.T) { m.sleep(rapid.IntRange(20, 400).Draw(t, "ms")) },
		"long":    func(t *rapid.T) { m.rarely(t, 3, func() { m.sleep(5_000) }) },
		"longest": func(t *rapid.T) { m.rarely(t, 6, func() { m.sleep(65_000) }) },
	}
	for name, step := range steps {
		steps[name] = func(t *rapid.T) {
			if m.wrong == nil {
				m.log = append(m.log, fmt.Sprintf("%v: %s", m.now(), name))
				unlocked(func() { step(t) })
				synctest.Wait()
				m.look()
			}
		}
	}
	return steps
}

// unlocked calls step. If a mistake in the keeper makes it panic, the program ends: the keeper may hold its lock still, and the
// test would hang instead of ending.
func unlocked(step func()) {
	defer func() {
		value := recover()
		if _, mistake := value.(runtime.Error); mistake {
			go panic(value)
			select {}
		}
		if value != nil {
			panic(value)
		}
	}()
	step()
}

func (m *machine) rarely(t *rapid.T, n int, step func()) {
	if rapid.IntRange(1, n).Draw(t, "rarely") == n {
		step()
	}
}

// get asks for an object, and checks which calls the keeper begins for that.
func (m *machine) get(done bool) {
	m.mu.Lock()
	under := m.underWay()
	begun, waiting, idle := m.begun, len(m.asking), m.warmest()
	ready := waiting == 0 && m.ready()
	m.mu.Unlock()
	m.askers++
	a := m.ask(m.k, m.askers, done)
	m.waiting = append(m.waiting, a)
	synctest.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.collect()
	served := a.lease != (reuse.Lease[*thing]{})
	if done && (served || len(m.asking) > waiting) {
		m.mustNot("user %d had left", a.number)
	}
	if done || m.closed {
		return
	}
	switch {
	case served:
		m.expect(a.lease.Value(), idle, waiting)
	case ready:
		m.mustNot("user %d waits although object %d was ready", a.number, idle.number)
	default:
		m.want.Waits++
	}
	if need := max(0, waiting+1-under); m.config.MinIdle == 0 && m.begun-begun > need {
		m.mustNot("%d objects were opened for user %d; %d waited, and %d were under way", m.begun-begun, a.number, waiting, under)
	}
}

// warmest is the object that was used last. The keeper must lease it first.
func (m *machine) warmest() (o *thing) {
	for _, other := range m.things {
		if other.idle() && (o == nil || other.order > o.order) {
			o = other
		}
	}
	return o
}

// ready reports whether the object that must be leased next certainly needs no check.
func (m *machine) ready() bool {
	o := m.warmest()
	return o != nil && (m.config.Check == nil || m.now()-o.proved < m.config.CheckAfter)
}

// expect checks that the object which was just leased was the one to lease.
func (m *machine) expect(got, warmest *thing, waiting int) {
	if got != warmest {
		m.mustNot("object %d was leased, another was used later: %+v", got.number, warmest)
	}
	if waiting > 0 {
		m.mustNot("object %d was leased while %d waited", got.number, waiting)
	}
}

func (m *machine) tryGet() {
	m.mu.Lock()
	warmest, waiting := m.warmest(), len(m.asking)
	ready := waiting == 0 && m.ready()
	m.mu.Unlock()
	l, err := m.k.TryGet()
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case err == nil:
		m.leases = append(m.leases, l)
		m.granted(l.Value())
		m.expect(l.Value(), warmest, waiting)
	case m.closed != errors.Is(err, reuse.ErrClosed), !m.closed && !errors.Is(err, reuse.ErrNoneIdle):
		m.mustNot("TryGet returned %v", err)
	case !m.closed && ready:
		m.mustNot("TryGet found nothing, object %d was ready", warmest.number)
	}
}

func (m *machine) leave(t *rapid.T) {
	if n := len(m.waiting); n > 0 {
		m.waiting[rapid.IntRange(0, n-1).Draw(t, "who")].leave()
	}
}

// give gives one of the leases up, when that is noted in the books, which are locked then.
func (m *machine) give(t *rapid.T, note func(o *thing), how func(l reuse.Lease[*thing])) {
	n := len(m.leases)
	if n == 0 {
		return
	}
	i := rapid.IntRange(0, n-1).Draw(t, "which")
	l := m.leases[i]
	m.leases[i] = m.leases[n-1]
	m.leases = m.leases[:n-1]
	m.mu.Lock()
	o := l.Value()
	o.leased = false
	note(o)
	m.mu.Unlock()
	how(l)
	for _, again := range []func(){l.Put, l.Discard, func() { l.Detach() }, func() { l.Value() }} {
		if check.Caught(again) == nil {
			m.mu.Lock()
			m.mustNot("the lease of object %d was used twice", o.number)
			m.mu.Unlock()
		}
	}
}

func (m *machine) put(t *rapid.T) {
	m.give(t, func(o *thing) {
		o.used, o.proved, o.rested, o.checked = m.now(), m.now(), m.now(), false
		m.place(o)
	}, reuse.Lease[*thing].Put)
}

func (m *machine) discard(t *rapid.T) {
	m.give(t, func(o *thing) {
		o.discarded = true
		m.want.Discarded++
	}, reuse.Lease[*thing].Discard)
}

func (m *machine) detach(t *rapid.T) {
	var given *thing
	m.give(t, func(o *thing) {
		given, o.detached = o, true
		m.want.Detached++
	}, func(l reuse.Lease[*thing]) {
		if l.Detach() != given {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.mustNot("Detach returned another object")
		}
	})
}

func (m *machine) reset() {
	m.mu.Lock()
	if !m.closed {
		m.era++
		m.trouble = 0
	}
	m.mu.Unlock()
	m.k.Reset()
}

func (m *machine) shutdown() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	ctx, cancel := context.WithCancelCause(context.Background())
	c := &closer{over: make(chan struct{}), cancel: cancel}
	m.closers = append(m.closers, c)
	go func() {
		defer close(c.over)
		c.err = m.k.Shutdown(ctx)
	}()
}

// hasten ends the context of a goroutine in Shutdown.
func (m *machine) hasten(*rapid.T) {
	for _, c := range m.closers {
		if !c.ended {
			c.ended = true
			c.cancel(errLeft)
			return
		}
	}
}

func (m *machine) sleep(ms int) { time.Sleep(time.Duration(ms) * time.Millisecond) }

// String is all that happened.
func (m *machine) String() string {
	text := ""
	for _, line := range m.log {
		text += line + "\n"
	}
	return text
}

func TestEveryPlantedBugIsFound(t *testing.T) {
	plant.Proof{
		Folder: "./keeper",
		Bugs:   plant.Read("reuse"),
		Limit:  30 * time.Second,
		Args:   []string{"-test.run=^TestAKeeper"},
		More:   plant.Rapid("200", "3000", "15000", "200000"),
	}.Run(t)
}
