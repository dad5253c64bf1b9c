package weir_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// waitsInOther waits for a task of another pool, which ends when v is open.
func waitsInOther(v *check.Valve) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		g := weir.NewGroup(ctx, 1)
		g.Go(v.Member)
		return g.Wait()
	}
}

// elsewhere makes a task of p wait for another pool. Its stack is not that of its worker: it is at no line.
func elsewhere(t *testing.T, p *weir.Pool, v *check.Valve) {
	go func() { check.OK(t, p.Do(t.Context(), waitsInOther(v))) }()
	synctest.Wait()
}

func TestLintsOfLanesRatesAndBlocking(t *testing.T) {
	const d = time.Minute
	for _, test := range []struct {
		name string
		rate *weir.RateLimit // nil for none
		run  func(t *testing.T, p, lane *weir.Pool, k *weir.Keyed[string], v *check.Valve)
		want string // of the pool, the lane and the Keyed
	}{
		{"tasks wait for tokens, and one runs", weir.Rate(1, time.Hour, 5), func(t *testing.T, p, _ *weir.Pool, _ *weir.Keyed[string], v *check.Valve) {
			check.OK(t, p.Submit(v.Hold))
			for range 5 {
				check.OK(t, p.Submit(nothing))
			}
		}, "; ; "},
		{"tasks wait for tokens, and one waits", weir.Rate(1, time.Hour, 5), func(t *testing.T, p, _ *weir.Pool, _ *weir.Keyed[string], v *check.Valve) {
			elsewhere(t, p, v)
			for range 5 {
				check.OK(t, p.Submit(nothing))
			}
		}, "; ; "},
		{"tasks of keys wait for tokens, and one runs", weir.Rate(1, time.Hour, 5), func(t *testing.T, _, _ *weir.Pool, k *weir.Keyed[string], v *check.Valve) {
			check.OK(t, k.Submit("a", v.Hold))
			synctest.Wait()
			for range 5 {
				check.OK(t, k.Submit("b", nothing))
			}
		}, "; ; "},
		{"tasks wait for tokens, and the pool is paused", weir.Rate(1, time.Hour, 5), func(t *testing.T, p, _ *weir.Pool, _ *weir.Keyed[string], _ *check.Valve) {
			for range 5 {
				check.OK(t, p.Submit(nothing))
			}
			synctest.Wait()
			p.Pause()
		}, "stuck; ; "},
		{"all are in Blocking", nil, func(t *testing.T, p, _ *weir.Pool, _ *weir.Keyed[string], v *check.Valve) {
			for range 5 {
				check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
					weir.Blocking(ctx, v.Hold)
					return nil
				}))
			}
		}, "; ; "},
		{"one has the other place and waits, with a goroutine in Blocking", nil, func(t *testing.T, p, _ *weir.Pool, _ *weir.Keyed[string], v *check.Valve) {
			elsewhere(t, p, v)
			check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
				var other sync.WaitGroup
				defer other.Wait()
				other.Go(func() {
					time.Sleep(time.Second) // the task waits already, and keeps its place
					weir.Blocking(ctx, v.Hold)
				})
				return waitsInOther(v)(ctx)
			}))
			check.OK(t, p.Submit(nothing))
		}, "stuck; ; "},
		{"the lane waits for a place that others have", nil, func(t *testing.T, p, lane *weir.Pool, _ *weir.Keyed[string], v *check.Valve) {
			check.OK(t, lane.Go(t.Context(), func(ctx context.Context) error {
				weir.Blocking(ctx, v.Hold)
				return nil
			}))
			synctest.Wait()
			first := p.Lane(2, weir.Priority(1))
			for range 1000 {
				check.OK(t, first.Submit(func() { time.Sleep(time.Second) }))
			}
			check.OK(t, lane.Submit(nothing))
		}, "; ; "},
		{"the pool is paused, and the task is the lane's", nil, func(t *testing.T, p, lane *weir.Pool, _ *weir.Keyed[string], _ *check.Valve) {
			p.Pause()
			check.OK(t, lane.Submit(nothing))
		}, "stuck; stuck; "},
		{"the pool is paused, and the task is a key's", nil, func(t *testing.T, p, _ *weir.Pool, k *weir.Keyed[string], _ *check.Valve) {
			p.Pause()
			check.OK(t, k.Submit("a", nothing))
		}, "stuck; ; stuck"},
		{"the lane is paused", nil, func(t *testing.T, p, lane *weir.Pool, _ *weir.Keyed[string], v *check.Valve) {
			lane.Pause()
			check.OK(t, lane.Submit(nothing))
		}, "; stuck; "},
		{"the tasks of a lane have all places, and wait", nil, func(t *testing.T, p, lane *weir.Pool, _ *weir.Keyed[string], v *check.Valve) {
			elsewhere(t, lane, v)
			elsewhere(t, lane, v)
			check.OK(t, p.Submit(nothing))
		}, "stuck; ; "},
		{"the tasks of the pool have all places, and wait", nil, func(t *testing.T, p, lane *weir.Pool, k *weir.Keyed[string], v *check.Valve) {
			elsewhere(t, p, v)
			elsewhere(t, p, v)
			check.OK(t, lane.Submit(nothing))
			check.OK(t, k.Submit("a", nothing))
		}, "stuck; stuck; stuck"},
		{"one place is free, and the lane's limit is used up", nil, func(t *testing.T, _, lane *weir.Pool, _ *weir.Keyed[string], v *check.Valve) {
			lane.Resize(1)
			elsewhere(t, lane, v)
			check.OK(t, lane.Submit(nothing))
		}, "; stuck; "},
		{"one place is free, and all keys wait", nil, func(t *testing.T, _, _ *weir.Pool, k *weir.Keyed[string], v *check.Valve) {
			check.OK(t, k.Go(t.Context(), "a", waitsInOther(v)))
			synctest.Wait()
			check.OK(t, k.Submit("a", nothing))
		}, "; ; stuck"},
		{"one key waits, and the tasks of another run", nil, func(t *testing.T, _, _ *weir.Pool, k *weir.Keyed[string], v *check.Valve) {
			check.OK(t, k.Go(t.Context(), "a", waitsInOther(v)))
			synctest.Wait()
			check.OK(t, k.Submit("a", nothing))
			for range 1000 {
				check.OK(t, k.Submit("b", func() { time.Sleep(time.Second) }))
			}
		}, "; ; "},
	} {
		check.Bubble(t, test.name, func(t *testing.T) {
			opts := []weir.Option{weir.Name("lints pool")}
			if test.rate != nil {
				opts = append(opts, test.rate)
			}
			p := weir.New(2, opts...)
			lane := p.Lane(2, weir.Name("lints lane"))
			k := weir.NewKeyed[string](p, 1)
			check.OK(t, p.Submit(nothing)) // so that it is listed
			check.OK(t, lane.Submit(nothing))
			check.OK(t, k.Submit("a", nothing))
			synctest.Wait()
			infos := make([]weir.PoolInfo, 3)
			for i := range weir.Pools() {
				switch {
				case i.Kind == "Keyed[string]" && i.Name == "lints pool":
					infos[2] = i
				case i.Name == "lints pool":
					infos[0] = i
				case i.Name == "lints lane":
					infos[1] = i
				}
			}
			look := func() string {
				return fmt.Sprintf("%s; %s; %s", rules(infos[0].Lints(d)), rules(infos[1].Lints(d)), rules(infos[2].Lints(d)))
			}
			check.Equal(t, "rules without tasks", look(), "; ; ")
			v := check.NewValve()
			test.run(t, p, lane, k, v)
			synctest.Wait()
			time.Sleep(3*time.Second + time.Second/2)
			_ = look() // the pools know from now on what runs
			time.Sleep(2 * d)
			check.Equal(t, "rules", look(), test.want)
			p.Resume()
			lane.Resume()
			v.Open()
			if test.rate != nil {
				test.rate.Set(1000, time.Second, 1000)
			}
			p.Close()
		})
	}
}
