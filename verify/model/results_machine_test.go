package model_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/model"
)

// resultsMachine takes random steps on a group's results.
type resultsMachine struct {
	*world
	group  *weir.Group
	lib    *weir.Results[int]
	model  *model.Results
	taking *taking // nil while no goroutine takes the results
}

// taking is a use of the results, on a goroutine of its own.
type taking struct {
	way   string
	call  *call
	group *model.Call // of Wait for the group, which every way is
	none  bool        // there is nothing to take

	got    []model.Result // by a loop, under world.mu
	values []int          // by Wait
	winner int            // by First
}

func checkResults(t *rapid.T) {
	m := &resultsMachine{world: newWorld(t)}
	m.step = "the beginning"
	m.pool = &model.Pool{
		Limit:       between(t, 1, 4, "limit"),
		Queue:       weir.Unbounded, // how Go waits is for the machine of groups
		MaxWaiting:  math.MaxInt,
		IdleTimeout: time.Hour,
	}
	p := weir.New(m.pool.Limit, weir.Queue(m.pool.Queue), weir.IdleTimeout(time.Hour), weir.OnPanic(m.recordPanic))
	g := m.pool.NewGroup(nil, nil)
	m.group = p.Group(context.Background(), drawOptions(t, g)...)
	m.lib, m.model = weir.NewResults[int](m.group), &model.Results{Group: g}
	defer m.end(p.Close)
	steps(t, []action{
		{"go", 12, m.goTask},
		{"end", 12, m.endTask},
		{"take", 4, m.take},
		{"cancel", 1, m.cancel},
	}, m.look)
	m.finish(t)
}

func (m *resultsMachine) finish(t *rapid.T) {
	for able := m.able(); len(able) > 0; able = m.able() {
		m.step = fmt.Sprintf("the last order for task %d", able[0].model.ID)
		m.endMember(nil, able[0], true, m.note)
		m.look()
	}
	if m.taking == nil && m.model.Used() {
		m.take(t)
		m.look()
	}
	m.allOver()
}

func (m *resultsMachine) goTask(*rapid.T) {
	k := m.newTask()
	m.step = fmt.Sprintf("Go of task %d", k.model.ID)
	m.call(m.step, m.model.Go(k.model), func(*call) error {
		m.lib.Go(func(ctx context.Context) (int, error) { return k.model.ID + 1, k.member(ctx) })
		return nil
	})
}

func (m *resultsMachine) endTask(t *rapid.T) {
	k := pick(t, m.able(), "task that runs")
	m.endMember(t, k, false, m.note)
}

// note tells the model with what a task is about to end. A panic that comes out of Wait has no result.
func (m *resultsMachine) note(k *task, err error, returns bool) {
	var p *weir.Panic
	switch {
	case returns:
		m.model.Return(k.model, k.model.ID+1, err)
	case !errors.As(err, &p) || m.model.Group.PanicsAsErrors:
		m.model.Fail(k.model, err)
	}
}

func (m *resultsMachine) cancel(*rapid.T) {
	m.step = "Cancel"
	m.model.Group.Cancel(nil)
	m.group.Cancel(nil)
}

// take begins to take the results in one of the ways.
func (m *resultsMachine) take(t *rapid.T) {
	if m.taking != nil {
		notNow()
	}
	use := &taking{way: "Wait", none: !m.model.Used()}
	if !use.none {
		use.way = oneOf(t, []string{"Wait", "All", "Ordered", "First"}, "way")
	}
	use.group = m.model.Group.Wait()
	m.taking, m.step = use, use.way
	if use.way != "Wait" {
		m.model.Begin()
	}
	use.call = m.call(use.way, &model.Call{}, func(*call) error { return m.use(use) })
	use.call.wraps = true
}

// use takes the results.
func (m *resultsMachine) use(use *taking) (err error) {
	note := func(value int, err error) bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		use.got = append(use.got, model.Result{Value: value, Err: err})
		return true
	}
	switch use.way {
	case "Wait":
		use.values, err = m.lib.Wait()
	case "All":
		m.lib.All()(note)
	case "Ordered":
		m.lib.Ordered()(note)
	default:
		use.winner, err = m.lib.First()
	}
	return err
}

// look brings the world to rest, and compares it with the model; also what the taker has got.
func (m *resultsMachine) look() {
	use := m.taking
	if use == nil {
		m.rest()
		return
	}
	winner, won := m.model.Winner()
	if use.way == "First" && won {
		synctest.Wait()
		if next := m.pool.Next(); next != nil && m.chosen(next) {
			m.pool.Settle(m.chosen) // the winner's worker was faster than First
		}
		m.model.Group.Cancel(nil)
	}
	m.settle()
	want := use.call.model
	want.Done, want.Panic = use.group.Done, use.group.Panic
	if use.way == "Wait" || use.way == "First" && !won {
		want.Err = use.group.Err
	}
	m.agree()
	m.mu.Lock()
	defer m.mu.Unlock()
	returned := use.call.done && use.call.value == nil
	switch use.way {
	case "Wait":
		var values []int
		if !use.none {
			values = m.model.Values()
		}
		if returned && !slices.Equal(use.values, values) {
			m.fail("Wait has returned the values %v, want %v", use.values, values)
		}
	case "First":
		if returned && use.winner != winner {
			m.fail("First has returned %d, want %d", use.winner, winner)
		}
	case "All":
		m.compare(use, m.model.All(), returned)
	case "Ordered":
		m.compare(use, m.model.Ordered(), returned)
	}
	if use.call.done {
		m.taking = nil
	}
}

// compare compares what a loop has got with what it must have got.
func (m *resultsMachine) compare(use *taking, want []model.Result, returned bool) {
	if returned {
		if rest := m.model.Rest(want, use.group.Err); rest != nil {
			want = append(want, model.Result{Err: rest})
		}
	}
	if !slices.EqualFunc(use.got, want, func(got, want model.Result) bool {
		return got.Value == want.Value && alike(got.Err, want.Err)
	}) {
		m.fail("the loop over %s has got %v, want %v", use.way, use.got, want)
	}
}
