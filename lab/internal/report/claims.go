package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/record"
)

// A claim is a row of the table of Weir's goals.
type claim struct {
	work    string
	at      string // the experiment and the relevant parameters, in the form of -list
	procs   int    // 0: the GOMAXPROCS of most measurements
	unit    string // empty: the first unit
	form    string // the form of Weir that the claim is about; empty: the best form
	besides bool   // left out if form is the best form, as the row before is then the same
	inPlace bool   // also show the figure of the work in place
	same    bool   // another unit of the previous claim
	summary string // title in the short table; empty if the claim is not in it
}

// claims returns the claims of the table, in order.
func claims(tables []record.Table, usual int) []claim {
	list := []claim{
		{work: "empty task, one producer, limit 64", at: "dispatch/empty/limit=64/producers=1", summary: "empty task, limit 64"},
		{work: "the same with Pool, for tasks of any kind", at: "dispatch/empty/limit=64/producers=1", form: "weir.Pool", besides: true},
		{work: "empty task, producers on all cores, limit 64", at: "dispatch/empty/limit=64/producers=all"},
		{work: "the same with Pool, for tasks of any kind", at: "dispatch/empty/limit=64/producers=all", form: "weir.Pool", besides: true},
		{work: "empty task, limit 2", at: "dispatch/empty/limit=2/producers=1"},
		{work: "empty task, limit " + grouped("50000"), at: "dispatch/empty/limit=50000/producers=1"},
	}
	for _, t := range tables {
		if t.Is("dispatch/empty/limit=64/producers=1") && t.Procs != usual {
			list = append(list, claim{
				work: fmt.Sprintf("empty task, limit 64, GOMAXPROCS %d", t.Procs), at: "dispatch/empty/limit=64/producers=1", procs: t.Procs,
			})
		}
	}
	return append(list,
		claim{work: "task of a group: context and error, limit 64", at: "dispatch/group/limit=64/producers=1", summary: "empty task of a group: context and error, limit 64"},
		claim{work: "task with a result, results in the order of the tasks, limit 64", at: "dispatch/results/limit=64"},
		claim{work: "10⁶ tasks that sleep 10 ms, limit " + grouped("50000"), at: "seeds/sleep/tasks=1000000/limit=50000", summary: "10⁶ tasks that sleep 10 ms, limit " + grouped("50000")},
		claim{work: "the same: bytes allocated", at: "seeds/sleep/tasks=1000000/limit=50000", unit: "B/op", same: true},
		claim{work: "the same: peak memory", at: "seeds/sleep/tasks=1000000/limit=50000", unit: "peak-B", same: true, summary: "the same: peak memory"},
		claim{work: "loop over 10⁶ numbers, one root each (go: split by hand)", at: "dispatch/loop/items=1000000"},
		claim{work: "the same with Each: context and error", at: "dispatch/loop/items=1000000", form: "weir.Each", besides: true},
		claim{work: "loop whose last 1 % of the items takes 99 % of the time (go: split by hand)", at: "dispatch/skewed"},
		claim{work: "item of an ordered stream", at: "dispatch/stream"},
		claim{work: "10⁷ numbers sorted, by quicksort or else as the library does", at: "dispatch/sort/items=10000000", inPlace: true},
		claim{work: "the same with par.Sort", at: "dispatch/sort/items=10000000", form: "weir.Sort", besides: true},
		claim{work: "Fibonacci number 27 by recursion, two tasks for each number", at: "dispatch/nested/fibonacci=27"},
		claim{work: "3 empty tasks of a group on a pool, after a pause: all together", at: "cold/few/work=0s/tasks=3", form: "weir.PoolGroup", summary: "3 empty tasks of a group on a pool, after a pause: all together"},
		claim{work: "the same with a new group: NewGroup", at: "cold/few/work=0s/tasks=3", form: "weir.Group", summary: "the same with a new group: NewGroup"},
		claim{work: "3 tasks of 10 µs of a group on a pool, after a pause: all together", at: "cold/few/work=10µs/tasks=3", form: "weir.PoolGroup"},
		claim{work: "the same with a new group: NewGroup", at: "cold/few/work=10µs/tasks=3", form: "weir.Group"},
		claim{work: "fork and join of 10 short tasks (150 square roots each)", at: "dispatch/forkjoin/tasks=10", inPlace: true},
		claim{work: "the same with Group: context and error", at: "dispatch/forkjoin/tasks=10", form: "weir.Group", besides: true},
		claim{work: "empty task of a burst of 10", at: "dispatch/burst/tasks=10"},
		claim{work: "the same with Group: context and error", at: "dispatch/burst/tasks=10", form: "weir.Group", besides: true, summary: "empty task of a group, in a burst of 10 after a pause"},
		claim{work: "10⁶ tasks that all block at once, limit 10⁶: each", at: "dispatch/blocked/tasks=1000000", summary: "10⁶ tasks that all block at once, limit 10⁶: each"},
		claim{work: "the same: peak memory", at: "dispatch/blocked/tasks=1000000", unit: "peak-B", same: true},
		claim{work: "lone task, until it starts", at: "dispatch/lone/pause=0s"},
		claim{work: "lone task after 1 ms of rest, until it starts: median", at: "dispatch/lone/pause=1ms"},
		claim{work: "the same: mean", at: "dispatch/lone/pause=1ms", unit: "mean-ns", same: true},
		claim{work: "HTTP server offered five times its capacity: time for each request served within 1 s", at: "http/overload/capacity=5000", form: "weir.Limit"},
		claim{work: "the same: p99 of the latency of all served", at: "http/overload/capacity=5000", unit: "p99-ns", same: true},
		claim{work: "the same: peak memory", at: "http/overload/capacity=5000", unit: "peak-B", same: true},
		claim{work: "a pool made and closed unused", at: "dispatch/newclose", form: "weir.Pool", summary: "a pool made and closed unused"},
		claim{work: "the same: bytes allocated", at: "dispatch/newclose", unit: "B/op", same: true},
		claim{work: "a pool that waits for its next task: memory", at: "dispatch/idlepools", unit: "B/pool", form: "weir.Pool", summary: "a pool that waits for its next task: memory"},
		claim{work: "context of a request, with 1 KB to work in (go: made anew)", at: "reuse/context", form: "weir.reuse.Pool"},
		claim{work: "buffer of a size that varies: half below 1 KB, 1 % above 64 KB (go: made anew)", at: "reuse/sizes/load=log-normal"},
		claim{work: "the same: heap in use", at: "reuse/sizes/load=log-normal", unit: "heap-B", same: true},
		claim{work: "idle object that is costly to open, got and put back", at: "reuse/keeper/goroutines=1"},
		claim{work: "8 of them for 64 goroutines", at: "reuse/keeper/goroutines=64"},
	)
}

