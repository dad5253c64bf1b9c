package peers_test

import (
	"bytes"
	"log"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// antsOptionCases are about how a pool is set up.
var antsOptionCases = []peers.Case{
	{
		Name: "ANegativeExpiryIsAMistake",
		Theirs: []string{
			"ants.TestRestCodeCoverage",
			"ants.TestMultiPool",
			"ants.TestMultiPoolWithFunc",
			"ants.TestMultiPoolWithFuncGeneric",
		},
		Behaviour: "A negative idle time is refused with an error when the pool is made, whatever the limit.",
		Different: "The option panics where it is written: no run of the program could put that right, so there is no error to look at for each pool.",
		Run: func(t *testing.T) {
			equal[any](t, "panic", caught(func() { weir.IdleTimeout(-1) }),
				"weir: idle timeout must be at least 0, got -1ns")
		},
	},
	{
		Name:      "AMissingFunctionIsAMistake",
		Theirs:    []string{"ants.TestRestCodeCoverage"},
		Behaviour: "A pool for one function is refused with an error if there is no function.",
		Different: "It panics at the call, like everything that can never be right.",
		Run: func(t *testing.T) {
			equal[any](t, "panic", caught(func() { weir.NewFunc[int](1, nil) }), "weir: function must not be nil, got nil")
			equal[any](t, "panic", caught(func() { weir.NewFunc[any](1, nil) }), "weir: function must not be nil, got nil")
		},
	},
	{
		Name:      "OptionsCanBeOneValue",
		Theirs:    []string{"ants.TestRestCodeCoverage"},
		Behaviour: "All settings may be given together as one value, and all of them are in force.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			settings := []weir.Option{weir.IdleTimeout(10 * time.Second), weir.Queue(0), weir.Prestart(1)}
			p := made(1, settings...)
			synctest.Wait()
			equal(t, "workers made beforehand", p.Stats().Workers, 1)
			release := antsOccupy(t, p, 1)
			isError(t, p.tryGive(func() {}), weir.ErrFull)
			release()
			time.Sleep(10*time.Second - 1)
			equal(t, "workers before the idle time is over", p.Stats().Workers, 1)
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			equal(t, "workers when it is over", p.Stats().Workers, 0)
			p.Close()
		}),
	},
	{
		Name:      "APoolCanReportToALoggerOfItsOwn",
		Theirs:    []string{"ants.TestRestCodeCoverage"},
		Behaviour: "What a pool has to report goes to the logger that it was given.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			var out bytes.Buffer
			logger := log.New(&out, "", 0)
			p := made(1, weir.Name("painter"), weir.OnPanic(func(p *weir.Panic) {
				logger.Printf("%s: %v", p.Pool, p)
			}))
			ok(t, p.give(func() { panic("no paint") }))
			p.Close()
			for _, want := range []string{"painter: ", "no paint", "ants_option_test.go"} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the report has no %q: %s", want, &out)
				}
			}
		}),
	},
}
