package weir

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/64ed045f/weir/internal/engine"
)

// Lane returns a pool that has no workers of its own: its tasks run on those of p, at most limit of them at once, and never more than the limit of
// p together with those of p and its other lanes. All else is its own: queue, name, Stats, Pause, Wait, Close. Whatever takes a pool takes a lane;
// a lane may have lanes.
//
// A lane hands a task over when p has a place for it. What waits in a lane takes no room in the queue of p, and no worker. When more is to
// be done than p has places for, the lanes and the queue of p share them: those of a higher [Priority] come first, and among equals each gets
// run time by its [Share]. The queue of p has priority 0 and share 1. A lane full of long tasks is not interrupted: another one gets the
// next place that is free.
//
// Pausing p, or lowering its limit, holds for its lanes. Closing p closes them: Close runs what they have accepted, and [Pool.Shutdown] returns that
// behind the tasks of p, lane by lane in the order in which they were made; an argument of a [FuncPool] as a function that calls the pool's with it,
// one of a [Stateful] likewise, with a value that is opened for it, while those of a [FuncContext] go to its [OnError]. Wait, Stats and Times of p do not count the tasks of its lanes, but
// Stats counts their workers. A task of a lane may wait for groups and futures of p and all its lanes, as one of p may.
//
// A lane takes all options but [IdleTimeout] and [Prestart]. It need not be closed. On a p that is closed it is closed. With [On] a FuncPool
// or Stateful is a lane.
func (p *Pool) Lane(limit int, opts ...Option) *Pool {
	mustPool(p != nil)
	return newPool(limit, append(slices.Clip(opts), On(p)), caller(), nil)
}

// On makes a pool a lane of p: see [Pool.Lane], which gives it itself. New, [NewFunc], [NewFuncContext] and [NewStateful] take it; NewGroup does not.
func On(p *Pool) Option {
	mustPool(p != nil)
	return laneOption("On", func(l *laneOptions) {
		must(l.of == nil, "pool of a lane must be given once", "two")
		l.of = p
	})
}

// Share sets for how much of the run time of its pool a lane is good, among those of its priority that want a place: with shares of 1 and 3
// one runs for a quarter of the time. It is run time that counts, not the number of tasks. The default is 1; it must be from 1 to 1<<20.
func Share(n int) Option {
	must(1 <= n && n <= engine.LargestShare, "share must be from 1 to 1<<20", n)
	return laneOption("Share", func(l *laneOptions) { l.Share = n })
}

// Priority sets which lanes of a pool come first: those with the highest one. As long as they have tasks and want a place, the others get none,
// unless [Aging] is set for these. Only tasks that come back from [Blocking], and those that a running task waits for, come before them. The default is 0, which is also that of
// the queue of the pool. A lane asks for one place after the other, so of several that become free at one moment another lane may get one before it. It must be from -1<<30 to 1<<30; lanes should have few different ones.
func Priority(n int) Option {
	must(-engine.HighestPriority <= n && n <= engine.HighestPriority, "priority must be from -1<<30 to 1<<30", n)
	return laneOption("Priority", func(l *laneOptions) { l.Priority = n })
}

// Aging raises the priority of a lane by 1 for each d that its oldest task has been queued, up to the highest one among the lanes of the pool. Those
// that have come up to that come before those that always have it, the one with the oldest task first. So none starves; and where the lanes
// of a low priority never catch up, they come first at last. Each task is measured then, as with [Measure] of 1.
func Aging(d time.Duration) Option {
	must(d > 0, "time of aging must be more than 0", d)
	return laneOption("Aging", func(l *laneOptions) { l.Aging = d })
}

// laneOptions are what a lane has in addition.
type laneOptions struct {
	engine.LaneConfig
	of    *Pool
	given string // one of the options
	rests func() // is called when the last worker of the lane has ended, if it is not nil

	reporter *reporter // in place of its own, if it is not nil
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
	must(l.of != nil, "option must be that of a lane", l.given)
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
	c.turns.Within(&of.turns)
	l.LaneConfig.Rests = l.rests
	e.InitLane(of.running(), config, l.LaneConfig)
}

// laneOwner is a pool that may be a lane.
type laneOwner interface {
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
		unrun = append(unrun, more...)
		tells = append(tells, tell...)
		if failure, ok := failure.(*ShutdownError); ok { //nolint:errorlint // it is that itself
			err.(*ShutdownError).Running += failure.Running //nolint:errorlint // as above
		}
	}
	return unrun, tells
}

// takeBack implements laneOwner.
func (p *runner) takeBack(ctx context.Context) (unrun, tells []func(), err error) {
	return (*Pool)(p).shutdown(ctx, goes.lost)
}

// ends implements laneOwner.
func (p *runner) ends(done <-chan struct{}) bool { return p.core.ends(done) }

// endTimers ends the timers of the pool and of its lanes, and returns those that are not due.
func (p *Pool) endTimers() (undue []*Timer) {
	if p.cut != nil {
		if t := p.cut.timersOr(noTimers); t != noTimers {
			undue = t.end()
		}
	}
	for l := range p.core.lanes() {
		if r, ok := l.(*runner); ok {
			undue = append(undue, (*Pool)(r).endTimers()...)
		}
	}
	return undue
}

// dropTimers ends them, and reports how many were not due.
func (p *Pool) dropTimers() {
	if n := len(p.endTimers()); n > 0 {
		p.core.reporter.aside(func() { p.core.reporter.fail(&TimersError{Dropped: n}, nil) })
	}
}

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
	return p.core.ends(done) && p.values.endKept(done)
}

// newLane returns a lane that calls rests when its last worker has ended, and has the handlers of its pool.
func (o options) newLane(rests func()) *Pool {
	l := *o.lane
	l.rests, l.reporter = rests, &l.of.core.reporter
	o.lane = &l
	return o.newPool(0, nil)
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
