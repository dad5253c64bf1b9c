package peers_test

import (
	"bytes"
	"log"
	"log/slog"
	"strings"
	"testing"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// antsPanicCases are about tasks that panic.
var antsPanicCases = []peers.Case{
	{
		Name:      "AHandlerGetsEachPanic",
		Theirs:    []string{"ants.TestPanicHandler", "ants.TestPanicHandlerPreMalloc"},
		Behaviour: "The handler is called once for each task that panics, with what it panicked with, and afterwards nothing counts as running.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			for _, opts := range [][]weir.Option{{}, {weir.Prestart(1)}} {
				var values []any
				p := made(1, append(opts, weir.OnPanic(func(p *weir.Panic) { values = append(values, p.Value) }))...)
				ok(t, p.give(func() { panic("first") }))
				p.Wait()
				equal(t, "panics handled", len(values), 1)
				ok(t, p.give(func() { panic(errBoom) }))
				p.Wait()
				equal(t, "panics handled", len(values), 2)
				equal[any](t, "value", values[0], "first")
				equal[any](t, "value", values[1], errBoom)
				equal(t, "tasks that run", p.Stats().Running, 0)
				equal(t, "panics counted", p.Stats().Panicked, 2)

				ran := false
				ok(t, p.give(func() { ran = true }))
				p.Close()
				equal(t, "the only place is still there", ran, true)
			}
		}),
	},
	{
		Name:      "WithoutAHandlerTheProgramLivesOn",
		Theirs:    []string{"ants.TestPoolPanicWithoutHandler", "ants.TestPoolPanicWithoutHandlerPreMalloc"},
		Behaviour: "Without a handler a panic is logged, and neither the program nor the pool ends.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			out := antsLog(t)
			for _, opts := range [][]weir.Option{{}, {weir.Prestart(1)}} {
				out.Reset()
				p := made(1, opts...)
				ok(t, p.give(func() { panic("Oops!") }))
				ran := false
				ok(t, p.give(func() { ran = true }))
				p.Close()
				equal(t, "the next task ran", ran, true)
				for _, want := range []string{"Oops!", "ants_panic_test.go"} {
					if !strings.Contains(out.String(), want) {
						t.Errorf("the log has no %q: %s", want, out)
					}
				}
			}
		}),
	},
}

// antsLog makes the default logger write to the buffer that it returns, until the test ends.
func antsLog(t *testing.T) *bytes.Buffer {
	t.Helper()
	logger, out, flags := slog.Default(), log.Writer(), log.Flags()
	t.Cleanup(func() {
		slog.SetDefault(logger)
		log.SetOutput(out) // SetDefault turned it to slog, and never turns it back
		log.SetFlags(flags)
	})
	var buf bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&buf, nil)))
	return &buf
}
