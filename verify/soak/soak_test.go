package soak_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/internal/plant"
	"github.com/64ed045f/weir/verify/internal/rounds"
)

var (
	length   = flag.Duration("soak.for", 0, "how long to run; each checker gets an equal share under each setting; 0 stands for a trial of one")
	seed     = flag.Uint64("soak.seed", 1+rand.Uint64N(1<<40), "the first of each checker; what the scheduler does is not among the choices")
	patience = flag.Duration("soak.patience", time.Minute, "after how long without any progress a checker hangs")
	race     = flag.Bool("soak.race", false, "add the setting race, which builds with the race detector")
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// checkers are the folders of this module that take part, each with one of the tests.
var (
	checkers = []string{"history", "hostile", "programs", "worlds"}
	tests    = "^Test(EveryHistoryIs|OfManyRequestsAtOnce|ProgramsEndAs|EachWorldComes)"
)

// setting is a way to run them.
type setting struct {
	name  string
	env   []string
	build []string // the environment of go test, if it needs programs of its own
}

var settings = []setting{
	{name: "plain"},
	{name: "procs8", env: []string{"GOMAXPROCS=8", rounds.SpinEnv + "=2"}}, // and goroutines that compute without a pause
	{name: "procs64", env: []string{"GOMAXPROCS=64", rounds.SpinEnv + "=2"}},
	{name: "procs1", env: []string{"GOMAXPROCS=1"}},
	{name: "gogc1", env: []string{"GOGC=1"}}, // the collector runs all the time
	{name: "memory", env: []string{"GOMEMLIMIT=32MiB"}},
	{name: "nopreempt", env: []string{"GODEBUG=asyncpreemptoff=1"}},
	{name: "386", build: []string{"GOARCH=386", "CGO_ENABLED=0"}},
	{name: "race", build: []string{"GOFLAGS=" + os.Getenv("GOFLAGS") + " -race", "CGO_ENABLED=1"}, env: []string{"GORACE=halt_on_error=1"}},
}

func TestSoak(t *testing.T) {
	share := *length / time.Duration(len(settings)*len(checkers))
	settings, checkers := settings, checkers
	if *length == 0 {
		share, settings, checkers = 100*time.Millisecond, settings[:1], checkers[:1]
	}
	dir := t.TempDir()
	for _, s := range settings {
		t.Run(s.name, func(t *testing.T) {
			if s.name == "race" && !*race || s.name == "386" && runtime.GOOS+"/"+runtime.GOARCH != "linux/amd64" {
				t.Skip("without -soak.race, or on another system")
			}
			for _, c := range checkers {
				t.Run(c, func(t *testing.T) {
					text, err := s.run(t.Context(), dir, c, share)
					if err != nil {
						t.Errorf("BROKEN: %v; it began at -soak.seed %d\n%s", err, *seed, text)
					}
					for line := range strings.Lines(text) {
						if _, said, ok := strings.Cut(line, "_test.go:"); ok {
							t.Log(strings.TrimSpace(said))
						}
					}
				})
			}
		})
	}
}

// run runs the test of a folder under the setting, from a program in dir, and returns what it has said.
func (s *setting) run(ctx context.Context, dir, folder string, share time.Duration) (string, error) {
	program := filepath.Join(dir, folder)
	if s.build != nil {
		program += "-" + s.name
	}
	if _, err := os.Stat(program); err != nil {
		build := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-o", program, "../"+folder)
		build.Env = append(os.Environ(), s.build...)
		if text, err := build.CombinedOutput(); err != nil {
			return string(text), fmt.Errorf("it cannot be built: %w", err)
		}
	}
	const overrun = 5 * time.Minute // of a slow machine
	ctx, cancel := context.WithTimeout(ctx, share+overrun)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-test.v", "-test.timeout=0", "-test.run="+tests, fmt.Sprintf("-%s.for=%v", folder, share),
		fmt.Sprintf("-%s.seed=%d", folder, *seed), fmt.Sprintf("-%s.patience=%v", folder, *patience))
	cmd.Dir, cmd.Env = filepath.Join("..", folder), append(os.Environ(), s.env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) } // it prints its stacks
	cmd.WaitDelay = 10 * time.Second
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	err := errors.Join(cmd.Run(), context.Cause(ctx))
	return text.String(), err
}

// The soak mostly finds these within a second, or by losing its patience.
func TestSoakFindsPlantedBugs(t *testing.T) {
	check.NeedsProofs(t, plant.Needs)
	sources, err := plant.Sources(plant.All())
	check.Must(t, err)
	t.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" -overlay="+plant.Overlay(t, sources))
	dir := t.TempDir()
	*patience = 4 * time.Second
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
			text, err := settings[0].run(t.Context(), dir, find.checker, time.Minute)
			if err == nil || !regexp.MustCompile(find.breach).MatchString(text) {
				t.Errorf("it was not found, or by something else: %v\n%s", err, text)
			}
		})
	}
}