// table returns the table and unit of the claim; false if they have no figure of Weir.
func (c claim) table(tables []record.Table, usual int) (record.Table, string, bool) {
	for _, t := range tables {
		if !t.Is(c.at) || t.Procs != cmp.Or(c.procs, usual) || len(t.Units) == 0 {
			continue
		}
		unit := cmp.Or(c.unit, t.Units[0])
		if _, ok := best(t.Rows, unit, isWeir); ok {
			return t, unit, true
		}
	}
	return record.Table{}, "", false
}

// standings returns a row for each claim for which there are figures. The short table has only the most important ones, without
// intervals.
func standings(tables []record.Table, short bool) [][]string {
	usual := usualProcs(tables)
	var rows [][]string
	// A row that says "the same" follows the row that it refers to, and is about the same form of Weir.
	var previous, form string
	for _, c := range claims(tables, usual) {
		t, unit, ok := c.table(tables, usual)
		if !ok || c.same && previous != c.at {
			continue
		}
		weir, ok := best(t.Rows, unit, func(name string) bool {
			return isWeir(name) && (!c.same || name == form) && (c.form == "" || name == c.form)
		})
		if !ok || c.besides && c.form == form {
			continue
		}
		previous, form = c.at, weir.Peer
		if short && c.summary == "" {
			continue
		}
		row := []string{c.work, entry(weir.Cells[unit], unit, weir.Peer, short), "–", "–", "–", "–"}
		if alone := t.Row(peer.InPlace).Cells[unit]; c.inPlace && usable(alone) {
			row[0] += " (in place: " + figure(alone.Center, unit) + ")"
		}
		if short {
			row[0] = c.summary
		}
		if r, ok := best(t.Rows, unit, isPlain); ok {
			row[2], row[5] = entry(r.Cells[unit], unit, "", short), compare(weir.Cells[unit], r.Cells[unit]).words(unit)
		}
		if r, ok := best(t.Rows, unit, isOther); ok {
			row[3], row[4] = entry(r.Cells[unit], unit, r.Peer, short), compare(weir.Cells[unit], r.Cells[unit]).words(unit)
		}
		rows = append(rows, row)
	}
	return rows
}

