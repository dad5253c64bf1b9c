package keeper_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

// activity is what a function of the keeper does with an object.
type activity uint8

const (
	none activity = iota
	opening
	checking
	beating
	closing
)

var activityNames = [...]string{"nothing", "Open", "Check", "Heartbeat", "Close"}

func (a activity) String() string { return activityNames[a] }

// thing is an object, and what is known of it.
type thing struct {
	number   int
	era      int // how many Resets there were before Open was called for it
	activity activity
	asker    *asker // the user that the call of Open or Check is for

	opened time.Duration // since when it exists, and is known to be good
	used   time.Duration // until when it was in use
	proved time.Duration // when it was last known to be good
	rested time.Duration // since when it is idle, if it is
	order  int           // its number among all objects that were put back or opened

	checked bool // it was opened or checked, and neither used nor kept alive since

	leased, sick, discarded, detached, gone bool
}

// idle reports whether the keeper has the object, and neither a user nor a function uses it.
func (o *thing) idle() bool {
	return o.activity == none && !o.leased && !o.detached && !o.gone
}

// fate is how long a call of a function takes, and how it ends.
type fate struct {
	lasts  time.Duration
	ending ending
	heeds  bool // its context: it fails as soon as that is done
}

type ending uint8

const (
	well ending = iota
	fails
	panics
	exits
)

// books are what is known of all objects and users.
type books struct {
	config reuse.KeeperConfig[*thing]
	begin  time.Time

	mu     sync.Mutex
	fates  []fate
	calls  int // of functions of the keeper
	things []*thing
	asking []*asker // unanswered, in the order in which they came
	passed []pass
	era    int
	closed bool
	wrong  error // the first thing that must not be

	begun     int // calls of Open
	places    int
	thrown    int // panics that OnPanic has not got yet
	want      reuse.KeeperStats
	failed    time.Duration // when Open, begun for no user, has failed
	succeeded time.Duration // when it has not; if both at once, it is not known which came first
	trouble   int           // how often that was in a row
	straggle  bool          // of one of these it is not certain, or several were under way at once
}

var (
	errFate = errors.New("as it was fated")
	errLeft = errors.New("the user has left")
)

type askerKey struct{}

func (b *books) now() time.Duration { return time.Since(b.begin) }

// mustNot notes what must not be.
func (b *books) mustNot(format string, args ...any) {
	if b.wrong == nil {
		b.wrong = fmt.Errorf("at %v: "+format, append([]any{b.now()}, args...)...)
	}
}

// enter begins a call of a function with an object.
func (b *books) enter(ctx context.Context, o *thing, a activity) fate {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.fates[b.calls%len(b.fates)]
	b.calls++
	f.lasts += time.Duration(1 + rand.New(rand.NewPCG(1, uint64(b.calls))).IntN(1_000_000)) // hardly any two things happen at once
	if o.leased || o.activity != none || o.gone || o.detached {
		b.mustNot("%v of object %d, which is %+v", a, o.number, *o)
	}
	o.activity = a
	o.asker, _ = ctx.Value(askerKey{}).(*asker)
	now := b.now()
	switch a {
	case opening:
		b.begun++
		b.things = append(b.things, o)
		b.openable(o)
	case checking:
		if now-o.proved < b.config.CheckAfter {
			b.mustNot("Check of object %d, which was good at %v", o.number, o.proved)
		}
	case beating:
		if now-o.proved < b.config.HeartbeatEvery {
			b.mustNot("Heartbeat of object %d, which was good at %v", o.number, o.proved)
		}
	case closing:
		b.closable(o)
	}
	if n := b.existing(); n > b.config.Capacity {
		b.mustNot("%d objects, the capacity is %d", n, b.config.Capacity)
	}
	return f
}

// openable checks that the keeper may open an object that no user waits for.
func (b *books) openable(o *thing) {
	if o.asker == nil && b.trouble > 0 && !b.straggle && b.succeeded != b.failed && b.now() < b.nextTry() {
		b.mustNot("Open for no user, although it has failed %d times, and last at %v", b.trouble, b.failed)
	}
	if b.closed {
		b.mustNot("Open after Close")
	}
}

// closable checks that there is a reason to close an object, and counts it.
func (b *books) closable(o *thing) {
	now, c := b.now(), &b.config
	old := c.Lifetime > 0 && now-o.opened >= c.Lifetime-c.Lifetime/10
	lazy := c.IdleTimeout > 0 && now-o.used >= c.IdleTimeout && b.count(none) >= c.MinIdle
	switch {
	case o.sick:
		b.want.Unhealthy++
	case o.discarded, o.era != b.era, b.closed:
	case old || lazy:
		b.want.Expired++
	default:
		b.mustNot("object %d is closed: %+v", o.number, *o)
	}
}

