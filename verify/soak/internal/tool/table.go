package tool

import (
	"io"
	"math"
	"text/tabwriter"
	"time"

	"github.com/64ed045f/weir/verify/soak/internal/books"
	"github.com/64ed045f/weir/verify/soak/internal/load"
)

// showTable prints the results of all settings.
func showTable(w io.Writer, all []result, skipped []string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	say(t, "load\trounds\taccepted\tfinished\thanded back\trejected\tpanicked\tGoexit\tpeak/limit\tstall\t\n")
	var sum books.Tally
	for _, l := range load.All() {
		var tally books.Tally
		for _, r := range all {
			tally.Add(r.Tallies[l.Name])
		}
		if tally.Rounds > 0 {
			row(t, l.Name, tally)
			sum.Add(tally)
		}
	}
	sum.Peak = 0
	row(t, "all loads", sum)
	_ = t.Flush() // as with every print here, an error has no reader
	say(w, "\nstall: the longest that a task was queued, a worker free, and nothing started; for information, it is the machine's as much as the library's\n")

	say(w, "\n")
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	say(t, "setting\ttime\ttasks\tgoroutines\theap KiB\tobjects\ttimers\tmedian KiB, early\tand late\t\n")
	for _, r := range all {
		var finished uint64
		for _, tally := range r.Tallies {
			finished += tally.Finished
		}
		say(t, "%s\t%v\t%s\t", r.setting.name, r.took.Round(time.Second), grouped(finished))
		if n := len(r.Series); n > 0 {
			a, b := r.Series[0], r.Series[n-1]
			say(t, "%d, %d\t%d, %d\t%d, %d\t%d, %d\t%d\t%d\t", a.Goroutines, b.Goroutines,
				a.Heap>>10, b.Heap>>10, a.Objects, b.Objects, a.Timers, b.Timers,
				books.MedianHeap(r.Series[:(n+1)/2])>>10, books.MedianHeap(r.Series[n/2:])>>10)
		}
		say(t, "\n")
	}
	_ = t.Flush()
	say(w, "\ngoroutines, heap, objects and timers: when a setting has begun, and at its end, after a garbage collection; timers are estimated\n")
	for _, line := range skipped {
		say(w, "%s\n", line)
	}
}

func row(w io.Writer, name string, t books.Tally) {
	say(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t", name, grouped(t.Rounds), grouped(t.Accepted), grouped(t.Finished),
		grouped(t.HandedBack), grouped(t.Rejected), grouped(t.Panicked), grouped(t.Exited))
	switch {
	case t.Peak == 0:
		say(w, "\t")
	case t.PeakLimit == math.MaxInt32:
		say(w, "%d/none\t", t.Peak)
	default:
		say(w, "%d/%d\t", t.Peak, t.PeakLimit)
	}
	if t.Stall > 0 {
		say(w, "%v\t\n", t.Stall.Round(time.Microsecond))
	} else {
		say(w, "\t\n")
	}
}
