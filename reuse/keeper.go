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

// Keeper keeps a bounded number of objects that are costly to make, such as connections, and leases each to
// one user at a time. [NewKeeper] makes a Keeper; the zero value is not usable. Any number of goroutines may
// call all methods at once.
//
// Waiting users are served in the order of arrival, and a new user cannot overtake them. The functions in
// [KeeperConfig] run on goroutines of their own, never under a lock: a slow function delays only the users
// that need its object.
type Keeper[T any] struct {
	config KeeperConfig[T]
	start  time.Time     // the times of objects count from it
	timed  bool          // whether the time at which an object was put back matters
	done   chan struct{} // closed when the keeper is closed and nothing is left

	waited  atomic.Int64 // how long users have waited, in nanoseconds
	waiters sync.Pool    // of used *waiter, so that waiting does not allocate

	// mu guards the fields below, and the objects. No goroutine calls a function of the user's while it holds
	// mu.
	//
	// While mu is unlocked, this holds: if a waiter has no object that is being opened or checked for it, no
	// object is idle, and the capacity is used up. A goroutine that may have broken this calls serve before
	// it unlocks mu.
	mu        sync.Mutex
	queue     queue[T]
	stack     fifo.List[object[T]]      // idle objects, the warmest first: see keeper_idle.go
	late      tree.Tree[key, object[T]] // the other idle objects
	places    uint64                    // how often an object was put back or opened to become idle
	dues      tree.Tree[key, object[T]] // objects that upkeep must look at, by the time
	count     [states]int               // how many objects are in each state
	total     int
	unclaimed int                  // objects of this era that are being opened or checked for no waiter
	spare     fifo.List[object[T]] // the unclaimed objects
	beats     int                  // running heartbeats of objects of this era
	era       *era                 // objects of an earlier era are closed instead of leased
	idleness  int                  // how often no object was in use; the keeper does not reuse waiters from before that
	closed    bool
	reports   int // panics that are still to be reported
	timer     *time.Timer
	alarm     time.Duration // when the timer fires; never if it is not set
	failures  int           // consecutive failures of Open without a waiter
	retry     time.Duration // no Open without a waiter before this time
	totals    totals
}

// KeeperConfig says what a [Keeper] keeps, and how. Capacity and Open must be set. A keeper may call a
// function on several goroutines at once, each for another object.
type KeeperConfig[T any] struct {
	// Capacity is the most objects that exist at once, at least 1.
	Capacity int

	// Open makes an object. Its context has the values of the context given to Get, but not its cancellation:
	// an object opened for a user who has left goes to the next user. A Reset or Close of the keeper while
	// Open runs cancels the context, a Close with the cause ErrClosed; the keeper then closes what Open
	// returns. The context of an object that users get is never cancelled, so the object may use it. Open
	// should bound its own time. If Open fails, it must leave nothing to close.
	Open func(context.Context) (T, error)

	// Close ends an object. The object's place in the capacity is free when Close has returned. If Close is
	// nil, the keeper just forgets the object.
	Close func(T)

	// IdleTimeout is the time after which the keeper closes an idle object. It does not close the last
	// MinIdle idle objects. 0 means never.
	IdleTimeout time.Duration

	// Lifetime is the age at which the keeper closes an object: at once if the object is idle, otherwise when
	// it is put back. For each object the keeper shortens it by a random part, up to a tenth, so that objects
	// which were opened together are not all closed together. 0 means never.
	Lifetime time.Duration

	// Check is called before the keeper leases an object that was unused for CheckAfter or longer: with a
	// CheckAfter of 0 also before an object that is put back goes to a user who waits. If Check returns an
	// error, or ends its goroutine by runtime.Goexit, the keeper closes the object and the user gets another.
	// Check gets a context like that of Open, and should bound its own time.
	Check      func(context.Context, T) error
	CheckAfter time.Duration

	// Heartbeat keeps an idle object alive. The keeper calls it when the object was unused for
	// HeartbeatEvery, and again each HeartbeatEvery after that. While Heartbeat runs the object is not idle;
	// if it fails, the keeper closes the object. A Reset or Close of the keeper cancels its context, a Close
	// with the cause ErrClosed. Heartbeat should bound its own time. A heartbeat counts as use for
	// CheckAfter, but not for IdleTimeout, nor for the choice of the object that is leased first.
	Heartbeat      func(context.Context, T) error
	HeartbeatEvery time.Duration

	// MinIdle is how many objects the keeper keeps ready while the capacity allows it, from NewKeeper on. If
	// Open fails and no user waits for it, the keeper tries again after a tenth of a second, then after twice
	// that time, and so on up to a minute. Reset ends that wait.
	MinIdle int

	// Name names the keeper in reports of panics.
	Name string

	// OnPanic is called with a panic that no call returns. That is a panic of Close or Heartbeat; or of Open
	// or Check, if the user they ran for has left, or the keeper was reset meanwhile. The default logs the
	// panic with log/slog.Error. Several goroutines may call OnPanic at once, and it may use the keeper. The
	// place of the object that failed is free without waiting for OnPanic. Only Keeper.Close waits for it.
	OnPanic func(*weir.Panic)
}

// NewKeeper returns a keeper. It opens nothing yet, unless MinIdle is set.
func NewKeeper[T any](c KeeperConfig[T]) *Keeper[T] {
	c.validate()
	k := &Keeper[T]{
		config: c,
		start:  time.Now(),
		timed:  c.IdleTimeout > 0 || c.Lifetime > 0 || c.Check != nil || c.Heartbeat != nil,
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
	must(k.config.Open != nil, "keeper must be made by NewKeeper", "the zero value")
}

// never is a time that is never reached.
const never = time.Duration(math.MaxInt64)

// now returns the time on the keeper's own clock. Reading it costs half as much as time.Now.
func (k *Keeper[T]) now() time.Duration { return time.Since(k.start) }

// after returns t + d, at most never. In a synctest bubble, a keeper that is older than the bubble may see
// times below 0.
func after(t, d time.Duration) time.Duration {
	if t > never-d {
		return never
	}
	return t + d
}
