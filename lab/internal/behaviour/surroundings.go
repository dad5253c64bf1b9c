package behaviour

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
)

// bubbles is scenario 19: it runs f in two bubbles, one after the other, in one process. f may report its
// next part.
func bubbles(f func(env Env, part func(name string)) error) func(Env) error {
	return func(env Env) error {
		os.Args = os.Args[:1] // package testing must not parse the arguments
		result := make(chan error)
		everything := func(string, string) (bool, error) { return true, nil }
		go testing.Main(everything, []testing.InternalTest{{Name: "bubbles", F: func(t *testing.T) {
			var failure error
			for _, name := range []string{"first", "second"} {
				part := func(text string) { env.Step("%s bubble, %s", name, text) }
				part("begin")
				t.Run(name, func(t *testing.T) {
					synctest.Test(t, func(*testing.T) {
						if err := f(env, part); err != nil {
							failure = errors.Join(failure, fmt.Errorf("%s bubble: %w", name, err))
						}
					})
				})
			}
			if t.Failed() && failure == nil {
				failure = errors.New("a test failed")
			}
			result <- failure
			select {} // otherwise Main would end the process
		}}}, nil, nil)
		return <-result
	}
}

// inBubbles is scenario 19 for a library that has only pools.
func inBubbles(open opener) func(Env) error {
	return bubbles(func(env Env, _ func(string)) error { return open.with(2, inBubble)(env) })
}

// inBubble runs in each bubble: more tasks than the limit of 2, which take time.
func inBubble(env Env, p pool) error {
	begin := time.Now()
	submit := p.submit
	p.submit = func(task func()) error {
		return submit(func() {
			time.Sleep(time.Second)
			task()
		})
	}
	if err := runAll(env, p); err != nil {
		return err
	}
	if took := time.Since(begin); took != 5*time.Second {
		return fmt.Errorf("10 tasks of 1s took %v at limit 2", took)
	}
	return nil
}

// goroutines is scenario 21, for the packages whose names begin with one of packages.
func goroutines(open opener, packages ...string) func(Env) error {
	return func(Env) error {
		byImport := goroutinesOf(packages)
		for range 10 {
			open(4)
		}
		byPools := goroutinesOf(packages) - byImport
		if byImport != 0 || byPools != 0 {
			return fmt.Errorf("%d goroutines by the import, %d by 10 pools", byImport, byPools)
		}
		return nil
	}
}

// goroutinesOf counts the goroutines that run a function of the packages, or were started by one. All
// libraries are linked into this program, so only stacks show whose goroutine it is.
func goroutinesOf(packages []string) int {
	n := 0
	for _, stack := range strings.Split(check.Stacks(), "\n\n")[1:] { // the first stack is the caller's
		if slices.ContainsFunc(packages, func(name string) bool { return strings.Contains(stack, name) }) {
			n++
		}
	}
	return n
}

// labels is scenario 23, for a limit of 1.
func labels(_ Env, p pool) error {
	request := func(name string, task func()) {
		pprof.Do(context.Background(), pprof.Labels("request", name), func(context.Context) {
			if err := p.submit(task); err != nil {
				panic(err)
			}
		})
	}
	first, second := newGate(), newGate()
	request("first", first.task)
	<-first.started
	go request("second", second.task)
	time.Sleep(settled) // the second task waits in the queue, or its submitter for room
	first.open()
	<-second.started
	defer second.open()
	var failure error
	gone := until(func() bool { // a goroutine of the first request may still be ending
		var profile bytes.Buffer
		failure = pprof.Lookup("goroutine").WriteTo(&profile, 1)
		return failure == nil && !strings.Contains(profile.String(), `"request":"first"`)
	})
	if !gone && failure == nil {
		failure = errors.New("the second request's task runs with the first one's label")
	}
	return failure
}
