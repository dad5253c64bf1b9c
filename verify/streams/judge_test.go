package streams_test

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/64ed045f/weir"
)

// judge says what was wrong with a stream, if anything.
func (r *run) judge() error {
	if err := cmp.Or(r.wrong, r.limits(), r.panicked()); err != nil {
		return err
	}
	if r.plan.unordered() {
		return r.unordered()
	}
	if err := r.ordered(); err != nil {
		return err
	}
	return r.onTime()
}

// limits checks how many calls ran at once, and how often.
func (r *run) limits() error {
	for i := range r.stages {
		s := &r.plan.stages[i]
		limit := s.limit
		if s.ahead > 0 {
			limit = min(limit, s.ahead)
		}
		if peak := r.stages[i].inside.Peak.Load(); peak > int64(limit) {
			return fmt.Errorf("%d calls of stage %d at once", peak, i)
		}
		for item := range r.stages[i].calls {
			if n := r.stages[i].calls[item].Load(); n > 1 {
				return fmt.Errorf("%d calls of stage %d for item %d", n, i, item)
			}
		}
	}
	if r.pool != nil {
		if peak := r.inPool.Peak.Load(); peak > int64(r.plan.pool.highest()) {
			return fmt.Errorf("%d tasks of the pool at once", peak)
		}
	}
	return nil
}

// panicked checks what the range statement, or the loop, has panicked with: what a call or
// the source has thrown comes out.
func (r *run) panicked() error {
	if r.outcome == nil {
		if len(r.thrown) > 0 {
			return fmt.Errorf("lost the panic of %v", r.thrown)
		}
		return nil
	}
	if r.outcome == any(errBody) {
		return nil
	}
	p, ok := r.outcome.(*weir.Panic)
	if !ok {
		return fmt.Errorf("panicked with %v", r.outcome)
	}
	for inner, ok := p.Value.(*weir.Panic); ok; inner, ok = p.Value.(*weir.Panic) { // of a stage before the last
		p = inner
	}
	if !slices.Contains(r.thrown, p.Value) {
		return fmt.Errorf("panicked with %v; thrown were %v", p.Value, r.thrown)
	}
	return nil
}

// refused reports whether err may come from the pool.
func (r *run) refused(err error) bool {
	p := r.plan.pool
	return p != nil && (p.closes() && errors.Is(err, weir.ErrClosed) || p.refusing && errors.Is(err, weir.ErrFull))
}

// ordered checks the results of a stream that keeps the order.
func (r *run) ordered() error {
	w := r.plan.want(false)
	got, ended := r.got, false
	if n := len(got); n > 0 && errors.Is(got[n-1].err, errEnded) {
		ended = true
		if last := got[n-1]; last.err != errEnded || last.value != nil { //nolint:errorlint // the cause itself is promised
			return fmt.Errorf("the cause came as %v", last)
		}
		if err := r.mayEnd(n-1, w); err != nil {
			return err
		}
		got = got[:n-1]
	}
	refused := false
	for i, h := range got {
		refused = r.refused(h.err)
		switch {
		case refused:
		case i >= len(w.entries):
			return fmt.Errorf("got %v, behind all that was wanted", h)
		case !w.entries[i].same(h):
			return fmt.Errorf("result %d is %v, must be %v", i, h, w.entries[i])
		}
	}
	if len(r.thrown) > 0 || ended || refused {
		return nil // it is not known how far it came
	}
	return r.complete(w)
}

// mayEnd checks that the cause of the context came when it should, as result n.
func (r *run) mayEnd(n int, w want) error {
	c := &r.plan.consumer
	switch {
	case c.leave == cancels && n == c.after:
	case r.plan.cancel < 0 && n == 0:
	case r.plan.cancel > 0 && r.got[n].at >= r.plan.cancel && (n == 0 || r.got[n-1].at <= r.plan.cancel):
	default:
		return fmt.Errorf("the cause came as result %d at %v", n, r.got[n].at)
	}
	if w.final && n >= len(w.entries) {
		return fmt.Errorf("the cause came behind the error that ended the stream")
	}
	return nil
}

// complete checks that a stream did not end too early, and that it learned of the end of its context.
func (r *run) complete(w want) error {
	c, n := &r.plan.consumer, len(r.got)
	switch c.leave {
	case breaks, throws:
		if n == c.after {
			return nil
		}
	case cancels:
		if n >= c.after && (!w.final || n < len(w.entries)) {
			return fmt.Errorf("the context was cancelled with result %d, and the stream ended after %d without its cause", c.after, n)
		}
	case stays:
	}
	if n < len(w.entries) || w.cut {
		return fmt.Errorf("the stream ended after %d results of %d", n, len(w.entries))
	}
	if r.plan.cancel == 0 || w.final {
		return nil
	}
	var last time.Duration
	if n > 0 {
		last = r.got[n-1].at + c.lasts[min(n, len(c.lasts)-1)]
	}
	if last > r.plan.cancel {
		return fmt.Errorf("the context ended at %v, and the stream did so at %v without its cause", r.plan.cancel, last)
	}
	return nil
}

var number = regexp.MustCompile(`^task \d+: `)

// unordered checks that results are neither made up nor handed over twice, and that none is missing.
func (r *run) unordered() error {
	text := func(s string) string {
		if len(r.plan.stages) == 1 {
			return s
		}
		return number.ReplaceAllString(s, "") // in what order they reach a later stage is open
	}
	left := map[string]int{}
	wants := r.plan.want(true)
	failing := r.plan.has(fails) || r.plan.has(exits)
	for _, e := range wants.entries {
		left[text(e.String())]++
		failing = failing || e.err != nil
	}
	ended := false
	for i, h := range r.got {
		switch {
		case errors.Is(h.err, errEnded) && i == len(r.got)-1:
			ended = true
			if err := r.mayEnd(i, want{}); err != nil {
				return err
			}
		case r.refused(h.err):
			ended = true
		case left[text(h.String())] == 0:
			return fmt.Errorf("%v is made up, or came twice", h)
		default:
			left[text(h.String())]--
		}
	}
	for _, s := range r.plan.stages {
		ended = ended || failing && !s.keepGoing
	}
	if ended || len(r.thrown) > 0 || r.plan.has(panics) {
		return nil
	}
	return r.complete(want{entries: wants.entries})
}

// onTime checks when the results came.
func (r *run) onTime() error {
	if !r.plan.timed() {
		return nil
	}
	c := newClock(r.plan)
	for i, h := range r.got {
		if errors.Is(h.err, errEnded) {
			break
		}
		if at := c.taken(len(r.plan.stages)-1, i); at != h.at {
			return fmt.Errorf("result %d, %v, came at %v, must come at %v", i, h, h.at, at)
		}
	}
	return nil
}

// String says what happened.
func (r *run) String() string {
	text := r.plan.String()
	for _, h := range r.got {
		text += fmt.Sprintf("%6v: %v\n", h.at, h)
	}
	return text + fmt.Sprintf("%6v: the end; thrown: %v\n", r.end, r.thrown)
}
