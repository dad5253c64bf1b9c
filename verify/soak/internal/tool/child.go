package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/64ed045f/weir/verify/soak/internal/books"
	"github.com/64ed045f/weir/verify/soak/internal/load"
	"github.com/64ed045f/weir/verify/soak/internal/run"
)

// message is what a child writes, as JSON.
type message struct {
	Load     string   `json:",omitempty"` // which runs now
	Finished uint64   `json:",omitempty"` // tasks so far
	End      *outcome `json:",omitempty"`
}

// beat is how often a child reports, and mercy how long a load has to end after a breach.
const (
	beat  = 250 * time.Millisecond
	mercy = 5 * time.Second
)

// runChild runs the loads in this process, and reports on stdout. It ends with its parent, whose
// end closes stdin.
func (o *options) runChild(stdin io.Reader, stdout io.Writer) int {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // panics are on purpose here
	go func() {
		_, _ = io.Copy(io.Discard, stdin) // however that ends
		os.Exit(exitInterrupted)
	}()
	for range o.spin {
		go load.Spin(math.MaxInt) // in a loop that only the scheduler interrupts
	}
	r := run.New(o.seed, o.patience, o.loads)
	series := make(chan []books.Vitals, 1)
	go func() { series <- r.Soak(o.loads, o.length) }()
	end := &outcome{}
	lines := json.NewEncoder(stdout)
	var deadline <-chan time.Time
	for failed, over := r.Journal.Failed(), false; !over; {
		select {
		case <-time.After(beat):
			name, finished := r.Now()
			_ = lines.Encode(message{Load: name, Finished: finished}) // if no process reads it, stdin ends, too
		case <-failed:
			failed, deadline = nil, time.After(mercy)
		case <-deadline:
			over = true
		case end.Series = <-series:
			over = true
		}
	}
	end.Tallies, end.Breaches = r.Tallies(), r.Journal.Breaches()
	_ = lines.Encode(message{End: end})
	if len(end.Breaches) > 0 {
		return exitBreach
	}
	return exitFine
}

// run runs a child under a setting for a share of the time.
func (o *options) run(ctx context.Context, s setting, share time.Duration, p *progress) result {
	names := make([]string, len(o.loads))
	for i, l := range o.loads {
		names[i] = l.Name
	}
	// A process that goes on and on must print its stacks.
	overdue := fmt.Errorf("a round goes on, though the time was over for %v", o.overrun)
	limited, cancel := context.WithTimeoutCause(ctx, share+o.overrun, overdue)
	defer cancel()
	cmd := exec.CommandContext(limited, s.program, "-child", "-for", share.String(),
		"-seed", strconv.FormatUint(o.seed, 10), "-patience", o.patience.String(),
		"-spin", strconv.Itoa(s.spin), "-loads", strings.Join(names, ","))
	cmd.Env = append(os.Environ(), s.env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	cmd.WaitDelay = 10 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	r := result{setting: s}
	begin := time.Now()
	p.begin(s.name)
	err := follow(cmd, func(m message) {
		if m.End != nil {
			r.outcome = *m.End
			return
		}
		p.at(m.Load, m.Finished)
	})
	p.end(share)
	r.took, r.stderr = time.Since(begin), stderr.String()
	if limited.Err() != nil {
		err = fmt.Errorf("%w: %w", context.Cause(limited), err)
	}
	if ctx.Err() == nil && len(r.Breaches) == 0 && (err != nil || r.Tallies == nil) {
		r.Breaches = []books.Breach{{Load: p.load, What: fmt.Sprintf("the process has ended: %v", err)}}
	}
	return r
}

// follow runs a process to its end, and calls got with its messages.
func follow(cmd *exec.Cmd, got func(message)) error {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	for lines := json.NewDecoder(stdout); ; {
		var m message
		if err = lines.Decode(&m); err != nil {
			break
		}
		got(m)
	}
	if err != io.EOF { //nolint:errorlint // the decoder returns it as it is
		_ = cmd.Process.Kill() // or it has ended
		_ = cmd.Wait()
		return fmt.Errorf("it wrote no message: %w", err)
	}
	return cmd.Wait()
}
