package tool

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// setting is a way to run the loads.
type setting struct {
	name  string
	about string
	env   []string
	spin  int // goroutines that compute meanwhile

	build   []string // the environment of go build, if it needs a program of its own
	program string
}

const raceSetting = "race"

var allSettings = []setting{
	{name: "plain", about: "nothing special"},
	{name: "procs8", about: "GOMAXPROCS=8, and goroutines that compute without a pause", env: []string{"GOMAXPROCS=8"}, spin: 2},
	{name: "procs64", about: "GOMAXPROCS=64, and goroutines that compute without a pause", env: []string{"GOMAXPROCS=64"}, spin: 2},
	{name: "procs1", about: "GOMAXPROCS=1", env: []string{"GOMAXPROCS=1"}},
	{name: "gogc1", about: "GOGC=1: the collector runs all the time", env: []string{"GOGC=1"}},
	{name: "memory", about: "GOMEMLIMIT=32MiB", env: []string{"GOMEMLIMIT=32MiB"}},
	{name: "nopreempt", about: "GODEBUG=asyncpreemptoff=1", env: []string{"GODEBUG=asyncpreemptoff=1"}},
	{name: "386", about: "a 32-bit program, on linux/amd64", build: []string{"GOARCH=386", "CGO_ENABLED=0"}},
	{
		name: raceSetting, about: "with the race detector; only with -race, or by name",
		build: []string{"GOFLAGS=-race", "CGO_ENABLED=1"}, env: []string{"GORACE=halt_on_error=1"},
	},
}

// prepare builds the programs of the settings, and returns those that can run. It says why others cannot.
func (o *options) prepare(ctx context.Context, dir string, stderr io.Writer) (ready []setting) {
	for _, s := range o.settings {
		var err error
		var out []byte
		switch {
		case s.build == nil:
			s.program, err = os.Executable()
		case s.name == "386" && runtime.GOOS+"/"+runtime.GOARCH != "linux/amd64":
			say(stderr, "soak: setting 386 is skipped on %s/%s\n", runtime.GOOS, runtime.GOARCH)
			continue
		default:
			say(stderr, "soak: building for setting %s, which does not count\n", s.name)
			s.program = filepath.Join(dir, s.name)
			cmd := exec.CommandContext(ctx, "go", "build", "-o", s.program, "github.com/64ed045f/weir/verify/soak")
			cmd.Env = append(os.Environ(), s.build...)
			out, err = cmd.CombinedOutput()
		}
		if err != nil {
			say(stderr, "soak: setting %s is skipped, as it has no program: %v\n%s", s.name, err, out)
			continue
		}
		ready = append(ready, s)
	}
	return ready
}
