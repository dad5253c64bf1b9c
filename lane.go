package weir

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/64ed045f/weir/internal/engine"
)

// Lane returns a pool without workers of its own: its tasks run on the workers of p. At most limit of them
// run at once, and the tasks of p and all its lanes together never exceed the limit of p. The lane has its
// own queue, name, Stats, Pause, Wait and Close. It can be used wherever a pool can, and can have lanes
// itself.
//
// When places are scarce, lanes with a higher [Priority] come first, and lanes of equal priority get run time
// by their [Share]. Pausing p, lowering its limit and closing it also apply to its lanes. The package
// documentation says more, under Lanes.
//
// A lane takes all options except [IdleTimeout] and [Prestart], which are those of p. Of the others, only a
// [Rate] of p applies to a lane that has none. It need not be closed. If p is closed, so is the
// new lane. The option [On] makes a [FuncPool], a [FuncContext] or a [Stateful] a lane.
func (p *Pool) Lane(limit int, opts ...Option) *Pool {
	mustPool(p != nil)
	return newPool(limit, append(slices.Clip(opts), On(p)), caller(), nil)
}

// On makes the new pool a lane of p, see [Pool.Lane]. New, [NewFunc], [NewFuncContext] and [NewStateful] take
// it; NewGroup does not.
func On(p *Pool) Option {
	mustPool(p != nil)
	return laneOption("On", func(l *laneOptions) {
		must(l.of == nil, "pool of a lane must be given once", "two")
		l.of = p
	})
}

// Share sets the weight of a lane among the lanes of its priority that want a place: of two lanes with shares
// of 1 and 3, the first gets a quarter of the run time. Run time counts, not the number of tasks. The default
// is 1; n must be from 1 to 1<<20.
func Share(n int) Option {
	must(1 <= n && n <= engine.LargestShare, "share must be from 1 to 1<<20", n)
	return laneOption("Share", func(l *laneOptions) { l.Share = n })
}

// Priority sets which lanes of a pool come first: those with the highest n. While they have tasks and want a
// place, other lanes get none, unless those have [Aging]. Only tasks that return from [Blocking], and tasks
// that a running task waits for, come before them. The default is 0, which is also the priority of the pool's
// own queue. n must be from -1<<30 to 1<<30.
//
// A lane asks for one place at a time. So when several places become free at once, a lane of lower priority
// may get one of them. Use few different priorities: the cost grows with their number.
func Priority(n int) Option {
	must(-engine.HighestPriority <= n && n <= engine.HighestPriority, "priority must be from -1<<30 to 1<<30", n)
	return laneOption("Priority", func(l *laneOptions) { l.Priority = n })
}

// Aging raises the priority of a lane by 1 for each d that the lane waits for a place, up to the highest priority
// among the lanes of the pool. It waits since its oldest task was queued, or since the end of the task that it ran
// last, if that was later. Lanes that have risen to the highest priority come before those that always have it, the
// one that has waited longest first, but get at most every other place as long as lanes of their own priority or a
// higher one wait. So no lane with Aging starves, and none starves these. Each task of the lane is measured, as with [Measure] of 1.
func Aging(d time.Duration) Option {
	must(d > 0, "time of aging must be more than 0", d)
	return laneOption("Aging", func(l *laneOptions) { l.Aging = d })
}

// laneOptions are what a lane has in addition.
type laneOptions struct {
	engine.LaneConfig
	of    *Pool
	given string // the name of the option that was given last
	rests func() // called when the last worker of the lane has ended; nil for none

	reporter *reporter // used instead of a new one; nil for none
}

func laneOption(name string, set func(*laneOptions)) Option {
	return poolOption(func(o *options) {
		l := laneOptions{LaneConfig: engine.LaneConfig{Share: 1}}
		if o.lane != nil {
			l = *o.lane
		}
		l.given = name
		set(&l)
		o.lane = &l
	})
}

// mustBeLane checks that a lane has the options of a lane, and only a lane.
func (o *options) mustBeLane() {
	l := o.lane
	if l == nil {
		return
	}
	must(l.of != nil, "option must fit a pool that is no lane", l.given)
	if l.Aging > 0 {
		o.measure = 1
	}
}

// mustHaveNoLane is for what cannot be one.
func (o *options) mustHaveNoLane() {
	must(o.lane == nil, "option must be that of a pool", "On")
}

// init makes e a lane.
func (l *laneOptions) init(c *core, e *engine.Engine, config *engine.Config) {
	of := &l.of.core
	c.laneOf(of)
	c.turns.Within(&of.turns)
	l.LaneConfig.Rests = l.rests
	e.InitLane(of.running(), config, l.LaneConfig)
}

// laneOf makes c a lane of above. It is hidden from the race detector as runOn is.
//
//go:norace
func (c *core) laneOf(above *core) { c.above = above }

