package weir_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// fate is what a task of the model does.
type fate int

const (
	succeeds fate = iota
	fails
	panics
	exits
	fates
)

// model is a group whose tasks have random fates, and whose results are taken in
// one way or another while random things happen to it. A task returns its name,
// which is 1 or more, unless it panics or exits.
type model struct {
	t    *testing.T
	seed uint64
	dice *rand.Rand

	keepGoing, panicsAsErrors, oneGiver bool
	cancelled, shutDown                 bool // may be, at some time

	fates   []fate // of the task with the name i+1
	ran     []atomic.Int32
	running atomic.Int32
}

var errCancelled = errors.New("cancelled by the model")

// TestResultsAreWhatTheirModelSays compares what is said about tasks with what they did.
func TestResultsAreWhatTheirModelSays(t *testing.T) {
	ways := []struct {
		name string
		take func(*model, *weir.Results[int])
	}{
		{"Wait", (*model).wait},
		{"All", (*model).all},
		{"Ordered", (*model).ordered},
		{"First", (*model).first},
		{"break", (*model).leave},
	}
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			for seed := range uint64(check.Scale(150, 15)) {
				// Alone in a bubble, where a task that waits forever is a failure.
				synctest.Test(t, func(t *testing.T) {
					runModel(t, seed, way.take, func(n int) { time.Sleep(time.Duration(n) * time.Millisecond) })
				})
				check.Within(time.Minute, func() { runModel(t, seed, way.take, yield) })
			}
		})
	}
}

func runModel(t *testing.T, seed uint64, take func(*model, *weir.Results[int]), pause func(int)) {
	dice := rand.New(rand.NewPCG(seed, 0))
	coin := func() bool { return dice.IntN(2) == 0 }
	m := &model{
		t: t, seed: seed, dice: dice,
		keepGoing: coin(), panicsAsErrors: coin(), oneGiver: coin(),
		cancelled: dice.IntN(4) == 0, shutDown: dice.IntN(4) == 0,
		fates: make([]fate, dice.IntN(80)),
	}
	m.ran = make([]atomic.Int32, len(m.fates))
	trouble := coin()
	for i := range m.fates {
		if trouble && dice.IntN(10) == 0 {
			m.fates[i] = fate(dice.IntN(int(fates)))
		}
	}
	queue := []int{0, 1, 16, weir.Unbounded}[dice.IntN(4)]
	p := weir.New(1+dice.IntN(4), weir.Queue(queue), weir.OnPanic(func(*weir.Panic) {}))
	var opts []weir.GroupOption
	if m.keepGoing {
		opts = append(opts, weir.KeepGoing())
	}
	if m.panicsAsErrors {
		opts = append(opts, weir.PanicsAsErrors())
	}
	if coin() {
		opts = append(opts, weir.Limit(1+dice.IntN(3)))
	}
	g := p.Group(context.Background(), opts...)
	r := weir.NewResults[int](g)

	var giving, disturbing sync.WaitGroup
	givers := 3
	if m.oneGiver {
		givers = 1
	}
	length, turns := 1+dice.IntN(5), dice.IntN(60)
	for n := range givers {
		giving.Go(func() {
			for i := n; i < len(m.fates); i += givers {
				r.Go(m.task(i, func() { pause(i % length) }))
			}
		})
	}
	if m.cancelled {
		disturbing.Go(func() {
			pause(turns)
			g.Cancel(errCancelled)
		})
	}
	if m.shutDown {
		disturbing.Go(func() {
			pause(turns)
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			unrun, _ := p.Shutdown(ctx)
			check.Equal(t, "tasks handed back to others", len(unrun), 0)
		})
	}
	giving.Wait()
	take(m, r)
	check.Equal(t, fmt.Sprintf("seed %d: tasks that still run", seed), m.running.Load(), 0)
	disturbing.Wait()
	// Nothing of it is left.
	_ = check.Caught(func() { _ = g.Wait() }) // what a late Cancel has begun
	if !m.shutDown {
		r.Go(gives(1))
		values, err := r.Wait()
		check.OK(t, err)
		equalSlices(t, "values of the next batch", values, []int{1})
	}
	p.Close()
	for i := range m.ran {
		if n := m.ran[i].Load(); n > 1 {
			t.Errorf("seed %d: task %d ran %d times", seed, i, n)
		}
	}
}

