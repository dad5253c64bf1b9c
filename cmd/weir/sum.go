package main

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/64ed045f/weir/cmd/weir/internal/sum"
)

// newSumCommand returns the command weir sum.
func newSumCommand(streams sum.Streams) *cobra.Command {
	opts := sum.Options{Algorithm: "md5", Workers: runtime.GOMAXPROCS(0)}
	var lists []string
	cmd := &cobra.Command{
		Use:   "sum [flags] [PATH...]",
		Short: "Digest files in parallel, in the format of md5sum",
		Long: `Print the digest of every regular file at or below the PATHs (default: the
current directory), several files at a time, in the bytewise order of their
paths. The output is that of md5sum (sha1sum, …) to the byte:

  find PATH... -type f -print0 | LC_ALL=C sort -z | xargs -0r md5sum

Symbolic links are not followed, special files are left out, and a PATH of
"-" is the standard input. What can't be read gets a line on the standard
error, and the rest goes on. If the standard error is a terminal, a bar
there shows files, bytes, rate and time left, and a line at the end files,
bytes, time and rate.

With --check, compare files with a list that md5sum wrote, or weir sum, and
print and judge as md5sum -c does. BSD-style lists are understood as well. Of
--quiet, --status and --warn the last one counts.

With --json, each line is an object with path, algorithm, digest and size
(with --check also result: OK, FAILED or FAILED open or read). A path that
is not valid UTF-8 has U+FFFD for each wrong byte, and comes to the byte
as path_base64.

Exit status:
  0    everything was read, and is as the list says; also if the reader of
       the output stops early, except with --check
  1    something could not be read, or is not as the list says
  2    wrong usage
  130  stopped by Ctrl-C (143: by SIGTERM)`,
		Example: `  weir sum                            MD5 of every file below the current directory
  weir sum -a sha256 -j 4 a b > sums  SHA-256 of all below a and b, 4 files at a time
  weir sum -a sha256 --check sums     is every file as it was?
  weir sum --quiet --check sums       name only those that are not
  weir sum --json /etc | jq .path     for programs
  tar c dir | weir sum -              digest the standard input`,
		DisableFlagsInUseLine: true,
		PreRunE: func(cmd *cobra.Command, args []string) error {
			if err := validate(cmd, lists, args); err != nil {
				return &usageError{cmd, err}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(lists) > 0 {
				return sum.Check(cmd.Context(), opts, streams, lists[0])
			}
			if len(args) == 0 {
				args = []string{"."}
			}
			return sum.Digest(cmd.Context(), opts, streams, args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.VarP(&opts.Algorithm, "algorithm", "a", "one of "+strings.Join(sum.Algorithms(), ", "))
	flags.VarP((*count)(&opts.Workers), "jobs", "j", "read `N` files at once")
	flags.BoolVar(&opts.FailFast, "fail-fast", false, "end the output at its first failure, and cancel the rest")
	flags.BoolVar(&opts.JSON, "json", false, "print one JSON object a line")
	flags.StringArrayVarP(&lists, "check", "c", nil, "compare files with the list in `FILE` (\"-\": standard input)")
	for _, f := range []struct {
		value pflag.Value
		name  string
		usage string
	}{
		{&lastOf{&opts, &opts.Quiet}, "quiet", "with --check: don't print OK for each file"},
		{&lastOf{&opts, &opts.Status}, "status", "with --check: print nothing on stdout, the exit status tells"},
		{&lastOf{&opts, &opts.Warn}, "warn", "with --check: report each line that is not properly formatted"},
	} {
		flags.VarPF(f.value, f.name, "", f.usage).NoOptDefVal = "true"
	}
	flags.BoolVar(&opts.Strict, "strict", false, "with --check: fail at lines that are not properly formatted")
	return cmd
}

// validate refuses invalid combinations that the flag parser accepts.
func validate(cmd *cobra.Command, lists, args []string) error {
	if len(lists) > 0 {
		if len(lists) > 1 {
			return errors.New("--check may be given once")
		}
		if lists[0] == "" {
			return errors.New("--check needs the name of a list")
		}
		if len(args) > 0 && len(lists[0]) > 1 && lists[0][0] == '-' { // as in md5sum's -c --quiet FILE
			return fmt.Errorf("--check needs the name of a list right after it, got %q", lists[0])
		}
		if len(args) > 0 {
			return fmt.Errorf("--check takes its files from the list, got %q", args[0])
		}
		return nil
	}
	for _, name := range []string{"quiet", "status", "strict", "warn"} {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s is meaningful only with --check", name)
		}
	}
	return nil
}

// lastOf is one of --quiet, --status and --warn. Each of them undoes the others, as in coreutils. It
// implements pflag.Value.
type lastOf struct {
	all *sum.Options
	one *bool
}

// Set parses a bool.
func (l *lastOf) Set(text string) error {
	on, err := strconv.ParseBool(text)
	if err != nil {
		return errors.New("must be true or false")
	}
	if on {
		l.all.Quiet, l.all.Status, l.all.Warn = false, false, false
	}
	*l.one = on
	return nil
}

// String returns whether the flag is in effect.
func (l *lastOf) String() string { return strconv.FormatBool(l.one != nil && *l.one) }

// Type names the kind of value in the help text.
func (l *lastOf) Type() string { return "bool" }

// A count is a number of things, at least 1. It implements pflag.Value.
type count int

// Set parses a decimal number.
func (c *count) Set(text string) error {
	n, _ := strconv.Atoi(text) // n is 0 for no number, and the largest int for a larger number
	if n < 1 {
		return errors.New("must be a whole number, at least 1")
	}
	*c = count(n)
	return nil
}

// String returns the number.
func (c *count) String() string { return strconv.Itoa(int(*c)) }

// Type names the kind of value in the help text.
func (c *count) Type() string { return "count" }
