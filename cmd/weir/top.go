package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/64ed045f/weir/cmd/weir/internal/sum"
)

// topName is the program that is weir top. It is another program so that this one needs few modules.
const topName = "weir-top"

var errNoTop = errors.New(`the program weir-top is neither next to weir nor in PATH. To install it:
  go install github.com/64ed045f/weir/cmd/weir-top@latest`)

// newTopCommand returns the command weir top, which leaves all of its arguments to the other program.
func newTopCommand(streams sum.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "top [flags] URL",
		Short: "Show the pools of a running program, as top shows processes",
		Long: `Show the pools of a running Go program in the terminal, as top shows processes.
It is the program weir-top, next to weir or in PATH. To install it:

  go install github.com/64ed045f/weir/cmd/weir-top@latest`,
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := topPath()
			if err != nil {
				return err
			}
			return become(path, append([]string{topName}, args...), streams)
		},
	}
}

// topPath returns where weir-top is.
func topPath() (string, error) {
	if self, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), topName)); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath(topName)
	if err != nil {
		return "", errNoTop
	}
	return path, nil
}

// become makes this process the other program. Where the system can't do that, it runs the program, and ends with its exit status: the console
// sends Ctrl-C to both, and this process waits for what the other one makes of it.
func become(path string, args []string, streams sum.Streams) error {
	signal.Reset() // the other program would inherit what is ignored
	if runtime.GOOS != "windows" {
		return fmt.Errorf("%s: %w", path, syscall.Exec(path, args, os.Environ()))
	}
	signal.Ignore(os.Interrupt)
	cmd := exec.Cmd{Path: path, Args: args, Stdin: streams.In, Stdout: streams.Out, Stderr: streams.Err}
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(exit.ExitCode())
	}
	return err
}
