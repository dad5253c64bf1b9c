package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/64ed045f/weir/weirnats"
)

// counts are the Stats of a queue as JSON.
type counts struct {
	Time        time.Time  `json:"time"`
	Queue       string     `json:"queue"`
	Messages    int        `json:"messages"`
	Waiting     int        `json:"waiting"`
	Leased      int        `json:"leased"`
	Redelivered int        `json:"redelivered"`
	Dead        int        `json:"dead"`
	Later       int        `json:"later"`
	Accepted    int64      `json:"accepted"`
	Oldest      *time.Time `json:"oldest,omitempty"`
	Age         float64    `json:"age_seconds"`
}

func countsOf(name string, s *weirnats.Stats) counts {
	c := counts{
		Time: time.Now(), Queue: name, Messages: s.Messages, Waiting: s.Waiting, Leased: s.Leased, Redelivered: s.Redelivered, Dead: s.Dead, Later: s.Later,
		Accepted: s.Accepted, Age: s.Age.Seconds(),
	}
	if !s.Oldest.IsZero() {
		c.Oldest = &s.Oldest
	}
	return c
}

func (t *tool) newList() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List all queues, with their counts",
		Long: `List all queues, with their counts: MESSAGES in the queue, of which some are
WAITING for their first delivery and the others LEASED: they run or wait for
their next try. REDELIVERED of them were delivered more than once. DEAD letters
are no messages of the queue any more, and those that are to come LATER are not
yet. AGE is that of the oldest message.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{cmd, errors.New("list takes no arguments")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return t.with(cmd, func(ctx context.Context, a *weirnats.Admin) error { return t.list(ctx, a, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a line of JSON for each queue")
	return cmd
}

// list prints the counts of all queues, and goes on after a queue that cannot be read.
func (t *tool) list(ctx context.Context, a *weirnats.Admin, asJSON bool) error {
	names, err := a.Queues(ctx)
	if err != nil {
		return err
	}
	width := len("QUEUE")
	for _, name := range names {
		width = max(width, len(name))
	}
	if !asJSON {
		if _, err := fmt.Fprintf(t.out, "%-*s%s\n", width, "QUEUE", columns); err != nil {
			return err
		}
	}
	var failed error
	for _, name := range names {
		s, err := statsOf(ctx, a, name)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if asJSON {
			err = writeJSON(t.out, countsOf(name, &s))
		} else {
			_, err = fmt.Fprintf(t.out, "%-*s%s\n", width, name, row(&s))
		}
		if err != nil {
			return err
		}
	}
	return failed
}

// columns are the names of the columns of row.
var columns = cells("MESSAGES", "WAITING", "LEASED", "REDELIVERED", "DEAD", "LATER", "AGE")

func row(s *weirnats.Stats) string {
	return cells(s.Messages, s.Waiting, s.Leased, s.Redelivered, s.Dead, s.Later, age(s))
}

func cells(all ...any) string { return fmt.Sprintf(" %9v %9v %8v %11v %8v %8v %10s", all...) }

func statsOf(ctx context.Context, a *weirnats.Admin, name string) (weirnats.Stats, error) {
	q, err := a.Queue(ctx, name)
	if err != nil {
		return weirnats.Stats{}, err
	}
	return q.Stats(ctx)
}

// age formats the age of the oldest message.
func age(s *weirnats.Stats) string {
	if s.Oldest.IsZero() {
		return "-"
	}
	return passed(s.Age)
}

// passed formats a time with as much precision as a reader needs.
func passed(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < 10*time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d < 2*day:
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
}