// leave ends a call: by its fate, after that was noted.
func (b *books) leave(ctx context.Context, o *thing, a activity, f fate) (err error) {
	f.last(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	current := o.era == b.era && !b.closed
	if ended := ctx.Err() != nil; a != closing && (ended == current || o.era == b.era && ended && !errors.Is(context.Cause(ctx), reuse.ErrClosed)) {
		b.mustNot("the context of %v: %v; closed: %t, era %d of %d", a, context.Cause(ctx), b.closed, o.era, b.era)
	}
	o.activity = none
	switch {
	case a == closing:
		o.gone = true
		b.want.Closed++
	case f.ending == well:
		o.proved, o.rested, o.checked = now, now, a != beating
		if a == opening {
			b.place(o)
			o.opened, o.used = now, now
			b.want.Opened++
			if o.era == b.era {
				b.trouble, b.succeeded = 0, now
			}
		}
	case a == opening:
		o.gone = true
		b.want.Failed++
		b.unopened(o)
	default:
		o.sick = current // else it has failed too late to matter
	}
	told := current && o.asker != nil && o.asker.unanswered() && (a == opening || a == checking && f.ending == panics)
	if told && f.ending != well {
		o.asker.fate = f.ending // this user must get that outcome
	}
	switch f.ending {
	case fails:
		err = errFate
	case panics:
		b.thrown++
		panic(errFate)
	case exits:
		runtime.Goexit()
	case well:
	}
	return err
}

// last waits until the call ends.
func (f *fate) last(ctx context.Context) {
	if !f.heeds {
		time.Sleep(f.lasts)
	} else if !check.Sleep(ctx, f.lasts) {
		f.ending = fails
	}
}

// place notes that no other object was used later than this one.
func (b *books) place(o *thing) {
	b.places++
	o.order = b.places
}

// unopened notes that Open has failed, perhaps for no user: a user that waits may have taken over a call that
// was begun for no user, or one that was begun for a user that has left.
func (b *books) unopened(o *thing) {
	if o.asker != nil && o.asker.unanswered() || o.era != b.era {
		return
	}
	certain := o.asker == nil && len(b.asking) == 0
	b.straggle = b.trouble > 0 && (b.straggle || b.now() < b.nextTry()) || !certain
	b.failed = b.now()
	b.trouble++
}

// nextTry is when the keeper calls Open for no user again, after it has failed.
func (b *books) nextTry() time.Duration {
	return b.failed + min(100*time.Millisecond<<min(b.trouble-1, 16), time.Minute)
}

// open, check, beat and shut are the functions of the keeper.

func (b *books) open(ctx context.Context) (*thing, error) {
	b.mu.Lock()
	o := &thing{number: len(b.things), era: b.era}
	b.mu.Unlock()
	f := b.enter(ctx, o, opening)
	if err := b.leave(ctx, o, opening, f); err != nil {
		return nil, err
	}
	return o, nil
}

func (b *books) check(ctx context.Context, o *thing) error {
	return b.leave(ctx, o, checking, b.enter(ctx, o, checking))
}

func (b *books) beat(ctx context.Context, o *thing) error {
	return b.leave(ctx, o, beating, b.enter(ctx, o, beating))
}

func (b *books) shut(o *thing) {
	ctx := context.Background() // Close has none
	_ = b.leave(ctx, o, closing, b.enter(ctx, o, closing))
}

// reported is OnPanic.
func (b *books) reported(*weir.Panic) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.thrown--; b.thrown < 0 {
		b.mustNot("a panic was reported twice")
	}
}

// number is how many objects are such.
func (b *books) number(such func(o *thing) bool) (n int) {
	for _, o := range b.things {
		if such(o) {
			n++
		}
	}
	return n
}

// existing is how many objects there are.
func (b *books) existing() int {
	return b.number(func(o *thing) bool { return !o.gone && !o.detached })
}

// count is how many objects are in some activity; of those in none, how many are idle.
func (b *books) count(a activity) int {
	return b.number(func(o *thing) bool { return o.activity == a && (a != none || o.idle()) })
}

// granted notes that a user has got an object.
func (b *books) granted(o *thing) {
	now := b.now()
	switch {
	case !o.idle():
		b.mustNot("object %d was leased: %+v", o.number, *o)
	case o.sick || o.discarded || o.era != b.era || b.closed:
		b.mustNot("object %d, of no more use, was leased: %+v", o.number, *o)
	case b.config.Check != nil && now-o.proved >= b.config.CheckAfter && now != o.proved:
		b.mustNot("object %d, last good at %v, was leased unchecked", o.number, o.proved)
	case b.config.Check != nil && b.config.CheckAfter == 0 && !o.checked:
		b.mustNot("object %d was leased after its use, or its heartbeat, without a check", o.number)
	case b.config.Lifetime > 0 && now-o.opened >= b.config.Lifetime:
		b.mustNot("object %d, opened at %v, was leased", o.number, o.opened)
	}
	o.leased = true
	b.want.Gets++
}
