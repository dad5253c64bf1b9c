package main

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/internal/plant"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestASoakSaysWhatEachCheckerHasDoneUnderEachSetting(t *testing.T) {
	var out bytes.Buffer
	check.Must(t, run(t.Context(), strings.Fields("-for 400ms -settings procs1,gogc1 -checkers history,hostile -seed 7"), &out))
	for _, want := range []string{"procs1: history", "procs1: hostile", "gogc1: history", "gogc1: hostile"} {
		if !regexp.MustCompile(want + `, \d+s: \d+ rounds from seed 7\n`).MatchString(out.String()) {
			t.Errorf("there is no line for %s:\n%s", want, &out)
		}
	}
}

func TestASoakCanBeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Error(t, run(ctx, []string{"-checkers", "history"}, io.Discard), context.Canceled)
}

func TestOptions(t *testing.T) {
	for args, want := range map[string]string{
		"-list":                      "programs",
		"--list":                     "procs64",
		"-for 0s":                    "",
		"-checkers history,nonsense": "",
		"-settings nonsense":         "",
		"nonsense":                   "",
	} {
		var out bytes.Buffer
		err := run(t.Context(), strings.Fields(args), &out)
		if (err == nil) != (want != "") || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %v, want %q\n%s", args, err, want, &out)
		}
	}
}

// The soak mostly finds these within a second, or by losing its patience.
func TestSoakFindsPlantedBugs(t *testing.T) {
	check.NeedsProofs(t, plant.Needs)
	sources, err := plant.Sources(slices.Concat(plant.LockFree(), plant.Read("soak")))
	check.Must(t, err)
	t.Setenv("GOFLAGS", "-overlay="+plant.Overlay(t, sources))
	for _, find := range []struct{ bug, checker, breach string }{
		{"cancelled-drops-grant", "history", "no sequential pool|was not accepted|a history hangs"},
		{"hand-over-overtakes", "history", "no sequential pool|the pool has counted"},
		{"resize-does-not-gate", "history", "no sequential pool"},
		{"permit-kept-at-rest", "history", "a history hangs"},
		{"lends-to-the-queue", "programs", "nothing has happened|beyond the limits"},
		{"probe-asks-no-worker", "programs", "a task has run since .* before it was given"},
		{"expires-early", "programs", "has expired after"},
		{"value-closed-late", "programs", "beyond the limits"},
	} {
		t.Run(find.bug, func(t *testing.T) {
			t.Setenv(plant.Env, find.bug)
			err := run(t.Context(), []string{"-for", "1m", "-settings", "plain", "-checkers", find.checker, "-patience", "4s"}, io.Discard)
			if err == nil {
				t.Fatal("it was not found")
			}
			if text := err.Error(); !strings.Contains(text, "BROKEN under plain: "+find.checker) || !regexp.MustCompile(find.breach).MatchString(text) {
				t.Errorf("found, but by something else: %s", text)
			}
		})
	}
}
