package top

import (
	"cmp"
	"path"
	"strings"

	"github.com/64ed045f/weir/cmd/weir-top/internal/text"
	"github.com/64ed045f/weir/weirdebug"
)

// A column is a column of the table of pools.
type column struct {
	title string
	width int
	rank  int // on a narrow terminal, columns of a higher rank are left out first
	text  func(*weirdebug.Pool) string
	order func(a, b *weirdebug.Pool) int // the order of the rows when sorted by this column
}

// The bounds of the width of the name column, if there is any other column.
const (
	minName = 12
	maxName = 18
)

// columns are the columns after the name.
var columns = []column{
	number("LIMIT", 5, 4, func(p *weirdebug.Pool) int { return p.Stats.Limit }),
	number("RUN", 5, 0, func(p *weirdebug.Pool) int { return p.Stats.Running }),
	number("IDLE", 5, 12, func(p *weirdebug.Pool) int { return p.Stats.Idle }),
	number("QUEUED", 6, 1, func(p *weirdebug.Pool) int { return p.Stats.Queued }),
	number("WAITERS", 7, 9, func(p *weirdebug.Pool) int { return p.Stats.Waiting }),
	number("TASKS/S", 7, 2, rate),
	{title: "MINUTE", width: 10, rank: 5, text: func(p *weirdebug.Pool) string { return text.Spark(p.Throughput, 10) }, order: nil},
	duration("WAIT50", 11, func(p *weirdebug.Pool) float64 { return p.Wait.P50 }),
	duration("WAIT99", 6, func(p *weirdebug.Pool) float64 { return p.Wait.P99 }),
	duration("RUN50", 10, func(p *weirdebug.Pool) float64 { return p.Run.P50 }),
	duration("RUN99", 7, func(p *weirdebug.Pool) float64 { return p.Run.P99 }),
	duration("OLDEST", 8, func(p *weirdebug.Pool) float64 { return p.Oldest }),
}

func number[N int | float64](title string, width, rank int, of func(*weirdebug.Pool) N) column {
	return column{title, width, rank, func(p *weirdebug.Pool) string { return text.Count(of(p)) },
		func(a, b *weirdebug.Pool) int { return cmp.Compare(of(b), of(a)) }}
}

func duration(title string, rank int, of func(*weirdebug.Pool) float64) column {
	return column{title, 6, rank, func(p *weirdebug.Pool) string { return text.Duration(of(p)) },
		func(a, b *weirdebug.Pool) int { return cmp.Compare(of(b), of(a)) }}
}

// rate returns how many tasks per second the pool finished in the latest part of the last minute.
func rate(p *weirdebug.Pool) float64 {
	if len(p.Throughput) == 0 {
		return 0
	}
	return p.Throughput[len(p.Throughput)-1]
}

// byName orders by the content of the first column.
func byName(a, b *weirdebug.Pool) int {
	return cmp.Or(strings.Compare(title(a), title(b)), cmp.Compare(a.ID, b.ID))
}

// title returns the name of a pool, or the place where it was made and its kind.
func title(p *weirdebug.Pool) string {
	if p.Name != "" {
		return p.Name
	}
	return short(p.Made) + " " + p.Kind
}

// short returns the file and line of a place, without the folders.
func short(place string) string { return path.Base(place) }

// widest returns the width of the widest title of the pools, but at least minName and at most most cells.
func widest(pools []weirdebug.Pool, most int) int {
	width := minName
	for i := range pools {
		width = max(width, text.Width(text.Clean(title(&pools[i]), most)))
	}
	return width
}

// fitting returns the numbers of the columns that fit next to a name of the wanted width, and the width left
// for the name. It never leaves out the column sorted.
func fitting(width, wanted, sorted int) (shown []int, name int) {
	for i := range columns {
		shown = append(shown, i)
	}
	for {
		name = width - 2 // for the mark
		last := -1
		for at, i := range shown {
			name -= 1 + columns[i].width
			if i != sorted && (last < 0 || columns[i].rank > columns[shown[last]].rank) {
				last = at
			}
		}
		if name >= wanted || last < 0 {
			return shown, max(0, name)
		}
		shown = append(shown[:last], shown[last+1:]...)
	}
}
