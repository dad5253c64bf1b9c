package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/64ed045f/weir/weirnats"
)

// headEvery is how often the names of the columns are repeated.
const headEvery = 20

func (t *tool) newWatch() *cobra.Command {
	const least = 10 * time.Millisecond
	interval, most, asJSON := time.Second, 0, false
	cmd := &cobra.Command{
		Use:   "watch QUEUE",
		Short: "Print the counts of a queue again and again",
		Long: `Print the counts of a queue again and again, until Ctrl-C. PUT/S and DONE/S say
how many messages come and leave in a second; the other columns are those of
list.`,
		Args: oneQueue,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case interval < least:
				return &usageError{cmd, fmt.Errorf("--interval must be at least %v, got %v", least, interval)}
			case most < 0:
				return &usageError{cmd, fmt.Errorf("--number must be at least 0, got %d", most)}
			}
			return t.withQueue(cmd, args, func(ctx context.Context, q *weirnats.View) error { return t.watch(ctx, q, interval, most, asJSON) })
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.DurationVar(&interval, "interval", interval, "print a line each `TIME`")
	flags.IntVarP(&most, "number", "n", 0, "end after `N` lines, 0 for never")
	flags.BoolVar(&asJSON, "json", false, "print lines of JSON")
	return cmd
}

func (t *tool) watch(ctx context.Context, q *weirnats.View, interval time.Duration, most int, asJSON bool) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var last weirnats.Stats
	var at time.Time
	for n := 0; ; n++ {
		now := time.Now()
		s, err := q.Stats(ctx)
		if err != nil {
			return err
		}
		put, done := "-", "-"
		if n > 0 {
			seconds := now.Sub(at).Seconds()
			put = fmt.Sprintf("%.1f", float64(s.Accepted-last.Accepted)/seconds)
			done = fmt.Sprintf("%.1f", float64(s.Accepted-int64(s.Messages)-last.Accepted+int64(last.Messages))/seconds)
		}
		last, at = s, now
		if err := t.line(n, q.Name(), &s, put, done, asJSON); err != nil {
			return err
		}
		if n+1 == most {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (t *tool) line(n int, name string, s *weirnats.Stats, put, done string, asJSON bool) error {
	if asJSON {
		return writeJSON(t.out, countsOf(name, s))
	}
	const format = "%-8s%s %9s %9s\n"
	head := ""
	if n%headEvery == 0 {
		head = fmt.Sprintf(format, "TIME", columns, "PUT/S", "DONE/S")
	}
	_, err := fmt.Fprintf(t.out, "%s"+format, head, time.Now().Format(time.TimeOnly), row(s), put, done)
	return err
}
