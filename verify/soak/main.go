// Command soak runs the checkers that draw what they do on the real scheduler, one after the other, under each of some
// odd settings, for as long as -for says in all. Each makes rounds from one seed on, with books of its own, and fails
// also if the process holds more and more.
//
//	go run ./verify/soak -for 10m           every checker under every setting but race
//	go run ./verify/soak -list              what there is
//	go run ./verify/soak -for 1m -checkers programs,history -settings plain,gogc1
//
// Its exit status is 1 if a promise was broken; what the checker says is printed then. With -race it also runs under the
// race detector.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/64ed045f/weir/verify/internal/rounds"
)

// checkers are the test of each folder of this module that takes part.
var checkers = map[string]string{
	"programs": "TestProgramsEndAsOnPlainGoroutines",
	"worlds":   "TestEachWorldComesToRestWithAllItsPlaces",
	"history":  "TestEveryHistoryIsThatOfASequentialPool",
	"hostile":  "TestOfManyRequestsAtOnceEachIsServedOrRefusedOnce",
}

// setting is a way to run them.
type setting struct {
	name, about string
	env         []string
	build       []string // the environment of go test, if it needs programs of its own
}

const raceSetting = "race"

var settings = []setting{
	{name: "plain", about: "nothing special"},
	{name: "procs8", about: "GOMAXPROCS=8, and goroutines that compute without a pause", env: []string{"GOMAXPROCS=8", rounds.SpinEnv + "=2"}},
	{name: "procs64", about: "GOMAXPROCS=64, and goroutines that compute without a pause", env: []string{"GOMAXPROCS=64", rounds.SpinEnv + "=2"}},
	{name: "procs1", about: "GOMAXPROCS=1", env: []string{"GOMAXPROCS=1"}},
	{name: "gogc1", about: "GOGC=1: the collector runs all the time", env: []string{"GOGC=1"}},
	{name: "memory", about: "GOMEMLIMIT=32MiB", env: []string{"GOMEMLIMIT=32MiB"}},
	{name: "nopreempt", about: "GODEBUG=asyncpreemptoff=1", env: []string{"GODEBUG=asyncpreemptoff=1"}},
	{name: "386", about: "a 32-bit program, on linux/amd64", build: []string{"GOARCH=386", "CGO_ENABLED=0"}},
	{
		name: raceSetting, about: "with the race detector; only with -race, or by name",
		build: []string{"GOFLAGS=" + os.Getenv("GOFLAGS") + " -race", "CGO_ENABLED=1"}, env: []string{"GORACE=halt_on_error=1"},
	},
}

// soak is the command line.
type soak struct {
	length   time.Duration
	patience time.Duration
	seed     uint64
	checkers []string
	settings []string
	list     bool
	root     string // of this module
	dir      string // of the programs
	out      io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		say(os.Stderr, "soak: %v\n", err)
		os.Exit(1)
	}
}

