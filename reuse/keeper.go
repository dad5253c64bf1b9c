package reuse

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
)

// Keeper keeps a bounded number of objects that are costly to make, such as connections, and
// leases each to one user at a time.
//
// An object is opened when somebody wants one and none is idle, leased until it is put back or
// discarded, idle until somebody wants it again, and closed when it is of no more use. Opening,
// checking and closing count against the capacity, so that never more than Capacity objects
// exist, whatever state they are in: a server that admits so many connections never sees more.
// The idle object that was used last is leased first, so that those that are not needed expire.
//
// Those who wait are served in the order in which they came, and a newcomer cannot overtake
// them. While somebody waits no object is idle, but for those that must be checked first; and
// an object is being opened or checked for each who waits, unless the capacity is used up.
//
// The functions in [KeeperConfig] run on goroutines of their own, never under a lock: a slow
// one holds up nobody but those who need its object. A keeper that has no objects has no
// goroutine and no timer; one timer serves all idle objects. Make it by [NewKeeper]. All
// methods may be called by any number of goroutines at once.
type Keeper[T any] struct {
	config KeeperConfig[T]
	start  time.Time // what the times of objects count from
	timed  bool      // it matters when an object was put back
	base   context.Context
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when the keeper is closed and nothing is left

	waited atomic.Int64 // how long users have waited, in nanoseconds
	places sync.Pool    // of *waiter that have been used, so that waiting does not allocate

	// mu guards what follows, and the objects. No function of the user's is called under it.
	//
	// When it is unlocked, these hold: if anybody waits, each idle object needs a check; and if
	// anybody waits with nothing under way for him, then no object is idle, and the
	// capacity is used up. Whoever may have broken them calls serve first.
	mu        sync.Mutex
	line      line[T]
	warmest   *object[T] // of the idle ones, linked by next: put back last
	coldest   *object[T]
	count     [states]int // how many objects are in each state
	total     int
	unclaimed int // objects being opened or checked that nobody waits for
	era       int // objects of an earlier one are closed instead of leased
	closed    bool
	timer     *time.Timer
	alarm     time.Duration // when the timer goes off; never if it is not set
	failures  int           // of Open in a row, for nobody
	retry     time.Duration // not before, for nobody
	totals    totals
}

// KeeperConfig says what a [Keeper] keeps, and how. Capacity and Open must be given. A
// function may be called for several objects at once, for each only by one goroutine at a time.
type KeeperConfig[T any] struct {
	// Capacity is the most objects that exist at once, at least 1.
	Capacity int

	// Open makes an object. Its context has the values of the one given to Get, and is not
	// cancelled when that is: what was begun for one who has left goes to the next. It is
	// cancelled with ErrClosed when the keeper is closed meanwhile, and never once Open has
	// returned, so the object may go on to use it. Open should bound its own time. If it
	// fails, nothing must be left to close.
	Open func(context.Context) (T, error)

	// Close ends an object. Its place in the capacity is free when Close has returned.
	// Without it an object is just forgotten.
	Close func(T)

	// IdleTimeout is after what time an idle object is closed. 0 means never. It leaves
	// MinIdle objects alone.
	IdleTimeout time.Duration

	// Lifetime is at what age an object is closed: when it is idle, or else when it is put
	// back. Up to a tenth is taken off, by chance, so that objects which were opened together
	// are not all closed together. 0 means never.
	Lifetime time.Duration

	// Check reports whether an object may be leased that nobody has used for
	// CheckAfter or longer. One that may not is closed and the user gets another; so is one whose
	// Check ends its goroutine by runtime.Goexit. Its
	// context is as that of Open; it should bound its own time.
	Check      func(context.Context, T) error
	CheckAfter time.Duration

	// Heartbeat keeps an object alive that nobody has used for HeartbeatEvery, and that long
	// after each Heartbeat again; meanwhile it is not idle. If it fails, the object is closed.
	// Its context is cancelled with ErrClosed when the keeper is closed; it should bound its
	// own time. A heartbeat does not count as use for IdleTimeout, but for CheckAfter it does.
	Heartbeat      func(context.Context, T) error
	HeartbeatEvery time.Duration

	// MinIdle is how many objects are kept ready while the capacity allows it, from
	// NewKeeper on. When Open fails for nobody it is tried again a tenth of a second later,
	// then after twice that time, and so on up to a minute.
	MinIdle int

	// Name names the keeper in reports of panics.
	Name string

	// OnPanic is called with a panic that nobody waits for: of Close or Heartbeat, or of Open
	// or Check when the one they ran for has left. The default logs it with log/slog.Error.
	// It may be called by several goroutines at once.
	OnPanic func(*weir.Panic)
}

// NewKeeper returns a keeper. It opens nothing yet, unless MinIdle is set.
func NewKeeper[T any](c KeeperConfig[T]) *Keeper[T] {
	c.validate()
	k := &Keeper[T]{
		config: c,
		start:  time.Now(),
		timed:  c.IdleTimeout > 0 || c.Lifetime > 0 || c.Check != nil || c.Heartbeat != nil,
		done:   make(chan struct{}),
		alarm:  never,
	}
	k.base, k.cancel = context.WithCancelCause(context.Background())
	if c.MinIdle > 0 {
		k.mu.Lock()
		k.refill()
		k.mu.Unlock()
	}
	return k
}

func (c *KeeperConfig[T]) validate() {
	demand(c.Capacity >= 1, "capacity must be at least 1", c.Capacity)
	demand(c.Open != nil, "Open must not be nil", "nil")
	demand(c.IdleTimeout >= 0, "idle timeout must be at least 0", c.IdleTimeout)
	demand(c.Lifetime >= 0, "lifetime must be at least 0", c.Lifetime)
	demand(c.CheckAfter >= 0, "check after must be at least 0", c.CheckAfter)
	demand(c.Check != nil || c.CheckAfter == 0, "check after must be 0 without Check", c.CheckAfter)
	demand(c.Heartbeat == nil || c.HeartbeatEvery > 0, "heartbeat every must be above 0 with Heartbeat", c.HeartbeatEvery)
	demand(c.Heartbeat != nil || c.HeartbeatEvery == 0, "heartbeat every must be 0 without Heartbeat", c.HeartbeatEvery)
	demand(c.MinIdle >= 0, "minimum of idle objects must be at least 0", c.MinIdle)
	demand(c.MinIdle <= c.Capacity, "minimum of idle objects must be at most the capacity", c.MinIdle)
}

// made panics on a keeper that NewKeeper has not made.
func (k *Keeper[T]) made() {
	if k.done == nil {
		panic("reuse: keeper must be made by NewKeeper, got the zero value")
	}
}

// never is a time that does not come.
const never = time.Duration(math.MaxInt64)

// now is the time, on the keeper's own clock: to read that one costs half as much.
func (k *Keeper[T]) now() time.Duration { return time.Since(k.start) }

// after is d after t, at most never.
func after(t, d time.Duration) time.Duration {
	if d > never-t {
		return never
	}
	return t + d
}
