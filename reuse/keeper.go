package reuse

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/fifo"
)

// Keeper keeps a bounded number of objects that are costly to make, such as connections, and
// leases each to one user at a time.
//
// An object is opened when somebody wants one and none is idle, leased until it is put back or
// discarded, idle until somebody wants it again, and closed when it is of no more use. Objects
// that are being opened, checked or closed count against the capacity, too: a server that admits
// as many connections as that never sees more. The idle object that was used last is leased
// first, so that those that are not needed expire; also if it is to be checked, and another is not.
//
// Those who wait are served in the order in which they came, and a newcomer cannot overtake
// them. For each who waits an object is being opened or checked, as far as the capacity allows.
//
// The functions in [KeeperConfig] run on goroutines of their own, never under a lock: a slow
// one holds up nobody but those who need its object. A keeper without objects has no goroutine
// and no timer, unless it is to keep MinIdle ready; one timer serves all idle objects. The zero
// value is not usable: [NewKeeper] makes one. All methods may be called by any number of
// goroutines at once.
type Keeper[T any] struct {
	config KeeperConfig[T]
	start  time.Time     // what the times of objects count from
	timed  bool          // it matters when an object was put back
	done   chan struct{} // closed when the keeper is closed and nothing is left

	waited  atomic.Int64 // how long users have waited, in nanoseconds
	waiters sync.Pool    // of *waiter that have been used, so that waiting does not allocate

	// mu guards what follows, and the objects. No function of the user's is called under it.
	//
	// When it is unlocked, this holds: if anybody waits for whom nothing is under way, no object
	// is idle, and the capacity is used up. Whoever may have broken it calls serve first.
	mu        sync.Mutex
	line      line[T]
	stack     fifo.List[object[T]] // of idle ones, the warmest first: see keeper_idle.go
	late      tree[T]              // the other idle ones
	places    uint64               // how often an object was put back or opened to become idle
	dues      tree[T]              // objects that upkeep is to look at, by the time
	count     [states]int          // how many objects are in each state
	total     int
	unclaimed int                  // objects of this era being opened or checked, for no waiter
	spare     fifo.List[object[T]] // these
	beats     int                  // heartbeats of objects of this era
	era       *era                 // objects of an earlier one are closed instead of leased
	idleness  int                  // how often no object was in use: waiters of before are not used again
	closed    bool
	reports   int // panics that are not reported yet
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
	// cancelled when the keeper is reset meanwhile, or closed, then with ErrClosed, and never
	// once Open has returned, so the object may go on to use it. Open should bound its own
	// time. If it fails, nothing must be left to close.
	Open func(context.Context) (T, error)

	// Close ends an object. Its place in the capacity is free when Close has returned.
	// Without it an object is just forgotten.
	Close func(T)

	// IdleTimeout is the time after which an idle object is closed. 0 means never. It leaves
	// MinIdle objects alone.
	IdleTimeout time.Duration

	// Lifetime is the age at which an object is closed: at once if it is idle, or else when it
	// is put back. For each object a random part of it, up to a tenth, is taken off, so that
	// objects which were opened together are not all closed together. 0 means never.
	Lifetime time.Duration

	// Check is called before an object is leased that nobody has used for CheckAfter or longer.
	// If it returns an error, or ends its goroutine by runtime.Goexit, the object is closed and
	// the user gets another. Its context is as that of Open; it should bound its own time.
	Check      func(context.Context, T) error
	CheckAfter time.Duration

	// Heartbeat keeps an idle object alive: it is called when nobody has used the object for
	// HeartbeatEvery, and again each HeartbeatEvery after that. While it runs the object is not
	// idle; if it fails, the object is closed. Its context is cancelled when the keeper is reset,
	// or closed, then with ErrClosed; it should bound its own time. A heartbeat counts as use for
	// CheckAfter, but neither for IdleTimeout nor for which object is leased first.
	Heartbeat      func(context.Context, T) error
	HeartbeatEvery time.Duration

	// MinIdle is how many objects are kept ready while the capacity allows it, from
	// NewKeeper on. When Open fails and nobody waits for it, it is tried again a tenth of a
	// second later, then after twice that time, and so on up to a minute; Reset ends that wait.
	MinIdle int

	// Name names the keeper in reports of panics.
	Name string

	// OnPanic is called with a panic that no call returns: of Close or Heartbeat, or of Open or
	// Check when the user they ran for has left, or the keeper was reset meanwhile. By default it is
	// logged with log/slog.Error.
	// OnPanic may be called by several goroutines at once, and may use the keeper: the place of
	// the object that failed does not wait for it. Only Keeper.Close does.
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
		era:    new(era),
	}
	if c.MinIdle > 0 {
		k.mu.Lock()
		k.refill()
		k.mu.Unlock()
	}
	return k
}

func (c *KeeperConfig[T]) validate() {
	must(c.Capacity >= 1, "capacity must be at least 1", c.Capacity)
	must(c.Open != nil, "Open must not be nil", "nil")
	must(c.IdleTimeout >= 0, "idle timeout must be at least 0", c.IdleTimeout)
	must(c.Lifetime >= 0, "lifetime must be at least 0", c.Lifetime)
	must(c.CheckAfter >= 0, "check after must be at least 0", c.CheckAfter)
	must(c.Check != nil || c.CheckAfter == 0, "check after must be 0 without Check", c.CheckAfter)
	must(c.Heartbeat == nil || c.HeartbeatEvery > 0, "heartbeat every must be above 0 with Heartbeat", c.HeartbeatEvery)
	must(c.Heartbeat != nil || c.HeartbeatEvery == 0, "heartbeat every must be 0 without Heartbeat", c.HeartbeatEvery)
	must(c.MinIdle >= 0, "minimum of idle objects must be at least 0", c.MinIdle)
	must(c.MinIdle <= c.Capacity, "minimum of idle objects must be at most the capacity", c.MinIdle)
}

func (k *Keeper[T]) mustBeMade() {
	must(k.done != nil, "keeper must be made by NewKeeper", "the zero value")
}

// never is a time that does not come.
const never = time.Duration(math.MaxInt64)

// now is the time, on the keeper's own clock: to read that one costs half as much.
func (k *Keeper[T]) now() time.Duration { return time.Since(k.start) }

// after is d after t, at most never. A keeper that is older than the synctest bubble it is used in
// may see times below 0.
func after(t, d time.Duration) time.Duration {
	if t > never-d {
		return never
	}
	return t + d
}