// run is the whole command.
func run(ctx context.Context, args []string, out io.Writer) (err error) {
	_, file, _, _ := runtime.Caller(0)
	s := soak{out: out, root: filepath.Dir(filepath.Dir(file))}
	if err := s.parse(args); err != nil || s.list {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "soak"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	share := s.length / time.Duration(len(s.settings)*len(s.checkers))
	for _, setting := range settings {
		if !slices.Contains(s.settings, setting.name) {
			continue
		}
		if setting.name == "386" && runtime.GOOS+"/"+runtime.GOARCH != "linux/amd64" {
			say(out, "setting 386 is left out on %s/%s\n", runtime.GOOS, runtime.GOARCH)
			continue
		}
		for _, checker := range s.checkers {
			begin := time.Now()
			text, err := s.check(ctx, checker, setting, share)
			if err != nil {
				return fmt.Errorf("%s\nBROKEN under %s: %s: %w; to try again: go run ./verify/soak -for %v -seed %d -settings %s -checkers %[3]s",
					text, setting.name, checker, err, share, s.seed, setting.name)
			}
			say(out, "%s: %s, %v: %s\n", setting.name, checker, time.Since(begin).Round(time.Second), summary(text))
		}
	}
	say(out, "no breach in seed %d\n", s.seed)
	return nil
}

// parse reads the command line.
func (s *soak) parse(args []string) error {
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.SetOutput(s.out)
	flags.DurationVar(&s.length, "for", 10*time.Minute, "how long to run; each checker gets an equal share under each setting")
	flags.DurationVar(&s.patience, "patience", time.Minute, "after how long without any progress a checker hangs")
	flags.Uint64Var(&s.seed, "seed", rand.Uint64N(1<<40), "the first of each checker; what the scheduler does is not among the choices")
	flags.BoolVar(&s.list, "list", false, "list checkers and settings")
	race := flags.Bool("race", false, "add the setting race, which builds with the race detector")
	only := flags.String("checkers", "", "only these checkers, separated by commas")
	under := flags.String("settings", "", "only these settings, separated by commas")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var all []string
	for name := range checkers {
		all = append(all, name)
	}
	slices.Sort(all)
	var every []string
	for _, setting := range settings {
		if s.list {
			say(s.out, "setting %s: %s\n", setting.name, setting.about)
		}
		every = append(every, setting.name)
	}
	if s.list {
		say(s.out, "checkers %s\n", strings.Join(all, ", "))
	}
	s.checkers, s.settings = all, slices.DeleteFunc(slices.Clone(every), func(name string) bool { return name == raceSetting && !*race })
	if *only != "" {
		s.checkers = strings.Split(*only, ",")
	}
	if *under != "" {
		s.settings = strings.Split(*under, ",")
	}
	unknown := slices.ContainsFunc(s.checkers, func(name string) bool { return !slices.Contains(all, name) }) ||
		slices.ContainsFunc(s.settings, func(name string) bool { return !slices.Contains(every, name) })
	if unknown || flags.NArg() > 0 || s.length <= 0 {
		return fmt.Errorf("cannot run %q: -help says what there is, -list names checkers and settings", args)
	}
	return nil
}

// check runs one checker under a setting, and returns what it has said.
func (s *soak) check(ctx context.Context, checker string, under setting, share time.Duration) (string, error) {
	program := filepath.Join(s.dir, checker)
	if under.build != nil {
		program += "-" + under.name
	}
	if _, err := os.Stat(program); err != nil {
		build := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-o", program, "./"+checker)
		build.Dir, build.Env = s.root, append(os.Environ(), under.build...)
		if text, err := build.CombinedOutput(); err != nil {
			return string(text), fmt.Errorf("it cannot be built: %w", err)
		}
	}
	const overrun = 5 * time.Minute // of a slow machine
	limited, cancel := context.WithTimeout(ctx, share+overrun)
	defer cancel()
	cmd := exec.CommandContext(limited, program, "-test.v", "-test.timeout=0", "-test.run=^"+checkers[checker]+"$",
		"-"+checker+".for="+share.String(), fmt.Sprintf("-%s.seed=%d", checker, max(s.seed, 1)), fmt.Sprintf("-%s.patience=%v", checker, s.patience))
	cmd.Dir, cmd.Env = filepath.Join(s.root, checker), append(os.Environ(), under.env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) } // it prints its stacks
	cmd.WaitDelay = 10 * time.Second
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	err := errors.Join(cmd.Run(), context.Cause(limited))
	return text.String(), err
}

// summary is what a test has logged, without the places.
func summary(text string) string {
	var all []string
	for line := range strings.Lines(text) {
		if _, said, ok := strings.Cut(line, "_test.go:"); ok {
			_, what, _ := strings.Cut(strings.TrimSpace(said), " ")
			all = append(all, what)
		}
	}
	return strings.Join(all, "; ")
}

// say prints for people. It ignores errors: there is nowhere left to report them.
func say(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }
