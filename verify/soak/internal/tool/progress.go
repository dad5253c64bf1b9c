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
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return p
	}
	p.screen = mpb.New(mpb.WithOutput(f))
	p.bar = p.screen.AddBar(int64(total),
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return *p.text.Load() })),
		mpb.AppendDecorators(decor.Percentage()),
	)
	return p
}

// begin says which setting runs.
func (p *progress) begin(setting string) {
	p.setting, p.load, p.begun = setting, "", time.Now()
	p.at("start", 0)
}

// at says which load runs, and how many tasks the setting has finished.
func (p *progress) at(load string, finished uint64) {
	p.load, p.now = load, finished
	elapsed := min(p.done+time.Since(p.begun), p.total)
	text := fmt.Sprintf("%v of %v  %s tasks  %s: %s", elapsed.Round(time.Second), p.total, grouped(p.before+p.now), p.setting, p.load)
	p.text.Store(&text)
	if p.bar != nil {
		p.bar.SetCurrent(int64(min(elapsed, p.total-1)))
		return
	}
	if time.Since(p.lastLine) >= every {
		p.lastLine = time.Now()
		say(p.w, "soak: %s\n", text)
	}
}

// end says that a setting is over.
func (p *progress) end(share time.Duration) {
	p.done += share
	p.before += p.now
	p.now = 0
}

// stop takes the bar away.
func (p *progress) stop() {
	if p.bar != nil {
		p.bar.Abort(true)
		p.screen.Wait()
	}
}

// grouped writes a number with a space between thousands.
func grouped(n uint64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s %03d", grouped(n/1000), n%1000)
}
