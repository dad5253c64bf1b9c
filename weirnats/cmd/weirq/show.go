package main

import (
	"bufio"
	"context"
	"fmt"
	"iter"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/64ed045f/weir/weirnats"
)

// shown is a message or a dead letter.
type shown struct {
	ID        string     `json:"id"` // the number
	MessageID string     `json:"message_id,omitempty"`
	Key       string     `json:"key,omitempty"`
	Codec     string     `json:"codec"`
	Put       time.Time  `json:"put"`
	Due       *time.Time `json:"due,omitempty"`
	Died      *time.Time `json:"died,omitempty"`
	Tries     int        `json:"tries,omitempty"`
	Errors    []failure  `json:"errors,omitempty"`
	Data      string     `json:"data,omitempty"`        // if the value is text
	Bytes     []byte     `json:"data_base64,omitempty"` // if the value is not text
	data      []byte
}

type failure struct {
	Try int       `json:"try"`
	Err string    `json:"error"`
	At  time.Time `json:"at"`
}

func show(id, messageID, key, codec string, data []byte, put time.Time, errs []weirnats.Failure) *shown {
	m := &shown{ID: id, MessageID: messageID, Key: key, Codec: codec, Put: put, data: data}
	for _, f := range errs {
		m.Errors = append(m.Errors, failure(f))
	}
	return m
}

// showing has the flags of peek, later and dead.
type showing struct {
	most       int
	full, json bool
}

func (s *showing) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVarP(&s.most, "number", "n", 10, "show at most `N`, 0 for all")
	flags.BoolVar(&s.full, "full", false, "show all of each value, not just its beginning")
	flags.BoolVar(&s.json, "json", false, "print a line of JSON for each, with all of its value: as data, or as data_base64 if it is no text")
}

func (s *showing) validate(cmd *cobra.Command) error {
	if s.most < 0 {
		return &usageError{cmd, fmt.Errorf("--number must be at least 0, got %d", s.most)}
	}
	return nil
}

func (t *tool) newPeek() *cobra.Command {
	return t.newShow("peek QUEUE", "Show the messages in a queue, the oldest first", `Show the messages in a queue, the oldest first: those that wait, and those that
were delivered and are not done, with the errors of their tries. They stay where
they are, and this counts as no delivery.`, (*weirnats.View).Peek)
}

func (t *tool) newLater() *cobra.Command {
	return t.newShow("later QUEUE", "Show the messages that are to come into a queue later", `Show the messages that wait for the time for which they were put, in the order
in which they were put. Those whose time has come wait for room in the queue, or
for a program that serves it.`, (*weirnats.View).Later)
}

// newShow returns a command that shows messages.
func (t *tool) newShow(use, short, long string, messages func(*weirnats.View, context.Context) iter.Seq2[weirnats.Message, error]) *cobra.Command {
	var s showing
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Long:  long,
		Args:  oneQueue,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.validate(cmd); err != nil {
				return err
			}
			return t.withQueue(cmd, args, func(ctx context.Context, q *weirnats.View) error {
				return t.show(s, func(yield func(*shown, error) bool) {
					for m, err := range messages(q, ctx) {
						one := show(strconv.FormatUint(m.Number, 10), m.ID, m.Key, m.Codec, m.Data, m.Put, m.Errors)
						if !m.Due.IsZero() {
							one.Due = &m.Due
						}
						if !yield(one, err) {
							return
						}
					}
				})
			})
		},
	}
	s.flags(cmd)
	return cmd
}

func (t *tool) newDead() *cobra.Command {
	var s showing
	cmd := &cobra.Command{
		Use:   "dead QUEUE",
		Short: "Show the dead letters of a queue, with their errors",
		Long: `Show the dead letters of a queue, the oldest first: the messages that have failed
for good, with the errors of their tries. The number at the beginning of each is
its ID for replay and purge.`,
		Args: oneQueue,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.validate(cmd); err != nil {
				return err
			}
			return t.withQueue(cmd, args, func(ctx context.Context, q *weirnats.View) error {
				return t.show(s, func(yield func(*shown, error) bool) {
					for l, err := range q.Dead(ctx) {
						m := show(l.ID, l.MessageID, l.Key, l.Codec, l.Data, l.Put, l.Errors)
						m.Died, m.Tries = &l.Died, l.Tries
						if !yield(m, err) {
							return
						}
					}
				})
			})
		},
	}
	s.flags(cmd)
	return cmd
}

// show shows all messages, or as many as the flags say.
func (t *tool) show(s showing, all iter.Seq2[*shown, error]) error {
	out := bufio.NewWriter(t.out)
	n := 0
	for m, err := range all {
		switch {
		case err != nil:
			_ = out.Flush() // the error that matters is the other one
			return err
		case s.most > 0 && n == s.most:
			if !s.json {
				fmt.Fprintln(out, "there are more: -n 0 shows all")
			}
			return out.Flush()
		case s.json:
			if utf8.Valid(m.data) {
				m.Data = string(m.data)
			} else {
				m.Bytes = m.data
			}
			if err := writeJSON(out, m); err != nil {
				return err
			}
		default:
			m.print(out, s.full)
		}
		if err := flushFull(out); err != nil {
			return err
		}
		n++
	}
	return out.Flush()
}

// flushFull flushes a buffer that is at least half full, and returns an error if there is no reader any more.
func flushFull(out *bufio.Writer) error {
	if out.Available() > out.Size()/2 {
		return nil
	}
	return out.Flush()
}

const (
	// maxName is how much of an ID or a codec's name is shown.
	maxName = 300
	// maxData is how much of a value is shown without --full, and maxError how much of an error.
	maxData  = 200
	maxError = 600
)

func (m *shown) print(out *bufio.Writer, full bool) {
	fmt.Fprintf(out, "%s  %s  %d bytes  put %s", m.ID, clean(m.Codec, maxName), len(m.data), m.Put.Local().Format(time.DateTime))
	if m.Due != nil {
		fmt.Fprintf(out, "  due %s", m.Due.Local().Format(time.DateTime))
	}
	if m.Died != nil {
		tries := "tries"
		if m.Tries == 1 {
			tries = "try"
		}
		fmt.Fprintf(out, "  died %s after %d %s", m.Died.Local().Format(time.DateTime), m.Tries, tries)
	}
	if m.MessageID != "" {
		fmt.Fprintf(out, "  id %s", clean(m.MessageID, maxName))
	}
	if m.Key != "" {
		fmt.Fprintf(out, "  key %s", clean(m.Key, maxName))
	}
	limit := maxData
	if full {
		limit = 0
	}
	fmt.Fprintf(out, "\n    %s\n", clean(string(m.data), limit))
	for _, f := range m.Errors {
		fmt.Fprintf(out, "    try %d, %s: %s\n", f.Try, f.At.Local().Format(time.DateTime), clean(f.Err, maxError))
	}
}
