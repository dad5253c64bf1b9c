package weirdebug

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed page.html
var pageText string

//go:embed page.css
var style string

// policy allows a page to load our style, and nothing else.
var policy = fmt.Sprintf("default-src 'none'; style-src '%s'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'", styleHash())

func styleHash() string {
	sum := sha256.Sum256([]byte(style))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"style":   func() template.CSS { return template.CSS(style) }, //nolint:gosec // our own text
	"seconds": seconds,
	"rate":    rate3,
	"last": func(list []float64) float64 {
		if len(list) == 0 {
			return 0
		}
		return list[len(list)-1]
	},
	"spark": spark,
	"bars":  bars,
	"short": short,
	"waits": func(r row) string { return waits[r.Waits] },
	"first": func(d Durations) string { return seconds(d.Buckets[0].UpTo) },
	"till":  func(d Durations) string { return seconds(d.Buckets[len(d.Buckets)-1].UpTo) },
}).Parse(pageText))

// page is the data of the templates.
type page struct {
	*Snapshot
	view
	Refresh int // seconds; 0 for never
}

func newPage(v view, s *Snapshot) page {
	refresh := v.refresh
	if refresh < 0 {
		refresh = 5
		if v.page == pageStack || s.Control && v.page == pagePool {
			refresh = 0 // the reader of this page reads a stack or fills in a form
		}
	}
	return page{s, v, refresh}
}

// Query returns the page's own query with the parameter set to value, or without the parameter if value is "".
func (p page) Query(name, value string) template.URL { return template.URL("?" + p.with(name, value)) } //nolint:gosec // encoded

// Own returns the page's own query.
func (p page) Own() template.URL { return template.URL("?" + p.query.Encode()) } //nolint:gosec // encoded

// To returns the query of another page, with the settings of this one. pairs are names of parameters and
// their values.
func (p page) To(pairs ...any) template.URL {
	query := p.settings()
	for i := 0; i+1 < len(pairs); i += 2 {
		query.Set(fmt.Sprint(pairs[i]), fmt.Sprint(pairs[i+1]))
	}
	return template.URL("?" + query.Encode()) //nolint:gosec // encoded
}

// Settings returns the parameters that a form keeps, and their values.
func (p page) Settings() url.Values { return p.settings() }

// Longer returns the minimum age of tasks and groups that was asked for; 0 if none was.
func (p page) Longer() time.Duration { return p.longer }

// Least returns how long a task must have run to be listed on the first page.
func (p page) Least() time.Duration { return p.least() }

// GroupsFor returns the minimum age of the groups on the page.
func (p page) GroupsFor() time.Duration { return p.groupsLonger() }

// Find returns the text that was searched for.
func (p page) Find() string { return p.find }

// Group returns the ID of the group that was asked for; 0 for all.
func (p page) Group() uint64 { return p.group }

// Slow returns how long a task must run to count as slow.
func (p page) Slow() time.Duration { return p.slow }

// Title returns the title of the page.
func (p page) Title() string {
	switch p.page {
	case pagePool:
		return short(p.Pools[0])
	case pageGroups:
		return "Groups"
	case pageStack:
		return fmt.Sprintf("Worker %d", p.worker)
	default:
		return "Pools"
	}
}

// since is a time, and how long ago it was.
type since struct{ Age, Time string }

// Since formats t, and how long ago it was.
func (p page) Since(t time.Time) since {
	return since{seconds(p.Time.Sub(t).Seconds()), t.Format("2006-01-02 15:04:05.000 MST")}
}

// row is a task, and what the page knows about it.
type row struct {
	Task
	Page     page
	PoolName string
	Since    since
	For      *madeGroups // groups made in the task, if it waits for a group; nil if none is known
	Stuck    bool        // the task is slow, and waits for nothing that the library knows of
}

// Rows returns the rows of tasks.
func (p page) Rows(tasks []Task) (rows []row) {
	for _, t := range tasks {
		rows = append(rows, p.Row(t))
	}
	return rows
}

// Row returns the row of a task.
func (p page) Row(t Task) row {
	r := row{Task: t, Page: p, PoolName: p.NameOf(t.Pool), Since: p.Since(t.Since), Stuck: t.Waits == "" && p.Time.Sub(t.Since) >= p.slow}
	if t.Waits == "group" || t.Waits == "other" {
		r.For = p.made[newParent(t.Group, t.Pool, t.Worker)]
	}
	return r
}

// NameOf returns the name of the pool with that ID.
func (p page) NameOf(id uint64) string {
	for _, pool := range p.Pools {
		if pool.ID == id {
			return short(pool)
		}
	}
	return fmt.Sprintf("pool %d", id)
}

// Link returns the query of the page with the task's stack.
func (r row) Link() template.URL {
	of, id := "group", r.Group
	if r.Pool > 0 {
		of, id = "pool", r.Pool
	}
	return r.Page.To(of, id, "worker", r.Worker)
}

// Tasks returns the tasks of a stack page.
func (p page) Tasks() []Task {
	if len(p.Pools) > 0 {
		return p.Pools[0].Running
	}
	return p.Groups[0].Running
}

// TasksLeftOut returns how many tasks with the same worker number a stack page leaves out.
func (p page) TasksLeftOut() int {
	if len(p.Pools) > 0 {
		return p.Pools[0].RunningLeftOut
	}
	return p.Groups[0].LeftOut
}

