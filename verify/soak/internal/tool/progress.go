package tool

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// progress shows how far a soak is: as a bar on a terminal, and elsewhere as a line now and then. Its methods
// are for one goroutine.
type progress struct {
	w       io.Writer
	total   time.Duration
	done    time.Duration // of the settings before
	begun   time.Time     // of the setting that runs
	setting string
	load    string
	before  uint64 // tasks of the settings before
	now     uint64

	lastLine time.Time
	text     atomic.Pointer[string]
	screen   *mpb.Progress // nil without a terminal
	bar      *mpb.Bar
}

// every is how often there is a line where there is no terminal.
const every = 5 * time.Second

func newProgress(w io.Writer, total time.Duration) *progress {
	p := &progress{w: w, total: total}
	p.text.Store(new(string))
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.screen = mpb.New(mpb.WithOutput(f))
		p.bar = p.screen.AddBar(int64(total), mpb.AppendDecorators(decor.Percentage()),
			mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return *p.text.Load() })))
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
	text := fmt.Sprintf("%v of %v  %d tasks  %s: %s", elapsed.Round(time.Second), p.total, p.before+p.now, p.setting, p.load)
	p.text.Store(&text)
	switch {
	case p.bar != nil:
		p.bar.SetCurrent(int64(min(elapsed, p.total-1)))
	case time.Since(p.lastLine) >= every:
		p.lastLine = time.Now()
		say(p.w, "soak: %s\n", text)
	}
}

// end says that a setting is over.
func (p *progress) end(share time.Duration) {
	p.done, p.before, p.now = p.done+share, p.before+p.now, 0
}

// stop takes the bar away.
func (p *progress) stop() {
	if p.bar != nil {
		p.bar.Abort(true)
		p.screen.Wait()
	}
}
