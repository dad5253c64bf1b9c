package sum

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// A meter counts the work that is done, and all work. A nil meter, for a command without a bar, counts nothing.
type meter struct {
	files, bytes           atomic.Int64
	totalFiles, totalBytes atomic.Int64 // grow until everything has been found
}

func (m *meter) addBytes(n int) {
	if m != nil {
		m.bytes.Add(int64(n))
	}
}

func (m *meter) addFile() {
	if m != nil {
		m.files.Add(1)
	}
}

// summary describes the work that was done in the given time.
func (m *meter) summary(took time.Duration) string {
	rate := float64(m.bytes.Load()) / max(took, time.Microsecond).Seconds()
	files := "files"
	if m.files.Load() == 1 {
		files = "file"
	}
	return fmt.Sprintf("%d %s, % .1f in %v, % .1f/s", m.files.Load(), files, decor.SizeB1024(m.bytes.Load()), took.Round(time.Millisecond), decor.SizeB1024(rate))
}

// expect adds up the files that items names. An estimate of the time left needs the sum of all files.
// So expect walks on its own: the walk that feeds the digesters is ahead of them only by the window. The
// second walk takes a few microseconds a file, and is done only for a terminal.
func (m *meter) expect(items iter.Seq[item], stop <-chan struct{}) {
	for it := range items {
		select {
		case <-stop:
			return
		default:
		}
		if it.err != nil || it.path == stdinName {
			continue
		}
		if info, err := os.Stat(it.path); err == nil {
			m.totalFiles.Add(1)
			m.totalBytes.Add(info.Size())
		}
	}
}

// A progress is a bar on a terminal, or nothing at all.
type progress struct {
	meter    *meter    // nil if there is no bar
	out, err io.Writer // the streams of the command, kept clear of the bar
	stop     func()    // removes the bar
}

// startProgress draws a bar if the standard error is a terminal. totals yields all files of the command.
func startProgress(streams Streams, totals iter.Seq[item]) *progress {
	screen, ok := streams.Err.(*os.File)
	if !ok || !term.IsTerminal(int(screen.Fd())) || os.Getenv("TERM") == "dumb" {
		return &progress{out: streams.Out, err: streams.Err, stop: func() {}}
	}
	p := drawBar(screen, totals)
	p.out = streams.Out
	if isSame(streams.Out, screen) {
		p.out = p.err
	}
	return p
}

// drawBar draws a bar on a screen until stop is called. From then on, lines for the screen must go through
// err, which puts them above the bar.
func drawBar(screen io.Writer, totals iter.Seq[item], opts ...mpb.ContainerOption) *progress {
	m := new(meter)
	container := mpb.New(append(opts, mpb.WithOutput(screen))...)
	// A bar whose total is 0 at first does not complete when it catches up with the growing total.
	bar := container.AddBar(0,
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(
			decor.Any(func(decor.Statistics) string {
				return fmt.Sprintf("%d/%d files  ", m.files.Load(), max(m.files.Load(), m.totalFiles.Load()))
			}),
			decor.CountersKibiByte("% .1f / % .1f"),
		),
		mpb.AppendDecorators(
			decor.AverageSpeed(decor.SizeB1024(0), "% .1f"),
			decor.AverageETA(decor.ET_STYLE_GO, decor.WC{W: 8}),
			decor.Name(" left"),
		),
	)

	begin := time.Now()
	done := make(chan struct{})
	var helpers sync.WaitGroup
	helpers.Go(func() { m.expect(totals, done) })
	helpers.Go(func() {
		ticker := time.NewTicker(100 * time.Millisecond)
		defer ticker.Stop()
		for running := true; running; {
			select {
			case <-ticker.C:
			case <-done:
				running = false
			}
			bytes := m.bytes.Load()
			bar.SetTotal(max(bytes, m.totalBytes.Load(), 1), false)
			bar.SetCurrent(bytes)
		}
	})
	return &progress{
		meter: m,
		err:   &above{bar: container, screen: screen},
		stop: func() {
			close(done)
			helpers.Wait()
			bar.Abort(true)
			container.Wait()
			_, _ = fmt.Fprintln(screen, m.summary(time.Since(begin))) // an error means that the screen is gone
		},
	}
}

// isSame reports whether w writes to the same terminal as screen.
func isSame(w io.Writer, screen *os.File) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	a, errA := f.Stat()
	b, errB := screen.Stat()
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// An above writes lines above a bar. It keeps an unfinished line until the rest comes, since the bar is drawn
// right after what it has written.
type above struct {
	bar    io.Writer
	screen io.Writer // used if the bar has failed
	rest   []byte
}

func (a *above) Write(b []byte) (int, error) {
	a.rest = append(a.rest, b...)
	end := bytes.LastIndexByte(a.rest, '\n') + 1
	if end == 0 {
		return len(b), nil
	}
	_, err := a.bar.Write(a.rest[:end])
	if err != nil {
		_, err = a.screen.Write(a.rest[:end])
	}
	a.rest = append(a.rest[:0], a.rest[end:]...)
	if err != nil {
		return 0, err
	}
	return len(b), nil
}
