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

// topName is the program behind weir top. It is a program of its own, so that weir depends on few modules.
const topName = "weir-top"

var errNoTop = errors.New(`the program weir-top is neither next to weir nor in PATH. To install it:
  go install github.com/64ed045f/weir/cmd/weir-top@latest`)

// newTopCommand returns the command weir top, which passes all of its arguments to the other program.
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

// topPath returns the path of weir-top.
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

// become makes this process the other program. On systems without exec it runs the program, and ends with the
// program's exit status. There the console sends Ctrl-C to both processes, and this one waits until the other
// has handled it.
func become(path string, args []string, streams sum.Streams) error {
	signal.Reset() // the other program would inherit the ignored signals
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