// node is a group of the tree, or a task of a group.
type node struct {
	Page   page
	Group  *Group
	Task   *Task
	Sought bool // the group was asked for by its ID
	Flat   bool // the nodes below this one follow it instead of being nested
	Below  []node
}

// maxDepth is how many groups the tree nests, each with its tasks. Browsers nest only about 500 elements.
const maxDepth = 100

// Since returns the start of the group or task, and its age.
func (n node) Since() since {
	if n.Task != nil {
		return n.Page.Since(n.Task.Since)
	}
	return n.Page.Since(n.Group.Since)
}

// Row returns the row of the task.
func (n node) Row() row { return n.Page.Row(*n.Task) }

// Tree returns the groups, each below the task in which it was made.
func (p page) Tree() []node {
	groups := p.Groups
	if p.page == pageStack {
		groups = p.around
	}
	there := make(map[uint64]bool, len(groups))
	for _, g := range groups {
		there[g.ID] = true
	}
	below := make(map[uint64][]*Group) // by the ID of the parent; 0 for none
	for i := range groups {
		g, parent := &groups[i], uint64(0)
		if there[g.Parent] {
			parent = g.Parent
		}
		below[parent] = append(below[parent], g)
	}
	// put adds n, and what inner adds below it.
	put := func(to *[]node, n node, inner func(to *[]node)) {
		if n.Flat {
			*to = append(*to, n)
			inner(to)
			return
		}
		inner(&n.Below)
		*to = append(*to, n)
	}
	var add func(to *[]node, list []*Group, depth int)
	add = func(to *[]node, list []*Group, depth int) {
		for _, g := range list {
			made := make(map[int][]*Group) // by the worker of the parent task
			for _, inner := range below[g.ID] {
				made[inner.ParentWorker] = append(made[inner.ParentWorker], inner)
			}
			n := node{Page: p, Flat: depth >= maxDepth}
			task := n
			n.Group, n.Sought = g, p.page == pageGroups && g.ID == p.group
			put(to, n, func(to *[]node) {
				for i := range g.Running {
					task.Task = &g.Running[i]
					put(to, task, func(to *[]node) { add(to, made[task.Task.Worker], depth+1) })
					delete(made, task.Task.Worker)
				}
				// Groups made in tasks that are not listed.
				rest := slices.DeleteFunc(below[g.ID], func(inner *Group) bool { return made[inner.ParentWorker] == nil })
				add(to, rest, depth+1)
			})
		}
	}
	var nodes []node
	add(&nodes, below[0], 0)
	return nodes
}

// short returns a short name of a pool.
func short(p Pool) string {
	if p.Name != "" {
		return p.Name
	}
	return p.Kind + " of " + p.Made[strings.LastIndexByte(p.Made, '/')+1:]
}

// seconds formats a duration with at most three digits.
func seconds(s float64) string {
	switch {
	case s <= 0:
		return "0"
	case s < 60:
		d := time.Duration(s * float64(time.Second))
		digits := time.Duration(1)
		for digits*1000 <= d {
			digits *= 10
		}
		return d.Round(digits).String()
	default:
		text := time.Duration(min(s, 1e9) * float64(time.Second)).Round(time.Second).String()
		return text
	}
}

const (
	sparkWidth, sparkHeight = 90, 16
	barsWidth, barsHeight   = 480, 80
)

// rate3 formats a rate with three digits, or with all digits before the point if there are more.
func rate3(perSec float64) string {
	if perSec >= 100 {
		return strconv.FormatFloat(perSec, 'f', 0, 64)
	}
	return strconv.FormatFloat(perSec, 'g', 3, 64)
}

// waits says in words what a task waits for: see [weir.Running].
var waits = map[string]string{
	"group": "a group", "future": "a future", "blocking": "a call of Blocking", "place": "a place, to go on", "other": "tasks elsewhere",
}

// spark returns the points of a line through the values, oldest first; the last value is at the right edge.
func spark(values []float64) string {
	if len(values) < 2 {
		return ""
	}
	top := slices.Max(values)
	var points []string
	for i, value := range values {
		x := sparkWidth - float64(len(values)-1-i)*sparkWidth/(rateParts-1)
		y := float64(sparkHeight - 1)
		if top > 0 {
			y -= value / top * (sparkHeight - 2)
		}
		points = append(points, fmt.Sprintf("%.1f,%.1f", x, y))
	}
	return strings.Join(points, " ")
}

// bar is a bar of a histogram.
type bar struct {
	X, Y, Width, Height float64
	Text                string
}

// bars returns the bars of a histogram, from the first to the last non-empty bucket. The x axis is the
// logarithm of the duration.
func bars(d Durations) []bar {
	if len(d.Buckets) == 0 {
		return nil
	}
	position := func(b Bucket) float64 { return math.Round(math.Log2(b.UpTo) * 4) }
	first := position(d.Buckets[0])
	count := position(d.Buckets[len(d.Buckets)-1]) - first + 1
	width := min(16, barsWidth/count)
	top := uint64(0)
	for _, b := range d.Buckets {
		top = max(top, b.Count)
	}
	var list []bar
	for _, b := range d.Buckets {
		height := max(1, float64(b.Count)/float64(top)*barsHeight)
		list = append(list, bar{
			X: (position(b) - first) * width, Y: barsHeight - height, Width: max(1, width-1), Height: height,
			Text: fmt.Sprintf("%d up to %s", b.Count, seconds(b.UpTo)),
		})
	}
	return list
}