// laneOwner is a pool that may be a lane.
type laneOwner interface {
	base() *core
	// takeBack is Shutdown of a lane when ctx is done. Other tasks than functions are made functions. tells are as of Pool.shutdown.
	takeBack(ctx context.Context) (unrun, tells []func(), err error)
	// ends is that of core, for a lane that was closed with its pool.
	ends(done <-chan struct{}) bool
}

// lanes are those of a pool, in the order in which they were made.
func (c *core) lanes() iter.Seq[laneOwner] {
	return func(yield func(laneOwner) bool) {
		for _, r := range c.engine.Lanes() {
			if !yield(unwrap(r).(laneOwner)) {
				return
			}
		}
	}
}

// takeBackLanes takes back what the lanes of a pool have not started, whose Shutdown has returned err.
func (c *core) takeBackLanes(ctx context.Context, err error) (unrun, tells []func()) {
	if err == nil {
		return nil, nil
	}
	for l := range c.lanes() {
		more, tell, failure := l.takeBack(ctx)
		l.base().engine.Emptied()
		unrun = append(unrun, more...)
		tells = append(tells, tell...)
		if failure, ok := failure.(*ShutdownError); ok { //nolint:errorlint // it is that itself
			err.(*ShutdownError).Running += failure.Running //nolint:errorlint // as above
		}
	}
	return unrun, tells
}

// base implements laneOwner.
func (p *runner) base() *core { return &p.core }

// takeBack implements laneOwner.
func (p *runner) takeBack(ctx context.Context) (unrun, tells []func(), err error) {
	return (*Pool)(p).shutdown(ctx, goes.lost)
}

// ends implements laneOwner.
func (p *runner) ends(done <-chan struct{}) bool { return p.core.ends(done) }

// endTimers ends the timers of the pool and of its lanes. It returns those that are not due, ordered by time,
// and a channel for each of whose refused tasks some are not reported yet: it is closed when they are. reported is as for
// [timers.end].
func (p *Pool) endTimers(reported *chan struct{}) (undue []*Timer, told []<-chan struct{}) {
	if p.cut != nil {
		if t := p.cut.timersOr(noTimers); t != noTimers {
			of := (<-chan struct{})(nil)
			if undue, of = t.end(reported); of != nil {
				told = append(told, of)
			}
		}
	}
	parts := min(1, len(undue))
	for l := range p.core.lanes() {
		if r, ok := l.(*runner); ok {
			more, theirs := (*Pool)(r).endTimers(reported)
			undue, told = append(undue, more...), append(told, theirs...)
			parts += min(1, len(more))
		}
	}
	if parts > 1 {
		slices.SortStableFunc(undue, func(x, y *Timer) int { return x.dueAt().Compare(y.dueAt()) })
	}
	return undue, told
}

// awaitAll waits until all channels are closed, or done is.
func awaitAll(channels []<-chan struct{}, done <-chan struct{}) {
	for _, c := range channels {
		select {
		case <-c:
		case <-done:
			return
		}
	}
}

// base implements laneOwner.
func (p *funcRunner[T]) base() *core { return &p.core }

// takeBack implements laneOwner.
func (p *funcRunner[T]) takeBack(ctx context.Context) (unrun, tells []func(), err error) {
	args, err := (*FuncPool[T])(p).Shutdown(ctx)
	for _, arg := range args {
		unrun = append(unrun, func() { p.call(arg) })
	}
	return unrun, nil, err
}

// ends implements laneOwner.
func (p *funcRunner[T]) ends(done <-chan struct{}) bool { return p.core.ends(done) }

// base implements laneOwner.
func (p *statefulRunner[S, T]) base() *core { return &p.core }

// takeBack implements laneOwner.
func (p *statefulRunner[S, T]) takeBack(ctx context.Context) (unrun, tells []func(), err error) {
	own := (*Stateful[S, T])(p)
	args, err := own.Shutdown(ctx)
	for _, arg := range args {
		unrun = append(unrun, func() { own.useOnce(arg) })
	}
	return unrun, nil, err
}

// ends implements laneOwner.
func (p *statefulRunner[S, T]) ends(done <-chan struct{}) bool {
	return p.core.ends(done) && p.values.End(done)
}

// newLane returns a lane for of that calls rests when its last worker has ended, and has the handlers of its pool.
func (o options) newLane(rests func(), of any) *Pool {
	l := *o.lane
	l.rests, l.reporter = rests, &l.of.core.reporter
	o.lane = &l
	return o.newPool(0, of)
}

// forKeys is what all lanes of a Keyed have of the owner of their pool.
func (r reporter) forKeys() reporter {
	if r.hooks == nil {
		return r
	}
	h := &hooks{handlers: r.hooks.handlers, labels: r.hooks.labels, retry: r.hooks.retry, rate: r.hooks.rate}
	h.onSlow = nil
	return reporter{h}
}
