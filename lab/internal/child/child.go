// Package child has the common parts of all processes that the lab starts.
package child

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/64ed045f/weir/lab/internal/record"
)

// Itself makes a command that runs this same program again, with other arguments. When ctx is done, the process is killed; it
// gets no other signals that are meant for this process.
func Itself(ctx context.Context, args ...string) *exec.Cmd {
	path, err := os.Executable()
	if err != nil {
		path = os.Args[0]
	}
	command := exec.CommandContext(ctx, path, args...)
	Apart(command)
	return command
}

// Prepare sets the command's environment: that of this process, without the variables that change Go's runtime, because the
// results would not show them, and with GOMAXPROCS and more. If another process holds the output open, the lab does not wait
// for it.
func Prepare(cmd *exec.Cmd, procs int, more ...string) {
	cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains([]string{"GOGC", "GOMEMLIMIT", "GODEBUG", "GOTRACEBACK"}, name)
	})
	cmd.Env = append(cmd.Env, "GOMAXPROCS="+strconv.Itoa(procs))
	cmd.Env = append(cmd.Env, more...)
	cmd.WaitDelay = time.Second
}

// Results runs a command that writes results, and returns them. procs and more are those of [Prepare].
func Results(cmd *exec.Cmd, procs int, more ...string) ([]record.Result, error) {
	Prepare(cmd, procs, more...)
	var said, complained bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &complained
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, cmp.Or(Complaint(complained.String()), "without a word"))
	}
	f, err := record.Read(&said, "the measuring process")
	return f.Results, err
}

// Complaint returns the line in which the Go runtime says why it ended a process, or else the last line of its output that is not
// blank; "" if there is none.
func Complaint(output string) string {
	last := ""
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return line
		}
		last = cmp.Or(line, last)
	}
	return last
}
