package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/64ed045f/weir/cmd/weir-top/internal/client"
	"github.com/64ed045f/weir/cmd/weir-top/internal/top"
	"github.com/64ed045f/weir/internal/program"
)

// A usageError is a mistake in the command line.
type usageError struct {
	command *cobra.Command
	err     error
}

func (e *usageError) Error() string { return e.err.Error() }

func (e *usageError) Unwrap() error { return e.err }

// options are the options of the command line.
type options struct {
	once, json        bool
	find              string
	interval, timeout time.Duration
	header            []string
}

func newCommand() *cobra.Command {
	opts := options{interval: time.Second, timeout: 10 * time.Second}
	cmd := &cobra.Command{
		Use:   "weir-top [flags] URL",
		Short: "Show the pools of a running program, as top shows processes",
		Long: `Show the pools of a running Go program in the terminal, as top shows processes:
how many tasks run and wait, how long they take, which mistakes the library
sees. Enter opens a pool, with the tasks that run and their stacks; o shows
the tasks of all pools that have run for longest, and t the tree of groups.
If the program allows changes, p pauses a pool, and +, - and l set its limit.
The last line of the terminal names the keys.

URL is that of the page that the program serves by package weirdebug of
github.com/64ed045f/weir, such as http://localhost:6060/debug/weir/. A user
and a password in it are for basic authentication. They, and the headers, go
to the URL's own host alone, and are never shown. Other users of this machine
may see the command line of a process.

Exit status:
  0    all went well
  1    the server could not be reached at the start, or refused to answer
  2    wrong usage
  130  stopped by SIGINT (143: by SIGTERM)`,
		Example: `  weir top localhost:6060/debug/weir/           watch the pools
  weir top --find mail URL                      only pools with mail in name, kind or place
  weir top --header 'Authorization: Bearer …' URL
  weir top --once URL                           print the pools, and end
  weir top --once --json URL | jq .pools        for programs`,
		Version:               program.Version(),
		DisableFlagsInUseLine: true,
		SilenceErrors:         true, // main reports them
		SilenceUsage:          true, // the whole help would bury the message
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &usageError{cmd, fmt.Errorf("there must be one URL, got %d", len(args))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return start(cmd, opts, args[0]) },
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return &usageError{cmd, err} })
	cmd.SetVersionTemplate("weir-top {{.Version}}\n")
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.DurationVar(&opts.interval, "interval", opts.interval, "ask the server again `TIME` after its answer")
	flags.StringVar(&opts.find, "find", "", "only pools with `TEXT` in their name, kind or place")
	flags.StringArrayVar(&opts.header, "header", nil, "send `'NAME: VALUE'` to the server; may be given again")
	flags.DurationVar(&opts.timeout, "timeout", opts.timeout, "wait for an answer for at most `TIME`")
	flags.BoolVar(&opts.once, "once", false, "print the pools as a table, and end")
	flags.BoolVar(&opts.json, "json", false, "with --once: print the server's JSON, on one line")
	return cmd
}

func start(cmd *cobra.Command, opts options, page string) error {
	if err := opts.validate(); err != nil {
		return &usageError{cmd, err}
	}
	header, err := parseHeader(opts.header)
	if err != nil {
		return &usageError{cmd, err}
	}
	c, err := client.New(page, client.Options{Header: header, Timeout: opts.timeout})
	if err != nil {
		return &usageError{cmd, err}
	}
	if !opts.once && !term.IsTerminal(os.Stdout.Fd()) {
		return &usageError{cmd, errors.New("the output is no terminal: use --once")}
	}
	var query url.Values
	if opts.find != "" {
		query = url.Values{"find": {opts.find}}
	}
	data, snapshot, err := c.GetJSON(cmd.Context(), query)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", c.Page(), err)
	case opts.json:
		_, err = cmd.OutOrStdout().Write(top.JSON(data))
		return err
	case opts.once:
		_, err = io.WriteString(cmd.OutOrStdout(), top.Table(c.Page(), opts.find, snapshot))
		return err
	}
	model := top.New(cmd.Context(), top.Options{Client: c, Interval: opts.interval, Find: opts.find, First: snapshot})
	_, err = tea.NewProgram(model, tea.WithContext(cmd.Context()), tea.WithoutSignalHandler()).Run()
	return err
}

// validate refuses invalid options that the flag parser accepts.
func (o *options) validate() error {
	const least = 50 * time.Millisecond
	switch {
	case o.json && !o.once:
		return errors.New("--json is meaningful only with --once")
	case o.interval < least:
		return fmt.Errorf("--interval must be at least %v, got %v", least, o.interval)
	case o.timeout <= 0:
		return fmt.Errorf("--timeout must be more than 0, got %v", o.timeout)
	}
	return nil
}

// parseHeader parses lines such as those of --header. Its error does not quote the line, which may be secret.
func parseHeader(lines []string) (http.Header, error) {
	header := make(http.Header)
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if name, value = strings.TrimSpace(name), strings.TrimSpace(value); !ok || name == "" || strings.ContainsFunc(name, isNoToken) || strings.ContainsFunc(value, isControl) {
			return nil, errors.New("--header must be like 'Name: value'")
		}
		header.Add(name, value)
	}
	return header, nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// isNoToken reports whether r is not allowed in the name of a header (RFC 9110, 5.6.2).
func isNoToken(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", r)
}
