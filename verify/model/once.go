package model

import (
	"slices"
	"time"

	"github.com/64ed045f/weir"
)

// Once is the model of a [weir.Once] whose keys are numbers, and whose values are errors, like what its tasks fail with: a call ends with one or the
// other.
type Once struct {
	keep time.Duration
	pool *Pool
	runs []*run       // that have not ended
	now  map[int]*run // those that calls join
	kept map[int]kept
}

// run is a task that calls share.
type run struct {
	key     int
	task    *Task
	handed  *Call // hands it over
	callers []*Call
}

type kept struct {
	value error
	until time.Duration
}

// NewOnce makes a Once on p that keeps values for some time.
func (p *Pool) NewOnce(keep time.Duration) *Once {
	o := &Once{keep: keep, pool: p, now: map[int]*run{}, kept: map[int]kept{}}
	p.onces = append(p.onces, o)
	return o
}

// Do asks for the value of key, for which t runs if no task does.
func (o *Once) Do(ctx *Context, key int, t *Task) *Call {
	c := &Call{context: ctx}
	t.State = Rejected
	old, isKept := o.kept[key]
	switch r := o.now[key]; {
	case ctx.cause() != nil:
		c.end(ctx.Cause)
	case isKept && o.pool.Now < old.until:
		c.end(old.value)
	case r != nil:
		r.callers = append(r.callers, c)
	default:
		t.State = New
		r = &run{key: key, task: t, callers: []*Call{c}}
		o.now[key] = r
		o.runs = append(o.runs, r)
		r.handed = o.pool.Go(&Context{}, t)
	}
	return c
}

// Forget makes the next call for key begin anew.
func (o *Once) Forget(key int) {
	delete(o.now, key)
	delete(o.kept, key)
}

// Joined returns the key for which calls join t, and how many wait for it.
func (o *Once) Joined(t *Task) (key int, joins bool, callers int) {
	for _, r := range o.runs {
		if r.task == t {
			return r.key, o.now[r.key] == r, len(r.callers)
		}
	}
	return 0, false, 0
}

// End tells the callers of t, which is about to end, with what. It is to be kept if it is good.
func (o *Once) End(t *Task, outcome error, good bool) {
	for _, r := range o.runs {
		if r.task == t {
			if good && o.now[r.key] == r {
				o.kept[r.key] = kept{outcome, o.pool.Now + o.keep}
			}
			o.end(r, outcome)
			return
		}
	}
}

func (o *Once) end(r *run, outcome error) {
	for _, c := range r.callers {
		c.end(outcome)
	}
	o.drop(r)
}

// drop makes calls join r no more. It has ended, or none waits for it.
func (o *Once) drop(r *run) {
	o.runs = slices.DeleteFunc(o.runs, func(x *run) bool { return x == r })
	if o.now[r.key] == r {
		delete(o.now, r.key)
	}
}

// leave ends the calls whose context has ended. With the last one of a task that task's context ends.
func (o *Once) leave(ctx *Context) {
	for _, r := range slices.Clone(o.runs) {
		i := slices.IndexFunc(r.callers, func(c *Call) bool { return c.context == ctx })
		if i < 0 {
			continue
		}
		r.callers[i].end(ctx.Cause)
		if r.callers = slices.Delete(r.callers, i, i+1); len(r.callers) == 0 {
			o.drop(r)
			o.pool.Cancel(r.task.Context, ctx.Cause)
		}
	}
}

// over ends a run that was refused or handed back, and reports whether there is one.
func (o *Once) over() bool {
	for _, r := range o.runs {
		switch {
		case r.handed.Done && r.handed.Err != nil:
			o.end(r, r.handed.Err)
			return true
		case r.task.State == HandedBack:
			o.end(r, weir.ErrClosed)
			return true
		}
	}
	return false
}
