package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/64ed045f/weir/weirnats"
)

var errNo = errors.New("the answer was no: nothing is changed")

func (t *tool) newReplay() *cobra.Command {
	all, yes := false, false
	cmd := &cobra.Command{
		Use:   "replay QUEUE {ID... | --all}",
		Short: "Put dead letters into their queue again",
		Long: `Put dead letters into their queue again, as new messages, and remove them from the
dead letters. If the queue is full this waits for room. Those that die again
meanwhile are left alone by --all.`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return &usageError{cmd, errors.New("there must be a QUEUE")}
			case len(args) == 1 && !all:
				return &usageError{cmd, errors.New("there must be an ID of a dead letter, or --all")}
			case len(args) > 1 && all:
				return &usageError{cmd, errors.New("--all and an ID exclude each other")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.change(cmd, args, "replay", yes, func(ctx context.Context, q *weirnats.View, n int) (int, error) {
				if all {
					return replayAll(ctx, q, n)
				}
				return t.replay(ctx, q, args[1:])
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all dead letters of the queue")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func (t *tool) newPurge() *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use:   "purge QUEUE [ID...]",
		Short: "Remove dead letters for good",
		Long: `Remove dead letters for good: those with the IDs, or all of the queue. Messages
that are in the queue stay.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{cmd, errors.New("there must be a QUEUE")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.change(cmd, args, "purge", yes, func(ctx context.Context, q *weirnats.View, _ int) (int, error) {
				if len(args) == 1 {
					return q.PurgeAll(ctx)
				}
				n, err := q.Purge(ctx, args[1:]...)
				if missing := len(args) - 1 - n; err == nil && missing > 0 {
					err = fmt.Errorf("%s with these IDs did not exist", letters(missing))
				}
				return n, err
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// change calls do, if the user agrees, for all dead letters, or for those whose IDs follow the name of the
// queue. do gets how many there are.
func (t *tool) change(cmd *cobra.Command, args []string, what string, yes bool, do func(ctx context.Context, q *weirnats.View, n int) (done int, err error)) error {
	if !yes && !t.asks {
		return &usageError{cmd, fmt.Errorf("%s asks first, and there is no terminal: use --yes", what)}
	}
	return t.withQueue(cmd, args, func(ctx context.Context, q *weirnats.View) error {
		s, err := q.Stats(ctx)
		if err != nil {
			return err
		}
		n, which := s.Dead, "all "
		if len(args) > 1 {
			n, which = len(args)-1, ""
		}
		if s.Dead == 0 && len(args) == 1 {
			_, err := fmt.Fprintf(t.out, "queue %s has no dead letters\n", q.Name())
			return err
		}
		if !yes {
			question := fmt.Sprintf("%s %s%s of queue %s? [y/N] ", what, which, letters(n), q.Name())
			if err := t.ask(ctx, strings.ToUpper(question[:1])+question[1:]); err != nil {
				return err
			}
		}
		done, err := do(ctx, q, n)
		_, written := fmt.Fprintf(t.out, "%s: %s\n", what, letters(done))
		if err == nil {
			err = written
		}
		return err
	})
}

func letters(n int) string {
	if n == 1 {
		return "1 dead letter"
	}
	return fmt.Sprintf("%d dead letters", n)
}

// ask returns nil if the answer is yes.
func (t *tool) ask(ctx context.Context, question string) error {
	if _, err := fmt.Fprint(t.errs, question); err != nil {
		return err
	}
	answer := make(chan string, 1)
	go func() { // a read from a terminal cannot be cancelled
		line, err := bufio.NewReader(t.in).ReadString('\n')
		if err != nil {
			line = ""
		}
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case a := <-answer:
		if a == "y" || a == "yes" {
			return nil
		}
		return errNo
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// replay replays the dead letters with these IDs, and goes on after an ID that does not exist.
func (t *tool) replay(ctx context.Context, q *weirnats.View, ids []string) (done int, err error) {
	var missing []string
	for _, id := range ids {
		switch err := q.Replay(ctx, id); {
		case err == nil:
			done++
		case errors.Is(err, weirnats.ErrNotFound):
			missing = append(missing, id)
		default:
			return done, err
		}
	}
	if len(missing) > 0 {
		err = fmt.Errorf("no dead letter has the ID %s", strings.Join(missing, ", "))
	}
	return done, err
}

// replayAll replays the first n dead letters. Letters that were not there at the beginning come after them.
func replayAll(ctx context.Context, q *weirnats.View, n int) (done int, err error) {
	seen := 0
	for l, err := range q.Dead(ctx) {
		if err != nil {
			return done, err
		}
		switch err := q.Replay(ctx, l.ID); {
		case err == nil:
			done++
		case !errors.Is(err, weirnats.ErrNotFound): // otherwise another program has replayed it
			return done, err
		}
		if seen++; seen == n {
			break
		}
	}
	return done, nil
}
