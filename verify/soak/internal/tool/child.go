package tool

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/64ed045f/weir/verify/soak/internal/books"
	"github.com/64ed045f/weir/verify/soak/internal/load"
	"github.com/64ed045f/weir/verify/soak/internal/run"
)

// every is how often a child says how far it is, and mercy how long a load has to end after a breach.
const (
	every = 5 * time.Second
	mercy = 5 * time.Second
)

// runChild runs the loads in this process, and says what they have come to. It ends with its parent, whose
// end closes stdin.
func (o *options) runChild(stdin io.Reader, stdout, stderr io.Writer) int {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // panics are on purpose here
	go func() {
		_, _ = io.Copy(io.Discard, stdin) // however that ends
		os.Exit(exitInterrupted)
	}()
	for range o.spin {
		go load.Spin(math.MaxInt) // in a loop that only the scheduler interrupts
	}
	r := run.New(o.seed, o.patience, o.loads)
	done := make(chan []books.Vitals, 1)
	go func() { done <- r.Soak(o.loads, o.length) }()
	begin, ticker := time.Now(), time.NewTicker(every)
	defer ticker.Stop()
	var series []books.Vitals
	var deadline <-chan time.Time
	for failed, over := r.Journal.Failed(), false; !over; {
		select {
		case <-ticker.C:
			name, finished := r.Now()
			say(stderr, "soak: %v of %v, %d tasks, load %s\n", time.Since(begin).Round(time.Second), o.length, finished, name)
		case <-failed:
			failed, deadline = nil, time.After(mercy)
		case <-deadline:
			over = true
		case series = <-done:
			over = true
		}
	}
	o.showTable(stdout, r.Tallies(), series)
	return showBreaches(stderr, r.Journal.Breaches())
}

// showTable prints what the loads have counted, and what the process held.
func (o *options) showTable(w io.Writer, tallies map[string]books.Tally, series []books.Vitals) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, t books.Tally) string {
		return fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t%d\t%d\t\n", name, t.Rounds, t.Accepted, t.Finished, t.HandedBack, t.Rejected, t.Panicked)
	}
	say(t, "load\trounds\taccepted\tfinished\thanded back\trejected\tpanicked\t\n")
	var sum books.Tally
	for _, l := range o.loads {
		say(t, "%s", row(l.Name, tallies[l.Name]))
		sum.Add(tallies[l.Name])
	}
	say(t, "%s", row("all loads", sum))
	_ = t.Flush() // as with every print here, an error has no reader
	if n := len(series); n > 0 {
		from, to := series[0], series[n-1]
		say(w, "after a garbage collection at the beginning, and at the end: %d and %d goroutines, %d and %d KiB of heap, %d and %d objects\n",
			from.Goroutines, to.Goroutines, from.Heap>>10, to.Heap>>10, from.Objects, to.Objects)
	}
}

// showBreaches prints what went wrong, if anything did, and the stacks last, as they are long. It returns the exit code.
func showBreaches(w io.Writer, breaches []books.Breach) int {
	if len(breaches) == 0 {
		return exitFine
	}
	for _, b := range breaches {
		say(w, "soak: breach in load %s: %s\n", b.Load, b.What)
	}
	say(w, "\nall goroutines at the first breach:\n\n%s\n", breaches[0].Stacks)
	return exitBreach
}

// run runs a child under a setting for a share of the time. It returns nil if the child has found nothing.
func (o *options) run(ctx context.Context, s setting, share time.Duration, stdout, stderr io.Writer) error {
	names := make([]string, len(o.loads))
	for i, l := range o.loads {
		names[i] = l.Name
	}
	overdue := fmt.Errorf("a round goes on, though the time was over for %v", o.overrun)
	limited, cancel := context.WithTimeoutCause(ctx, share+o.overrun, overdue)
	defer cancel()
	cmd := exec.CommandContext(limited, s.program, "-child", "-for", share.String(),
		"-seed", strconv.FormatUint(o.seed, 10), "-patience", o.patience.String(),
		"-spin", strconv.Itoa(s.spin), "-loads", strings.Join(names, ","))
	cmd.Env = append(os.Environ(), s.env...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.Cancel = func() error {
		if ctx.Err() != nil {
			return cmd.Process.Kill()
		}
		return cmd.Process.Signal(syscall.SIGQUIT) // a process that goes on and on must print its stacks
	}
	cmd.WaitDelay = 10 * time.Second
	if _, err := cmd.StdinPipe(); err != nil { // open until the child has ended, or this process
		return err
	}
	err := cmd.Run()
	if limited.Err() != nil {
		err = fmt.Errorf("%w: %w", context.Cause(limited), err)
	}
	return err
}
