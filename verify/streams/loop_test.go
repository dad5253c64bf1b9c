package streams_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/par"
)

// form is which loop it is.
type form uint8

const (
	each form = iota
	mapping
	filter
)

// loopPlan is a plan whose one stage is a loop.
type loopPlan struct {
	plan
	form form
}

func drawLoop(t *rapid.T) *loopPlan {
	wild := chance(t, 3, "wild")
	p := &loopPlan{form: form(rapid.IntRange(0, 2).Draw(t, "loop"))}
	p.source = drawSource(t, wild)
	if p.source.ends == exits { // would end the goroutine that calls the loop
		p.source.ends = well
	}
	p.stages = []stage{drawStage(t, len(p.source.delays), wild, false)}
	p.drawSurroundings(t)
	return p
}

// loopRun is one execution.
type loopRun struct {
	*run
	form    form
	results []int // of Map and Filter
	err     error
	fates   []fate          // by item
	pulls   []time.Duration // when the source was asked to go on
	pending atomic.Int64    // items that were given and whose calls have not ended
}

// fate is what has become of an item's call.
type fate struct {
	began, ended            time.Duration
	started, over, returned bool
	err                     error // that it has returned
}

func playLoop(p *loopPlan) *loopRun {
	r := &loopRun{run: newRun(&p.plan), form: p.form, fates: make([]fate, len(p.source.delays))}
	r.finish(func() {
		switch p.source.kind {
		case slice:
			loop(r, r.slice())
		case sequence:
			loop(r, r.counted)
		case channel:
			loop(r, r.channel())
		default:
			loop(r, par.Results(r.items))
		}
	})
	return r
}

func loop[S par.Source[[]int]](r *loopRun, from S) {
	opts, work := r.plan.stages[0].options(r.run), r.work(0)
	watched := func(ctx context.Context, item []int) error {
		f := &r.fates[item[0]] // the judge sees it if there is a second call
		f.began, f.started = r.now(), true
		defer func() {
			f.ended, f.over = r.now(), true
			r.pending.Add(-1)
		}()
		_, f.err = work(ctx, item)
		f.returned = true
		return f.err
	}
	switch r.form {
	case each:
		r.err = par.Each(r.ctx, from, watched, opts...)
	case mapping:
		r.results, r.err = par.Map(r.ctx, from, func(ctx context.Context, item []int) (int, error) {
			return 1 + item[0], watched(ctx, item)
		}, opts...)
	case filter:
		var kept [][]int
		kept, r.err = par.Filter(r.ctx, from, func(ctx context.Context, item []int) (bool, error) {
			return item[0]%3 > 0, watched(ctx, item)
		}, opts...)
		for _, item := range kept {
			r.results = append(r.results, 1+item[0])
		}
	}
}

// counted is the sequence, which sees how far it is read.
func (r *loopRun) counted(yield func([]int) bool) {
	for item := range r.sequence {
		// What the pool refuses is never called.
		if n := r.pending.Add(1); n > int64(r.plan.stages[0].limit)+1 && !r.mayRefuse() {
			r.mustNot("%d items were taken whose calls have not ended", n)
		}
		more := yield(item)
		r.pulls = append(r.pulls, r.now())
		if !more {
			return
		}
	}
}

func (r *loopRun) mayRefuse() bool {
	return r.plan.pool != nil && (r.plan.pool.closes() || r.plan.pool.refusing)
}

// judge says what was wrong with a loop, if anything.
func (r *loopRun) judge() error {
	if err := cmp.Or(r.wrong, r.limits()); err != nil {
		return err
	}
	if r.outcome == any("source") && slices.Contains(r.thrown, r.outcome) {
		return nil // the caller runs the sequence
	}
	if err := r.panicked(); err != nil || r.outcome != nil {
		return err
	}
	if err := r.rightResults(); err != nil {
		return err
	}
	if err := r.rightError(); err != nil {
		return err
	}
	return r.soon()
}

// rightResults checks what Map and Filter return: that of each call which has returned, also with an error, or without one.
func (r *loopRun) rightResults() error {
	var kept []int
	for i, f := range r.fates {
		if i%3 > 0 && f.returned && f.err == nil {
			kept = append(kept, 1+i)
		}
	}
	switch n := len(r.fates); {
	case r.form == filter && !slices.Equal(r.results, kept):
		return fmt.Errorf("kept %v, must be %v", r.results, kept)
	case r.form != mapping:
		return nil
	case (r.plan.source.kind == slice || r.err == nil) && len(r.results) != n:
		return fmt.Errorf("%d results of %d", len(r.results), n)
	}
	for i, result := range r.results {
		want := 0
		if r.fates[i].returned {
			want = 1 + i
		}
		if result != want {
			return fmt.Errorf("the result of item %d is %d", i, result)
		}
	}
	return nil
}

