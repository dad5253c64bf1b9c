package reuse

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/fifo"
	"github.com/64ed045f/weir/internal/tree"
)

// Keeper keeps a bounded number of objects that are costly to make, such as connections, and leases
// each to one user at a time. [NewKeeper] makes one; the zero value is not usable. Any number of
// goroutines may call all methods at once.
//
// Waiting users are served in the order in which they came, and a newcomer cannot overtake them.
// The functions in [KeeperConfig] run on goroutines of their own, never under a lock: a slow one
// holds up only the users that need its object.
type Keeper[T any] struct {
	config KeeperConfig[T]
	start  time.Time     // what the times of objects count from
	timed  bool          // it matters when an object was put back
	done   chan struct{} // closed when the keeper is closed and nothing is left

	waited  atomic.Int64 // how long users have waited, in nanoseconds
	waiters sync.Pool    // of *waiter that have been used, so that waiting does not allocate

	// mu guards what follows, and the objects. No goroutine calls a function of the user's under it.
	//
	// While it is unlocked, this holds: if a waiter has no object under way, no object is idle, and
	// the capacity is used up. A goroutine that may have broken this calls serve before it unlocks mu.
	mu        sync.Mutex
	queue     queue[T]
	stack     fifo.List[object[T]]      // of idle ones, the warmest first: see keeper_idle.go
	late      tree.Tree[key, object[T]] // the other idle ones
	places    uint64                    // how often an object was put back or opened to become idle
	dues      tree.Tree[key, object[T]] // objects that upkeep is to look at, by the time
	count     [states]int               // how many objects are in each state
	total     int
	unclaimed int                  // objects of this era being opened or checked, for no waiter
	spare     fifo.List[object[T]] // the unclaimed ones
	beats     int                  // heartbeats of objects of this era
	era       *era                 // objects of an earlier one are closed instead of leased
	idleness  int                  // how often no object was in use: the keeper does not reuse waiters from before
	closed    bool
	reports   int // panics that are not reported yet
	timer     *time.Timer
	alarm     time.Duration // when the timer goes off; never if it is not set
	failures  int           // of Open in a row, without a waiter
	retry     time.Duration // no Open without a waiter before this time
	totals    totals
}

// KeeperConfig says what a [Keeper] keeps, and how. The caller must set Capacity and Open. A
// keeper may call a function for several objects at once, for each on one goroutine at a time.
type KeeperConfig[T any] struct {
	// Capacity is the most objects that exist at once, at least 1.
	Capacity int

	// Open makes an object. Its context has the values of the one given to Get, and is not
	// cancelled when that is: an object opened for a user who has left goes to the next user. The
	// keeper cancels the context when it is reset meanwhile, or closed, then with ErrClosed; it then
	// closes what Open returns. The context of an object that users get is never cancelled, so the
	// object may use it. Open should bound its own time. If it fails, it must leave nothing to close.
	Open func(context.Context) (T, error)

	// Close ends an object. Its place in the capacity is free when Close has returned.
	// Without it an object is just forgotten.
	Close func(T)

	// IdleTimeout is the time after which the keeper closes an idle object. 0 means never. It
	// leaves MinIdle objects alone.
	IdleTimeout time.Duration

	// Lifetime is the age at which the keeper closes an object: at once if it is idle, or else
	// when it is put back. For each object the keeper takes off a random part of it, up to a tenth,
	// so that objects which were opened together are not all closed together. 0 means never.
	Lifetime time.Duration

	// Check is called before the keeper leases an object that was unused for CheckAfter or longer.
	// If it returns an error, or ends its goroutine by runtime.Goexit, the keeper closes the object
	// and the user gets another. Its context is like that of Open; it should bound its own time.
	Check      func(context.Context, T) error
	CheckAfter time.Duration

	// Heartbeat keeps an idle object alive: the keeper calls it when the object was unused for
	// HeartbeatEvery, and again each HeartbeatEvery after that. While it runs the object is not
	// idle; if it fails, the keeper closes the object. Its context is cancelled when the keeper is
	// reset, or closed, then with ErrClosed; it should bound its own time. A heartbeat counts as use
	// for CheckAfter, but neither for IdleTimeout nor for which object is leased first.
	Heartbeat      func(context.Context, T) error
	HeartbeatEvery time.Duration

	// MinIdle is how many objects the keeper keeps ready while the capacity allows it, from
	// NewKeeper on. When Open fails and no user waits for it, the keeper tries again a tenth of a
	// second later, then after twice that time, and so on up to a minute; Reset ends that wait.
	MinIdle int

	// Name names the keeper in reports of panics.
	Name string

	// OnPanic is called with a panic that no call returns: of Close or Heartbeat, or of Open or
	// Check when the user they ran for has left, or the keeper was reset meanwhile. By default it is
	// logged with log/slog.Error.
	// Several goroutines may call OnPanic at once, and it may use the keeper: the place of the
	// object that failed is free without waiting for it. Only Keeper.Close waits for it.
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

// now returns the time on the keeper's own clock, which costs half as much to read as time.Now.
func (k *Keeper[T]) now() time.Duration { return time.Since(k.start) }

// after returns t + d, at most never. A keeper that is older than the synctest bubble in which a
// test uses it may see times below 0.
func after(t, d time.Duration) time.Duration {
	if t > never-d {
		return never
	}
	return t + d
}