func (m *model) task(i int, pause func()) func(context.Context) (int, error) {
	return func(context.Context) (int, error) {
		m.ran[i].Add(1)
		m.running.Add(1)
		defer m.running.Add(-1)
		pause()
		switch m.fates[i] {
		case fails:
			return i + 1, errBoom
		case panics:
			panic(errBoom)
		case exits:
			runtime.Goexit()
		}
		return i + 1, nil
	}
}

func (m *model) errorf(format string, args ...any) {
	m.t.Helper()
	m.t.Errorf("seed %d: %s", m.seed, fmt.Sprintf(format, args...))
}

// did counts the tasks of a fate that ran.
func (m *model) did(f fate) int {
	n := 0
	for i := range m.fates {
		if m.fates[i] == f && m.ran[i].Load() > 0 {
			n++
		}
	}
	return n
}

// panicked reports whether take panics, and checks that it does so for a reason.
func (m *model) panicked(take func()) bool {
	m.t.Helper()
	switch value := check.Caught(take).(type) {
	case nil:
		return false
	case *weir.Panic:
		if m.panicsAsErrors || m.did(panics) == 0 {
			m.errorf("panicked without a reason: %v", value)
		}
	default:
		m.errorf("panicked with %v", value)
	}
	return true
}

const unknown = -1

// allErrors checks that errs are what a group with KeepGoing must return. name returns the
// name that a failed task returned, by its number, or that it is unknown.
func (m *model) allErrors(errs []error, name func(number int) int) {
	m.t.Helper()
	var failed, panicked, exited, refused, cancelled int
	for _, err := range errs {
		failure, isFailure := errors.AsType[*weir.TaskError](err)
		_, isPanic := errors.AsType[*weir.Panic](err)
		switch {
		case !isFailure:
			if (!m.cancelled || !errors.Is(err, errCancelled)) && (!m.shutDown || !errors.Is(err, weir.ErrClosed)) {
				m.errorf("unexpected error %v", err)
			}
			cancelled++
		case isPanic:
			panicked++
		case errors.Is(err, weir.ErrGoexit):
			exited++
		case errors.Is(err, weir.ErrClosed) && m.shutDown:
			refused++
		case errors.Is(err, errBoom):
			failed++
			if i := name(failure.Index); i != unknown && (i < 1 || m.fates[i-1] != fails) {
				m.errorf("task %d is said to have failed", i-1)
			}
		default:
			m.errorf("unexpected error %v", err)
		}
	}
	if cancelled > 1 {
		m.errorf("the cause is there %d times", cancelled)
	}
	check.Equal(m.t, fmt.Sprintf("seed %d: failed", m.seed), failed, m.did(fails))
	check.Equal(m.t, fmt.Sprintf("seed %d: panicked", m.seed), panicked, m.did(panics))
	check.Equal(m.t, fmt.Sprintf("seed %d: exited", m.seed), exited, m.did(exits))
	ran := m.did(succeeds) + m.did(fails) + m.did(panics) + m.did(exits)
	if cancelled == 0 {
		check.Equal(m.t, fmt.Sprintf("seed %d: ran or refused", m.seed), ran+refused, len(m.fates))
	}
}

// firstError checks that err is what a group without KeepGoing must return.
func (m *model) firstError(err error) {
	m.t.Helper()
	wrong := m.did(fails) + m.did(exits) + m.did(panics)
	right := false
	switch {
	case err == nil:
		ran := m.did(succeeds)
		right = wrong == 0 && ran == len(m.fates)
	case errors.Is(err, errCancelled):
		right = m.cancelled
	case errors.Is(err, weir.ErrClosed):
		right = m.shutDown
	case errors.Is(err, weir.ErrGoexit):
		right = m.did(exits) > 0
	case errors.Is(err, errBoom):
		_, isPanic := errors.AsType[*weir.Panic](err)
		right = isPanic && m.did(panics) > 0 || !isPanic && m.did(fails) > 0
	}
	if !right {
		m.errorf("unexpected error %v", err)
	}
}
