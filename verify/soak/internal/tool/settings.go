package tool

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// setting is a way to run the loads.
type setting struct {
	name  string
	about string
	env   []string
	spin  int // goroutines that compute meanwhile

	build    []string // arguments of go build, if it needs a program of its own
	buildEnv []string
	needs    func() string // says why it cannot run here, if so

	program string
}

const raceSetting = "race"

// allSettings returns the settings.
func allSettings() []setting {
	return []setting{
		{name: "plain", about: "nothing special"},
		{name: "procs8", about: "GOMAXPROCS=8, and goroutines that compute without a pause", env: []string{"GOMAXPROCS=8"}, spin: 2},
		{name: "procs64", about: "GOMAXPROCS=64, and goroutines that compute without a pause", env: []string{"GOMAXPROCS=64"}, spin: 2},
		{name: "procs1", about: "GOMAXPROCS=1", env: []string{"GOMAXPROCS=1"}},
		{name: "gogc1", about: "GOGC=1: the collector runs all the time", env: []string{"GOGC=1"}},
		{name: "memory", about: "GOMEMLIMIT=32MiB", env: []string{"GOMEMLIMIT=32MiB"}},
		{name: "nopreempt", about: "GODEBUG=asyncpreemptoff=1", env: []string{"GODEBUG=asyncpreemptoff=1"}},
		{
			name: "386", about: "a 32-bit program", build: []string{},
			buildEnv: []string{"GOARCH=386", "CGO_ENABLED=0"}, needs: needs32,
		},
		{
			name: raceSetting, about: "with the race detector; only with -race, or by name", build: []string{"-race"},
			buildEnv: []string{"CGO_ENABLED=1"}, env: []string{"GORACE=halt_on_error=1"},
		},
	}
}

func needs32() string {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return fmt.Sprintf("%s/%s does not run 32-bit programs of linux/386", runtime.GOOS, runtime.GOARCH)
	}
	return ""
}

// prepare builds the programs of the settings, and returns those that can run, and why others cannot.
func (o *options) prepare(ctx context.Context, dir string, stderr io.Writer) (ready []setting, skipped []string) {
	for _, s := range o.settings {
		why := ""
		if s.needs != nil {
			why = s.needs()
		}
		if why == "" {
			why = s.makeProgram(ctx, dir, stderr)
		}
		if why != "" {
			line := fmt.Sprintf("setting %s is skipped: %s", s.name, why)
			say(stderr, "soak: %s\n", line)
			skipped = append(skipped, line)
			continue
		}
		ready = append(ready, s)
	}
	return ready, skipped
}

// makeProgram finds or builds the program of a setting, or says why it cannot.
func (s *setting) makeProgram(ctx context.Context, dir string, stderr io.Writer) (why string) {
	if s.build == nil {
		var err error
		if s.program, err = os.Executable(); err != nil {
			return err.Error()
		}
		return ""
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		return "there is no go command to build it: " + err.Error()
	}
	s.program = filepath.Join(dir, s.name)
	args := append([]string{"build", "-o", s.program}, s.build...)
	cmd := exec.CommandContext(ctx, tool, append(args, "github.com/64ed045f/weir/verify/soak")...)
	cmd.Env = append(os.Environ(), s.buildEnv...)
	say(stderr, "soak: building for setting %s, which does not count\n", s.name)
	begin := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Sprintf("go build failed after %v: %v %s", time.Since(begin).Round(time.Second), err, strings.TrimSpace(string(out)))
	}
	return ""
}
