package reuse_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

// thing is an object of the tests, which knows what happens to it.
type thing struct {
	number int
	users  atomic.Int32
	closed atomic.Int32
}

// factory makes and counts things: each is closed once, and not while a user has it.
type factory struct {
	t      testing.TB
	exist  check.Gauge // from the beginning of Open to the end of Close
	opened atomic.Int64
	closed atomic.Int64
	taken  atomic.Int64 // detached
}

func (f *factory) open(context.Context) (*thing, error) {
	f.exist.Enter()
	return f.made(), nil
}

func (f *factory) made() *thing { return &thing{number: int(f.opened.Add(1))} }

func (f *factory) close(o *thing) {
	f.end(o)
	f.exist.Leave()
}

func (f *factory) end(o *thing) {
	if o.closed.Add(1) != 1 {
		f.t.Errorf("object %d is closed twice", o.number)
	}
	if o.users.Load() != 0 {
		f.t.Errorf("object %d is closed while it is used", o.number)
	}
	f.closed.Add(1)
}

// use fails the test if another uses the object, until it is called again with -1.
func (f *factory) use(o *thing, by int32) {
	if n := o.users.Add(by); n != 0 && n != 1 {
		f.t.Errorf("object %d has %d users", o.number, n)
	}
	if o.closed.Load() != 0 {
		f.t.Errorf("object %d is used after it was closed", o.number)
	}
}

// settled fails the test unless all that was opened is closed, and no more existed at once.
func (f *factory) settled(capacity int64) {
	f.t.Helper()
	check.Equal(f.t, "objects closed or detached", f.closed.Load()+f.taken.Load(), f.opened.Load())
	check.Equal(f.t, "objects left", f.exist.Now.Load(), 0)
	if peak := f.exist.Peak.Load(); peak > capacity {
		f.t.Errorf("%d objects existed at once, the capacity is %d", peak, capacity)
	}
}

// keeping makes a keeper of things. Each change sets more of its config.
func keeping(t testing.TB, capacity int, changes ...func(*reuse.KeeperConfig[*thing])) (*reuse.Keeper[*thing], *factory) {
	f := &factory{t: t}
	c := reuse.KeeperConfig[*thing]{Capacity: capacity, Open: f.open, Close: f.close}
	for _, change := range changes {
		change(&c)
	}
	return reuse.NewKeeper(c), f
}

type config = reuse.KeeperConfig[*thing]

// got leases an object, which must be possible.
func got(t testing.TB, k *reuse.Keeper[*thing]) reuse.Lease[*thing] {
	t.Helper()
	l, err := k.Get(t.Context())
	if err != nil {
		t.Fatalf("no object: %v", err)
	}
	return l
}

// warm leaves n idle objects; the keeper first leases the one with the lowest number.
func warm(t testing.TB, k *reuse.Keeper[*thing], n int) {
	t.Helper()
	leases := make([]reuse.Lease[*thing], n)
	for i := range leases {
		leases[i] = got(t, k)
	}
	for i := range leases {
		leases[n-1-i].Put()
	}
}

// asker is a user in Get, on a goroutine of its own.
type asker struct {
	cancel   context.CancelCauseFunc
	over     chan struct{}
	lease    reuse.Lease[*thing]
	err      error
	panicked any
	exited   bool
}

// asks starts a user, and in a bubble lets it run until it blocks.
func asks(t testing.TB, k *reuse.Keeper[*thing]) *asker {
	ctx, cancel := context.WithCancelCause(t.Context())
	a := &asker{cancel: cancel, over: make(chan struct{}), exited: true}
	go func() {
		defer close(a.over)
		defer cancel(nil)
		a.panicked = check.Caught(func() { a.lease, a.err = k.Get(ctx) })
		a.exited = false
	}()
	synctest.Wait()
	return a
}

func (a *asker) answered() bool {
	select {
	case <-a.over:
		return true
	default:
		return false
	}
}

// served fails the test unless the user has an object by now.
func (a *asker) served(t testing.TB) reuse.Lease[*thing] {
	t.Helper()
	synctest.Wait()
	if !a.answered() {
		t.Fatal("the user still waits")
	}
	if a.panicked != nil || a.exited {
		t.Fatalf("Get panicked with %v, or ended its goroutine (%v)", a.panicked, a.exited)
	}
	if a.err != nil {
		t.Fatalf("the user got error %v", a.err)
	}
	return a.lease
}

// failed fails the test unless the user has got an error by now.
func (a *asker) failed(t testing.TB, target error) {
	t.Helper()
	synctest.Wait()
	if !a.answered() {
		t.Fatal("the user still waits")
	}
	check.Error(t, a.err, target)
}

// waits fails the test if the user has got anything.
func (a *asker) waits(t testing.TB) {
	t.Helper()
	synctest.Wait()
	if a.answered() {
		t.Errorf("the user does not wait: got %v", a.err)
	}
}

var errKept = errors.New("kept boom")

func panicKept() error { panic(errKept) }

func exitKept() error {
	runtime.Goexit()
	return nil
}

// wantKeptPanic fails the test unless value is a panic of panicKept.
func wantKeptPanic(t testing.TB, value any) {
	t.Helper()
	p, isPanic := value.(*weir.Panic)
	if !isPanic {
		t.Errorf("got %v, want a *weir.Panic", value)
		return
	}
	check.Error(t, p, errKept)
	if !strings.Contains(string(p.Stack), "reuse_test.panicKept") {
		t.Errorf("the stack is not that of the panic:\n%s", p.Stack)
	}
}

// panics collects the panics that the keeper reports.
type panics struct {
	mu  sync.Mutex
	all []*weir.Panic
}

func (p *panics) report(one *weir.Panic) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, one)
}

// want fails the test unless n panics of panicKept were reported.
func (p *panics) want(t testing.TB, n int) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	check.Equal(t, "reported panics", len(p.all), n)
	for _, one := range p.all {
		wantKeptPanic(t, one)
		check.Equal(t, "name", one.Pool, "kept")
	}
}

// lines counts the lines of a log with the text.
func lines(log *check.Buffer, text string) (n int) {
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

type lease = reuse.Lease[*thing]
