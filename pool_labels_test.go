package weir_test

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestPromise14WorkersHaveNoLabelsOfTheGoroutineThatStartedThem(t *testing.T) {
	labels("seen", func() { check.Equal(t, "goroutines labelled while the test is", labelled("request", "seen"), 1) })

	starts := map[string]func(p *weir.Pool, task func()){
		"Submit": func(p *weir.Pool, task func()) { labels("mine", func() { check.OK(t, p.Submit(task)) }) },
		"Resume": func(p *weir.Pool, task func()) {
			p.Pause()
			check.OK(t, p.Submit(task))
			labels("mine", p.Resume)
		},
		"Resize": func(p *weir.Pool, task func()) {
			v := check.NewValve()
			defer v.Open()
			p.Resize(1)
			check.OK(t, p.Submit(v.Hold))
			eventually(t, "the worker blocks", func() bool { return v.Running() == 1 })
			check.OK(t, p.Submit(task))
			labels("mine", func() { p.Resize(2) })
		},
		"after Goexit": func(p *weir.Pool, task func()) {
			p.Resize(1)
			labels("mine", func() {
				check.OK(t, p.Submit(runtime.Goexit))
				check.OK(t, p.Submit(task))
			})
		},
		"Group": func(p *weir.Pool, task func()) {
			labels("mine", func() {
				p.Group(context.Background()).Go(func(context.Context) error { task(); return nil })
			})
		},
		"Keyed": func(p *weir.Pool, task func()) {
			labels("mine", func() { check.OK(t, weir.NewKeyed[int](p, 1).Submit(1, task)) })
		},
		"reuse": func(p *weir.Pool, task func()) {
			labels("mine", func() {
				check.OK(t, p.Submit(nothing))
				p.Wait()
			})
			labels("other", func() { check.OK(t, p.Submit(task)) })
		},
	}
	for name, start := range starts {
		for _, named := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/named=%t", name, named), func(t *testing.T) {
				var opts []weir.Option
				workers := 0
				if named {
					opts, workers = append(opts, weir.Name("labelled")), 1
				}
				p := weir.New(4, opts...)
				v := check.NewValve()
				start(p, v.Hold)
				eventually(t, "the task runs", func() bool { return v.Running() == 1 })
				// A goroutine that has not yet had its first turn still has its starter's labels.
				if !check.Tries(1<<10, func() bool { return labelled("request", "mine")+labelled("request", "other") == 0 }) {
					t.Errorf("goroutines bear the starter's label:\n%s", check.Stacks())
				}
				eventually(t, "goroutines bear the pool's name as they should", func() bool { // those of the pool before are about to end
					n := labelled("weir", "labelled")
					return named && n >= workers || n == 0 && !named
				})
				v.Open()
				p.Close()
			})
		}
	}
	t.Run("Prestart", func(t *testing.T) {
		var p *weir.Pool
		labels("mine", func() { p = weir.New(4, weir.Prestart(4)) })
		eventually(t, "the workers rest", func() bool { return p.Stats().Idle == 4 })
		check.Equal(t, "goroutines that bear the starter's label", labelled("request", "mine"), 0)
		p.Close()
	})
}

func TestPromise14AWorkersOwnLabelOutlivesItsTasks(t *testing.T) {
	leave := func() {
		pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("request", "left")))
	}
	for name, task := range map[string]func(){
		"SetGoroutineLabels": leave,
		"Do":                 func() { labels("inner", nothing) },
		"panic":              func() { leave(); explode() },
		"Goexit":             func() { leave(); runtime.Goexit() },
	} {
		t.Run(name, func(t *testing.T) {
			p := weir.New(1, weir.Name("lasting"), weir.OnPanic(func(*weir.Panic) {}))
			v := check.NewValve()
			check.OK(t, p.Submit(task))
			check.OK(t, p.Submit(v.Hold))
			eventually(t, "the next task runs", func() bool { return v.Running() == 1 })
			workers := 1
			if check.Race {
				workers++ // and the goroutine of the task
			}
			eventually(t, "the worker has the pool's name, and not that of a task", func() bool {
				return labelled("weir", "lasting") == workers && labelled("request", "left") == 0
			})
			v.Open()
			check.OK(t, p.Submit(task))
			eventually(t, "a resting worker has the pool's name", func() bool {
				return p.Stats().Idle == 1 && labelled("weir", "lasting") == 1
			})
			p.Close()
		})
	}
	t.Run("without a name", func(t *testing.T) {
		p := weir.New(1)
		check.OK(t, p.Submit(leave))
		eventually(t, "a resting worker has no label", func() bool {
			return p.Stats().Idle == 1 && labelled("request", "left") == 0
		})
		p.Close()
	})
}

// labelled counts the goroutines that have a profiler label.
func labelled(key, value string) int {
	var profile strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		panic(err)
	}
	// "3 @ 0x… 0x…" begins a record of 3 goroutines, "# labels: {…}" may follow it.
	record := regexp.MustCompile(`(?m)^(\d+) @ .*\n# labels: \{(.*)\}$`)
	n := 0
	for _, match := range record.FindAllStringSubmatch(profile.String(), -1) {
		if strings.Contains(match[2], fmt.Sprintf("%q:%q", key, value)) {
			var count int
			if _, err := fmt.Sscan(match[1], &count); err != nil {
				panic(err)
			}
			n += count
		}
	}
	return n
}

// labels runs f as a request with an id that profiles show.
func labels(id string, f func()) {
	pprof.Do(context.Background(), pprof.Labels("request", id), func(context.Context) { f() })
}
