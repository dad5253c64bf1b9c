package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/64ed045f/weir/cmd/weir/internal/sum"
)

// A usageError is a mistake in the command line.
type usageError struct {
	command *cobra.Command
	err     error
}

func (e *usageError) Error() string {
	return fmt.Sprintf("%v\nTry '%s --help' for more information.", e.err, e.command.CommandPath())
}

func (e *usageError) Unwrap() error { return e.err }

// newCommand returns the command tree of the tool.
func newCommand(streams sum.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "weir",
		Short: "Work on many files at once, with bounds on goroutines and memory",
		Long: `Weir works on many files at once, with bounds on goroutines and memory.
It is the command-line tool of the Go library github.com/64ed045f/weir.`,
		Example: `  weir sum                       MD5 of every file below the current directory
  weir sum -a sha256 dir > sums  SHA-256 of every file below dir
  weir sum -a sha256 -c sums     is every file as it was?`,
		Version: version(),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{cmd, noCommand(cmd, args[0])}
			}
			return nil
		},
		SilenceErrors: true, // main reports them
		SilenceUsage:  true, // the whole help would bury the message
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return &usageError{cmd, err} })
	root.SetVersionTemplate("weir {{.Version}}\n")
	root.AddCommand(newSumCommand(streams), newTopCommand(streams))
	return root
}

// version describes this build: the version of the module, the commit if it was built in a checkout, and the
// Go release.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	text := info.Main.Version
	if text == "" {
		text = "(devel)"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			text += " " + s.Value
		}
	}
	return fmt.Sprintf("%s %s", text, info.GoVersion)
}

// noCommand returns an error that suggests the command that the user may have meant.
func noCommand(root *cobra.Command, name string) error {
	root.SuggestionsMinimumDistance = 2
	if near := root.SuggestionsFor(name); len(near) > 0 {
		return fmt.Errorf("there is no command %q; did you mean %q?", name, near[0])
	}
	return fmt.Errorf("there is no command %q", name)
}
