package sum

import (
	"context"
	"io"
	"iter"
	"os"

	"github.com/vbauerster/mpb/v8"
)

const (
	WindowSize = windowSize
	MaxLine    = maxLine
	ReadSize   = readSize
)

var (
	Quote      = quote
	AppendLine = appendLine
	OpenFound  = openFound
)

// ParseLines parses the lines of one list.
func ParseLines(a Algorithm) func(line []byte) (name string, digest []byte, ok bool) {
	p := &lineParser{tag: a.tag(), size: a.size()}
	return p.parse
}

// WithOpen returns the options with another way to open files.
func (o Options) WithOpen(open func(path string) (io.ReadCloser, error)) Options {
	o.open = open
	return o
}

// Countable returns how many items of a list the progress bar counts beforehand.
func Countable(list *os.File) (n int) {
	for range countable(list, "md5") {
		n++
	}
	return n
}

// A Bar is a progress bar on a screen that need not be a terminal.
type Bar struct{ p *progress }

// DrawBar draws a bar for the files at or below the paths.
func DrawBar(screen io.Writer, paths []string) Bar {
	return Bar{drawBar(screen, walk(paths), mpb.WithAutoRefresh(), mpb.WithWidth(120))}
}

func (b Bar) Done(bytes int) {
	b.p.meter.addBytes(bytes)
	b.p.meter.addFile()
}

// Digest digests a file.
func (b Bar) Digest(ctx context.Context, opts Options, path string) {
	newDigester(opts, b.p.meter).digest(ctx, &job{item: item{path: path}, end: newEnd()})
}

func (b Bar) Write(line []byte) (int, error) { return b.p.err.Write(line) }
func (b Bar) Stop()                          { b.p.stop() }

// Walk yields the paths of all regular files at or below the paths.
func Walk(paths []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for it := range walk(paths) {
			if it.err == nil && !yield(it.path) {
				return
			}
		}
	}
}

// Lines returns what writes the line of a file to out.
func Lines(out io.Writer, asJSON bool) func(name string) error {
	o := newOutput(out, io.Discard, Options{Algorithm: "md5", JSON: asJSON})
	return func(name string) error { return o.print(&job{item: item{path: name}, digest: make([]byte, 16)}) }
}
