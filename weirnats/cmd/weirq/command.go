package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/64ed045f/weir/internal/program"
	"github.com/64ed045f/weir/weirnats"
)

// A usageError is a mistake in the command line.
type usageError struct {
	command *cobra.Command
	err     error
}

func (e *usageError) Error() string { return e.err.Error() }

func (e *usageError) Unwrap() error { return e.err }

// tool is one run of weirq.
type tool struct {
	streams
	dir, server, creds string
	ca, cert, key      string
}

// defaultDir is the default of the library.
const defaultDir = "weir-queues"

// newCommand returns the command tree.
func newCommand(s streams) *cobra.Command {
	t := &tool{streams: s}
	root := &cobra.Command{
		Use:   "weirq",
		Short: "Look after durable queues of package weirnats",
		Long: `Weirq looks after durable queues of the Go package weirnats: it lists them, shows
the messages in them, and replays or removes dead letters.

The queues are in a folder that no program has open at the time, ./weir-queues
unless --dir says otherwise, or on a NATS server. Weirq makes no queue, changes
no settings, and takes no message away from the programs that serve a queue.
Replay and purge ask first; without a terminal they need --yes.

What is not printable in a message or an error is shown as \x1b, \n or \u202e.

Exit status:
  0    all went well
  1    something failed, or the answer was no
  2    wrong usage
  130  stopped by SIGINT (143: by SIGTERM)`,
		Example: `  weirq list                                      queues in ./weir-queues
  weirq dead mail --dir /var/lib/mailer           why its messages have failed
  weirq replay mail 17 18 --dir /var/lib/mailer   try two of them again
  weirq watch mail --server tls://nats:4222 --creds ops.creds`,
		Version:       program.Version(),
		Args:          mustName,
		SilenceErrors: true, // run reports them
		SilenceUsage:  true, // the whole help would bury the message
		RunE:          showHelp,
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.errs)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return &usageError{cmd, err} })
	root.SetVersionTemplate("weirq {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	flags := root.PersistentFlags()
	flags.SortFlags = false
	flags.StringVar(&t.dir, "dir", "", "the queues in `FOLDER`, which no program may have open (default "+defaultDir+")")
	flags.StringVar(&t.server, "server", "", "the queues on the NATS server or cluster at `URL`; others may see the command line, so use --creds rather than a password in it")
	flags.StringVar(&t.creds, "creds", "", "with --server: log in with what is in `FILE`: credentials of NATS, the seed of an NKey, or a line name:password")
	flags.StringVar(&t.ca, "ca", "", "with --server: the server must have a certificate of the authorities in `FILE`")
	flags.StringVar(&t.cert, "cert", "", "with --server: log in with the certificate in `FILE`, whose key --key has")
	flags.StringVar(&t.key, "key", "", "with --cert: its key, in `FILE`")
	root.AddCommand(t.newList(), t.newPeek(), t.newLater(), t.newDead(), t.newReplay(), t.newPurge(), t.newWatch())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, own := range root.Commands() { // Cobra's own two take any name, and exit as if all were well
		switch own.Name() {
		case "help":
			own.Args = func(_ *cobra.Command, args []string) error {
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

// noCommand returns an error that suggests the command that may have been meant.
func noCommand(root *cobra.Command, name string) error {
	for root.SuggestionsMinimumDistance = range 3 { // the nearest first: Cobra's list is in alphabetical order
		if near := root.SuggestionsFor(name); len(near) > 0 {
			return fmt.Errorf("there is no command %q; did you mean %q?", name, near[0])
		}
	}
	return fmt.Errorf("there is no command %q", name)
}

// oneQueue refuses arguments other than the name of a queue.
func oneQueue(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return &usageError{cmd, fmt.Errorf("there must be one QUEUE, got %d", len(args))}
	}
	return nil
}

// options returns the options of the library. Their errors never repeat the URL, which may contain a
// password.
func (t *tool) options(cmd *cobra.Command) ([]weirnats.Option, error) {
	opts := []weirnats.Option{weirnats.Logger(slog.New(slog.DiscardHandler))} // what matters comes back as an error
	flags := cmd.Flags()
	for _, name := range []string{"creds", "ca", "cert", "key"} {
		if flags.Changed(name) && !flags.Changed("server") {
			return nil, &usageError{cmd, fmt.Errorf("--%s is meaningful only with --server", name)}
		}
	}
	switch {
	case flags.Changed("dir") && flags.Changed("server"):
		return nil, &usageError{cmd, errors.New("--dir and --server exclude each other")}
	case flags.Changed("cert") != flags.Changed("key"):
		return nil, &usageError{cmd, errors.New("--cert and --key need each other")}
	case flags.Changed("dir") && t.dir == "":
		return nil, &usageError{cmd, errors.New("--dir must not be empty")}
	case !flags.Changed("server"):
		if t.dir != "" {
			opts = append(opts, weirnats.Dir(t.dir))
		}
		return append(opts, weirnats.Always), checkOwner(cmp.Or(t.dir, defaultDir)) // with Always, what is replayed is safe before its dead letter is removed
	}
	for part := range strings.SplitSeq(t.server, ",") {
		if !isServer(part) {
			return nil, &usageError{cmd, errors.New("--server must be like nats://host:4222 or tls://host:4222")}
		}
	}
	own := []nats.Option{nats.Name("weirq")}
	if flags.Changed("creds") {
		login, err := credentials(t.creds)
		if err != nil {
			return nil, fmt.Errorf("--creds: %w", err)
		}
		own = append(own, login)
	}
	if flags.Changed("ca") {
		own = append(own, nats.RootCAs(t.ca))
	}
	if flags.Changed("cert") {
		own = append(own, nats.ClientCert(t.cert, t.key))
	}
	return append(opts, weirnats.Server(t.server, own...)), nil
}

// credentials returns the option of the client for a file of any of three kinds. Of several lines
// name:password it takes the first, so that the file may be the one that a program gives to
// [weirnats.Credentials]. Its errors contain nothing from the file.
func credentials(file string) (nats.Option, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "BEGIN NATS USER JWT") {
			break
		}
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "SU") && !strings.Contains(line, ":") {
			login, err := nats.NkeyOptionFromSeed(file)
			if err != nil {
				return nil, fmt.Errorf("%s has no seed of a user that can be read", file)
			}
			return login, nil
		}
		if name, password, ok := strings.Cut(line, ":"); ok && name != "" && !strings.HasPrefix(line, "#") {
			return nats.UserInfo(name, password), nil
		}
	}
	return nats.UserCredentials(file), nil
}

// isServer reports whether text can be the URL of a server, as the client of NATS takes it: without a scheme
// the client uses nats.
func isServer(text string) bool {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		text = "nats://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return false
	}
	switch u.Scheme {
	case "nats", "tls", "ws", "wss":
		return true
	}
	return false
}

// with calls do with an Admin, and closes the Admin.
func (t *tool) with(cmd *cobra.Command, do func(ctx context.Context, a *weirnats.Admin) error) error {
	opts, err := t.options(cmd)
	if err != nil {
		return err
	}
	a, err := weirnats.OpenAdmin(cmd.Context(), opts...)
	if err != nil {
		return err
	}
	err = do(cmd.Context(), a)
	if closing := a.Close(); err == nil {
		err = closing
	}
	return err
}

// withQueue calls do with the queue that the first argument names.
func (t *tool) withQueue(cmd *cobra.Command, args []string, do func(ctx context.Context, q *weirnats.View) error) error {
	return t.with(cmd, func(ctx context.Context, a *weirnats.Admin) error {
		q, err := a.Queue(ctx, args[0])
		if err != nil {
			return err
		}
		return do(ctx, q)
	})
}
