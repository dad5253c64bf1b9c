// Command storm draws the record of weirnats's test of killed workers: the messages put and done in each
// second, the messages put and not done, and the messages done again. docs/storm.svg is made by
//
//	go test -C weirnats -run TestWorkersThatAreKilledLoseNothing -faults 60s -storm "$PWD/storm.txt"
//	go run ./lab/storm storm.txt docs/storm.svg
package main

import (
	"errors"
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

// note is the state after one second of the test.
type note struct{ second, put, done, again, missing, faults float64 }

// run draws rates from one note to the next, and counts as they are.
func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("it must be: storm notes.txt picture.svg, got %q", args)
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var put, done, missing, again plotter.XYs
	var last note
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var n note
		if _, err := fmt.Sscan(line, &n.second, &n.put, &n.done, &n.again, &n.missing, &n.faults); err != nil {
			return fmt.Errorf("%s: %q: %w", args[0], line, err)
		}
		seconds := max(0.1, n.second-last.second)
		put = append(put, plotter.XY{X: n.second, Y: (n.put - last.put) / seconds})
		done = append(done, plotter.XY{X: n.second, Y: (n.done - last.done) / seconds})
		missing = append(missing, plotter.XY{X: n.second, Y: n.missing / 10})
		again = append(again, plotter.XY{X: n.second, Y: n.again})
		last = n
	}
	if len(put) < 2 {
		return fmt.Errorf("%s has %d notes, which is too few", args[0], len(put))
	}
	p := plot.New()
	p.Title.Text = fmt.Sprintf("Three workers, killed or stopped %.0f times in %.0f s: %.0f messages put, %.0f lost, %.0f done again",
		last.faults, last.second, last.put, last.missing, last.again)
	p.X.Label.Text, p.Y.Label.Text, p.Y.Min = "seconds", "messages", 0
	p.Legend.Top, p.Legend.Left = true, true
	err = plotutil.AddLines(p, "put per second", put, "done per second", done,
		"put and not done yet, in tens", missing, "done again, in all", again)
	return errors.Join(err, p.Save(9*vg.Inch, 4*vg.Inch, args[1]))
}
