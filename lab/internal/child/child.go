// Package child is what the lab does alike for each process that it starts.
package child

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Command makes the command that runs this very program anew, with other arguments. When ctx is
// done it is killed.
type Command func(ctx context.Context, args ...string) *exec.Cmd

// Itself is the Command of the lab and of its tests. No other signal that is meant for this process ends
// the other one.
func Itself(ctx context.Context, args ...string) *exec.Cmd {
	path, err := os.Executable()
	if err != nil {
		path = os.Args[0]
	}
	command := exec.CommandContext(ctx, path, args...)
	apart(command)
	return command
}

// Prepare sets the command's environment: this process's, unless it has one, without variables that
// change how Go's runtime works, as nothing in the results would show them; then its
// GOMAXPROCS, and more. Output that another process holds open will not make the lab wait.
func Prepare(cmd *exec.Cmd, procs int, more ...string) {
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = slices.DeleteFunc(cmd.Env, func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains([]string{"GOGC", "GOMEMLIMIT", "GODEBUG", "GOTRACEBACK"}, name)
	})
	cmd.Env = append(cmd.Env, "GOMAXPROCS="+strconv.Itoa(procs))
	cmd.Env = append(cmd.Env, more...)
	cmd.WaitDelay = time.Second
}

// FirstLine is the first line of what a process has written that says something.
func FirstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return "without a word"
}
