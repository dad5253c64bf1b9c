package tool

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/verify/soak/internal/books"
	"github.com/64ed045f/weir/verify/soak/internal/run"
)

// message is a line that a child writes.
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
	runtime.MemProfileRate = books.ProfileRate
	slog.SetDefault(slog.New(slog.DiscardHandler)) // panics are on purpose here
	go func() {
		_, _ = io.Copy(io.Discard, stdin) // however that ends
		os.Exit(exitInterrupted)
	}()
	for range o.spin {
		go spinForever()
	}
	r := run.New(o.seed, o.patience, o.loads)
	var series []books.Vitals
	over := make(chan struct{})
	go func() {
		defer close(over)
		series = r.Soak(o.loads, o.length)
	}()
	lines := json.NewEncoder(stdout)
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	failed := r.Journal.Failed()
	var deadline <-chan time.Time
	for {
		select {
		case <-ticker.C:
			name, finished := r.Now()
			_ = lines.Encode(message{Load: name, Finished: finished}) // if no process reads it, stdin ends, too
			continue
		case <-failed:
			failed, deadline = nil, time.After(mercy)
			continue
		case <-deadline:
			// What hangs still changes the series.
			_ = lines.Encode(message{End: &outcome{Tallies: r.Tallies(), Breaches: r.Journal.Breaches()}})
			return exitBreach
		case <-over:
		}
		break
	}
	end := &outcome{Tallies: r.Tallies(), Series: series, Breaches: r.Journal.Breaches()}
	_ = lines.Encode(message{End: end})
	if len(end.Breaches) > 0 {
		return exitBreach
	}
	return exitFine
}

var spun atomic.Uint32

// spinForever computes, in a loop that only the scheduler interrupts.
func spinForever() {
	for x := uint32(1); ; x = x*1664525 + 1013904223 {
		if x == 0 {
			spun.Add(1)
		}
	}
}
