package behaviour

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// reuse is a feature, for a limit of 4.
func reuse(env Env, p pool) error {
	const tasks = 200
	var mu sync.Mutex
	seen := make(map[string]bool)
	err := p.run(tasks, func() {
		time.Sleep(time.Millisecond)
		var buf [32]byte
		id := strings.Fields(string(buf[:runtime.Stack(buf[:], false)]))[1] // after "goroutine"
		mu.Lock()
		defer mu.Unlock()
		seen[id] = true
	})
	if err != nil {
		return err
	}
	if len(seen) > tasks/4 {
		return fmt.Errorf("%d goroutines for %d tasks", len(seen), tasks)
	}
	env.Note("%d goroutines for %d tasks", len(seen), tasks)
	return nil
}

// waits is a feature.
func waits(_ Env, p pool) error {
	var g gauge
	if err := p.run(100, g.task(time.Millisecond)); err != nil {
		return err
	}
	return count("tasks ended", g.ended.Load(), 100)
}

// resize is a feature, for a limit of 2.
func resize(_ Env, p pool) error {
	var g gauge
	var enough atomic.Bool
	backlog := make(chan struct{}, 16) // submissions go on all the time, even where they never wait
	task := func() {
		g.Enter()
		time.Sleep(2 * time.Millisecond)
		g.end()
		<-backlog
	}
	fed := make(chan error, 1)
	go func() {
		var err error
		for err == nil && !enough.Load() {
			backlog <- struct{}{}
			err = p.submit(task)
		}
		fed <- err
	}()
	holds := func(limit int64, when string) error {
		reached := until(func() bool { return g.Peak.Load() >= limit })
		time.Sleep(settled)
		if peak := g.Peak.Load(); !reached || peak > limit {
			return fmt.Errorf("%d tasks at once %s", peak, when)
		}
		return nil
	}
	err := func() error {
		defer enough.Store(true)
		if err := holds(2, "at first, limit 2"); err != nil {
			return err
		}
		p.resize(6)
		if err := holds(6, "after the limit was raised to 6"); err != nil {
			return err
		}
		p.resize(2)
		time.Sleep(settled) // the running tasks end
		ended := g.ended.Load()
		g.Peak.Store(0)
		time.Sleep(settled)
		if g.ended.Load() == ended {
			return errors.New("no task runs after the limit was lowered")
		}
		if peak := g.Peak.Load(); peak > 2 {
			return fmt.Errorf("%d tasks at once after the limit was lowered to 2", peak)
		}
		return nil
	}()
	return errors.Join(err, <-fed)
}