// failures are the errors that calls and the source have made, by item, and when.
func (r *loopRun) failures() (errs map[int]error, at map[int]time.Duration) {
	errs, at = map[int]error{}, map[int]time.Duration{}
	for i, f := range r.fates {
		switch {
		case r.plan.source.fails[i]:
			errs[i] = fmt.Errorf("source, item %d", i)
			continue // it is not known when it was read
		case f.err == error(callError{0, i}): //nolint:errorlint // not what is inside of another
			errs[i] = &weir.TaskError{Index: i, Err: f.err}
		case f.over && !f.returned && r.plan.stages[0].calls[i].ends == exits:
			errs[i] = &weir.TaskError{Index: i, Err: weir.ErrGoexit}
		default:
			continue
		}
		at[i] = f.ended
	}
	return errs, at
}

// depends reports whether an error depends on the moment: what the pool refused, in a call or to the loop,
// and what calls return that give up.
func (r *loopRun) depends(err error) bool { return r.refused(err) || errors.Is(err, errEnded) }

// rightError checks the error.
func (r *loopRun) rightError() error {
	errs, at := r.failures()
	if r.plan.stages[0].keepGoing {
		return r.joined(errs)
	}
	if r.err == nil {
		switch {
		case len(errs) > 0:
			return fmt.Errorf("no error, must be one of %v", errs)
		case r.plan.cancel < 0 || r.plan.cancel > 0 && r.end > r.plan.cancel:
			return errors.New("no error, but the context has ended")
		}
		return r.all()
	}
	if r.refused(r.err) {
		return nil
	}
	if r.err == errEnded { //nolint:errorlint // the cause itself is promised
		if r.plan.cancel == 0 {
			return errors.New("the cause of a context that has not ended")
		}
		for i, when := range at {
			if when < r.plan.cancel {
				return fmt.Errorf("item %d failed at %v, before the context ended", i, when)
			}
		}
		return nil
	}
	for i, err := range errs {
		if err.Error() != r.err.Error() {
			continue
		}
		for j, when := range at {
			if mine, ok := at[i]; ok && when < mine {
				return fmt.Errorf("the error of item %d, but item %d failed before", i, j)
			}
		}
		if mine, ok := at[i]; ok && r.plan.cancel != 0 && mine > r.plan.cancel {
			return fmt.Errorf("the error of item %d at %v, but the context ended before", i, mine)
		}
		return nil
	}
	return fmt.Errorf("the error %w is made up", r.err)
}

// joined checks the error of a loop that keeps going: all that failed, in the order of the items.
func (r *loopRun) joined(errs map[int]error) error {
	var want []string
	for i := range r.plan.source.fails {
		if err, ok := errs[i]; ok {
			want = append(want, err.Error())
		}
	}
	var got []string
	switch err := r.err.(type) { //nolint:errorlint // the join itself is promised
	case nil:
	case interface{ Unwrap() []error }:
		for _, err := range err.Unwrap() {
			if !r.depends(err) {
				got = append(got, err.Error())
			}
		}
	default:
		if !r.depends(err) {
			got = append(got, err.Error())
		}
	}
	exact := r.plan.cancel == 0 && !r.mayRefuse()
	if exact && !slices.Equal(got, want) {
		return fmt.Errorf("the errors are\n%s\nmust be\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, text := range got {
		if !slices.Contains(want, text) {
			return fmt.Errorf("the error %q is made up", text)
		}
	}
	if r.err == nil && r.plan.cancel < 0 {
		return errors.New("no error, but the context has ended")
	}
	if r.err == nil || exact {
		return r.all()
	}
	return nil
}

// all checks that no item was left out.
func (r *loopRun) all() error {
	for i, f := range r.fates {
		if !f.over && !r.plan.source.fails[i] {
			return fmt.Errorf("item %d was left out", i)
		}
	}
	return nil
}

// soon checks that no call begins after the first error, or the end of the context.
func (r *loopRun) soon() error {
	stop := time.Duration(1 << 62)
	if r.plan.cancel != 0 {
		stop = max(0, r.plan.cancel)
	}
	if !r.plan.stages[0].keepGoing {
		_, at := r.failures()
		for _, when := range at {
			stop = min(stop, when)
		}
	}
	for i, f := range r.fates {
		if f.started && f.began > stop {
			return fmt.Errorf("item %d began at %v, all ended at %v", i, f.began, stop)
		}
	}
	late := 0
	for _, when := range r.pulls {
		if when > stop {
			late++
		}
	}
	if late > 1 {
		return fmt.Errorf("the source gave %d items after %v, when all ended", late, stop)
	}
	return nil
}

func (r *loopRun) String() string {
	return fmt.Sprintf("loop %d %v%v: returned %v, %v; thrown %v", r.form, r.plan, r.end, r.results, r.err, r.thrown)
}

func TestLoopsAreWhatLoopsAre(t *testing.T) { rapid.Check(t, checkLoop) }

func FuzzLoop(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkLoop)) }

func checkLoop(t *rapid.T) {
	p := drawLoop(t)
	var r *loopRun
	rapid.SyncTest(t, func(*rapid.T) {
		r = playLoop(p)
		runtime.KeepAlive(r)
	})
	if err := r.judge(); err != nil {
		t.Fatalf("%v\n%v", err, r)
	}
}
