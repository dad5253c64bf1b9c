package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/64ed045f/weir/cmd/weir/internal/sum"
	"github.com/64ed045f/weir/internal/program"
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
		Version:       program.Version(),
		Args:          mustName,
		SilenceErrors: true, // main reports them
		SilenceUsage:  true, // the whole help would bury the message
		RunE:          showHelp,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return &usageError{cmd, err} })
	root.SetVersionTemplate("weir {{.Version}}\n")
	root.AddCommand(newSumCommand(streams), newTopCommand(streams))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, own := range root.Commands() { // Cobra's own two take any name, and exit as if all were well
		switch own.Name() {
		case "help":
			own.Args = func(cmd *cobra.Command, args []string) error {
				found, left, err := root.Find(args)
				if err != nil || len(left) > 0 {
					return mustName(found, append(left, args...))
				}
				return nil
			}
		case "completion":
			own.Args, own.RunE = mustName, showHelp
		}
	}
	return root
}

func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// mustName refuses arguments of a command that has only commands: none of these has that name.
func mustName(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &usageError{cmd, noCommand(cmd, args[0])}
	}
	return nil
}

// noCommand returns an error that suggests the command that the user may have meant.
func noCommand(of *cobra.Command, name string) error {
	for of.SuggestionsMinimumDistance = range 3 { // the nearest first: Cobra's list is in alphabetical order
		if near := of.SuggestionsFor(name); len(near) > 0 {
			return fmt.Errorf("there is no command %q; did you mean %q?", name, near[0])
		}
	}
	return fmt.Errorf("there is no command %q", name)
}
