package suite

import (
	"context"
	"crypto/md5"
	"maps"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/64ed045f/weir/lab/internal/behaviour"
	"github.com/64ed045f/weir/lab/internal/md5all"
	"github.com/64ed045f/weir/lab/internal/peer"
)

var surveySuite = Suite{
	Name:  "survey",
	Title: "Features, sleepers, MD5 of many files",
	About: "10⁶ tasks of 10 ms on one core and on all, the five columns of its table, and its task: the MD5 sums of a folder.",
	Experiments: func(s Scale) []Experiment {
		var list []Experiment
		procs := []int{1}
		if s.Full {
			procs = slices.Compact(slices.Sorted(slices.Values([]int{1, min(2, s.Cores), s.Cores})))
		}
		for _, n := range procs {
			e := sleepers(s, n, 1_000_000)
			if !s.Full {
				e.Contenders = slices.DeleteFunc(e.Contenders, func(c Contender) bool { return !surveyed[c.Name] })
			}
			list = append(list, e)
		}
		list = append(list, digests(s))
		return append(list, each(behaviour.Features(), func(f behaviour.Scenario) Experiment {
			return observed(s, f, id(s.Cores, "feature", "column", f.ID))
		})...)
	},
}

// surveyed are the peers that the survey compares, and Weir.
var surveyed = map[string]bool{peer.Go: true, "errgroup": true, "conc": true, "ants": true, "weir.Pool": true}

// digests is the survey's own task.
func digests(s Scale) Experiment {
	const files = 1000
	e := Experiment{
		ID:    id(s.Cores, "md5", "files", files),
		About: "the MD5 sums of all files below a folder, 0 to 64 KiB each",
		Turn:  250 * time.Millisecond,
	}
	for _, p := range md5all.Programs {
		e.Contenders = append(e.Contenders, Contender{Name: p.Name, Measure: func(m *Meter) {
			root, err := os.MkdirTemp("", "weir-lab-")
			must(err)
			defer func() { must(os.RemoveAll(root)) }()
			want, err := md5all.Plant(root, files)
			must(err)
			var got map[string][md5.Size]byte
			m.time(1, func() { got, err = p.Run(context.Background(), root, runtime.GOMAXPROCS(0)) })
			must(err)
			if !maps.Equal(got, want) {
				panic("the sums are not those of the files")
			}
		}})
	}
	return e
}
