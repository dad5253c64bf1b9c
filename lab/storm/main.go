// Command storm draws the record of weirnats's test of killed workers: the messages put and done in each
// second, the messages put and not done, and the messages done again. docs/storm.svg is made by
//
//	go test -C weirnats -run TestWorkersThatAreKilledLoseNothing -faults 60s -storm "$PWD/storm.txt"
//	go run ./lab/storm storm.txt docs/storm.svg
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "storm:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("it must be: storm notes.txt picture.svg, got %q", args)
	}
	notes, err := read(args[0])
	if err != nil {
		return err
	}
	p, err := picture(notes)
	if err != nil {
		return err
	}
	return p.Save(9*vg.Inch, 4*vg.Inch, args[1])
}

// note is the state after one second of the test.
type note struct{ second, put, done, again, missing, faults float64 }

func read(name string) (notes []note, err error) {
	f, err := os.Open(name) //nolint:gosec // the caller's file
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var n note
		if _, err := fmt.Sscan(lines.Text(), &n.second, &n.put, &n.done, &n.again, &n.missing, &n.faults); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", name, lines.Text(), err)
		}
		notes = append(notes, n)
	}
	if lines.Err() == nil && len(notes) < 2 {
		return nil, fmt.Errorf("%s has %d lines, which is too few", name, len(notes))
	}
	return notes, lines.Err()
}

// picture draws rates from one note to the next, and counts as they are.
func picture(notes []note) (*plot.Plot, error) {
	last := notes[len(notes)-1]
	p := plot.New()
	p.Title.Text = fmt.Sprintf("Three workers, killed or stopped %.0f times in %.0f s: %.0f messages put, %.0f lost, %.0f done again",
		last.faults, last.second, last.put, last.missing, last.again)
	p.X.Label.Text, p.Y.Label.Text, p.Y.Min = "seconds", "messages", 0
	p.Legend.Top, p.Legend.Left = true, true
	var put, done, missing, again plotter.XYs
	var before note
	for _, n := range notes {
		seconds := max(0.1, n.second-before.second)
		put = append(put, plotter.XY{X: n.second, Y: (n.put - before.put) / seconds})
		done = append(done, plotter.XY{X: n.second, Y: (n.done - before.done) / seconds})
		missing = append(missing, plotter.XY{X: n.second, Y: n.missing / 10})
		again = append(again, plotter.XY{X: n.second, Y: n.again})
		before = n
	}
	return p, plotutil.AddLines(p, "put per second", put, "done per second", done,
		"put and not done yet, in tens", missing, "done again, in all", again)
}