// entry formats a figure in Markdown, with its interval unless it is short, and with the name of the peer, if any.
func entry(c record.Cell, unit, name string, short bool) string {
	text := figure(c.Center, unit)
	if !short {
		text = join([]string{text, interval(c)}, " ")
	}
	text = strings.ReplaceAll(text, " ", noBreak) // a line must not break between a figure and its unit
	if name != "" {
		text += " (" + escapeMarkdown(name) + ")"
	}
	return text
}

// scores counts in how many settings Weir is ahead of the best of some rivals, equal, or behind, as the rows of a table, and says
// where it is behind. The form of Weir that is best in the first unit stands for Weir in all units: a library that wins on time
// with one form and on memory with another wins on neither.
func scores(tables []record.Table) (rows [][]string, losses []string) {
	rows = [][]string{{"", "Weir is ahead", "about equal", "behind", "too few rounds to tell"}}
	for _, rivals := range []struct {
		name     string
		competes func(string) bool
	}{{"the best other library", isOther}, {"a go statement for each task", func(name string) bool { return name == peer.Go }}} {
		for _, what := range []struct {
			name   string
			unitOf func(record.Table) string
		}{{"Time", timeUnit}, {"Peak memory", memoryUnit}} {
			counts := map[standing]int{}
			for _, t := range tables {
				if at := experimentOf(t); at == scenarios || at == features || at == costCurve {
					continue
				}
				unit := what.unitOf(t)
				rival, ok := best(t.Rows, unit, rivals.competes)
				if !ok {
					continue
				}
				weir, ok := best(t.Rows, firstUnit(t), isWeir)
				over := compare(weir.Cells[unit], rival.Cells[unit])
				at, verdict, loser := over.standing, over.words(unit), withFigure(weir, unit)
				if !ok && slices.ContainsFunc(t.Rows, func(r record.Row) bool { return isWeir(r.Peer) }) {
					at, verdict, loser = behind, "failed", "Weir"
				}
				counts[at]++
				if at == behind {
					losses = append(losses, fmt.Sprintf("%s: %s, %s, %s: %s, %s",
						verdict, experimentOf(t), paramsText(t.Params), unitTitle(unit), loser, withFigure(rival, unit)))
				}
			}
			if len(counts) > 0 {
				row := []string{what.name + ", against " + rivals.name}
				for _, at := range []standing{ahead, equal, behind, open} {
					row = append(row, strconv.Itoa(counts[at]))
				}
				rows = append(rows, row)
			}
		}
	}
	return rows, losses
}

func withFigure(r record.Row, unit string) string {
	return clean(r.Peer) + " " + figure(r.Cells[unit].Center, unit)
}

func timeUnit(t record.Table) string {
	if unit := firstUnit(t); kindOf(unit) == kindTime {
		return unit
	}
	return ""
}

func memoryUnit(t record.Table) string {
	for _, unit := range []string{"peak-B", "B/pool"} {
		if slices.Contains(t.Units, unit) {
			return unit
		}
	}
	return ""
}
