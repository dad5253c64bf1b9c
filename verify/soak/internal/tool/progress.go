package tool

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progress shows how far a soak is: in one line that changes on a terminal, and elsewhere by a line now and then. Its methods
// are for one goroutine.
type progress struct {
	w        io.Writer
	terminal bool
	total    time.Duration
	done     time.Duration // of the settings before
	begun    time.Time     // of the setting that runs
	setting  string
	load     string
	before   uint64 // tasks of the settings before
	now      uint64
	last     time.Time // when a line was written
}

// every is how often there is a line where there is no terminal.
const every = 5 * time.Second

func newProgress(w io.Writer, total time.Duration) *progress {
	p := &progress{w: w, total: total}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// begin says which setting runs.
func (p *progress) begin(setting string) {
	p.setting, p.begun = setting, time.Now()
	p.at("start", 0)
}

// at says which load runs, and how many tasks the setting has finished.
func (p *progress) at(load string, finished uint64) {
	p.load, p.now = load, finished
	elapsed := min(p.done+time.Since(p.begun), p.total)
	text := fmt.Sprintf("soak: %v of %v  %d tasks  %s: %s", elapsed.Round(time.Second), p.total, p.before+p.now, p.setting, p.load)
	switch {
	case p.terminal:
		say(p.w, "\r%s\x1b[K", text) // and clears what is left of the line before
	case time.Since(p.last) >= every:
		p.last = time.Now()
		say(p.w, "%s\n", text)
	}
}

// end says that a setting is over.
func (p *progress) end(share time.Duration) {
	p.done, p.before, p.now = p.done+share, p.before+p.now, 0
}

// stop ends the line on a terminal.
func (p *progress) stop() {
	if p.terminal {
		say(p.w, "\n")
	}
}
