package weirdebug

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed page.html
var pageText string

//go:embed page.css
var style string

// policy lets a page have our style, and nothing else.
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
	"link":  link,
	"first": func(d Durations) string { return seconds(d.Buckets[0].UpTo) },
	"till":  func(d Durations) string { return seconds(d.Buckets[len(d.Buckets)-1].UpTo) },
}).Parse(pageText))

// page is what the templates show.
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
			refresh = 0 // a reader reads, or fills in a form
		}
	}
	return page{s, v, refresh}
}

// Query returns the page's own query with another value for a parameter; "" for none.
func (p page) Query(name, value string) template.URL { return template.URL("?" + p.with(name, value)) } //nolint:gosec // encoded

// Find is what was searched for.
func (p page) Find() string { return p.find }

// Group is the ID of the group that was asked for; 0 for all.
func (p page) Group() uint64 { return p.group }

// Slow is what counts as slow.
func (p page) Slow() time.Duration { return p.slow }

// Title names the page.
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

// Since tells how long ago t was.
func (p page) Since(t time.Time) since {
	return since{seconds(p.Time.Sub(t).Seconds()), t.Format("2006-01-02 15:04:05.000 MST")}
}

// row is a task, and what the page knows of it.
type row struct {
	Task
	PoolName string
	Since    since
	For      []uint64 // the IDs of the groups that were made in it, if it waits
	Stuck    bool     // it is slow, and waits for nothing that the library knows of
}

// Rows returns those of tasks.
func (p page) Rows(tasks []Task) (rows []row) {
	for _, t := range tasks {
		rows = append(rows, p.Row(t))
	}
	return rows
}

// Row returns the row of a task.
func (p page) Row(t Task) row {
	r := row{Task: t, PoolName: p.NameOf(t.Pool), Since: p.Since(t.Since), Stuck: t.Waits == "" && p.Time.Sub(t.Since) >= p.slow}
	if t.Waits != "" {
		r.For = p.made[newParent(t.Group, t.Pool, t.Worker)]
	}
	return r
}

// NameOf names the pool of a task.
func (p page) NameOf(id uint64) string {
	for _, pool := range p.Pools {
		if pool.ID == id {
			return short(pool)
		}
	}
	return fmt.Sprintf("pool %d", id)
}

// link is the query of the page with the task's stack.
func link(r row) template.URL {
	t := r.Task
	of, id := "group", t.Group
	if t.Pool > 0 {
		of, id = "pool", t.Pool
	}
	return template.URL(fmt.Sprintf("?%s=%d&worker=%d", of, id, t.Worker)) //nolint:gosec // numbers
}

// Tasks are those of a stack page.
func (p page) Tasks() []Task {
	if len(p.Pools) > 0 {
		return p.Pools[0].Running
	}
	return p.Groups[0].Running
}

// node is a group of the tree, or a task in it.
type node struct {
	page   page
	Group  *Group
	Task   *Task
	Sought bool // by its ID
	Below  []node
}

// Since is how long the group or task has been there.
func (n node) Since() since {
	if n.Task != nil {
		return n.page.Since(n.Task.Since)
	}
	return n.page.Since(n.Group.Since)
}

// Row is the task with its page.
func (n node) Row() row { return n.page.Row(*n.Task) }

// Tree returns the groups, each below the task in which it was made.
func (p page) Tree() []node {
	groups := p.Groups
	if p.page == pageStack {
		groups = p.around
	}
	type key struct { // a task of a group; zero for none
		group  uint64
		worker int
	}
	byID := make(map[uint64]bool, len(groups))
	for _, g := range groups {
		byID[g.ID] = true
	}
	below := make(map[key][]*Group)
	for i := range groups {
		g := &groups[i]
		k := key{}
		if byID[g.Parent] {
			k = key{g.Parent, g.ParentWorker}
		}
		below[k] = append(below[k], g)
	}
	var add func(list []*Group) []node
	add = func(list []*Group) (nodes []node) {
		for _, g := range list {
			n := node{page: p, Group: g, Sought: p.page == pageGroups && g.ID == p.group}
			for i := range g.Running {
				k := key{g.ID, g.Running[i].Worker}
				n.Below = append(n.Below, node{page: p, Task: &g.Running[i], Below: add(below[k])})
				delete(below, k)
			}
			// What was made in tasks that are not listed.
			var rest []*Group
			for k, list := range below {
				if k.group == g.ID {
					rest = append(rest, list...)
					delete(below, k)
				}
			}
			slices.SortFunc(rest, func(a, b *Group) int { return cmp.Compare(a.ID, b.ID) })
			n.Below = append(n.Below, add(rest)...)
			nodes = append(nodes, n)
		}
		return nodes
	}
	return add(below[key{}])
}

// short names a pool.
func short(p Pool) string {
	if p.Name != "" {
		return p.Name
	}
	return p.Kind + " of " + p.Made[strings.LastIndexByte(p.Made, '/')+1:]
}

// seconds prints a duration with three digits at most.
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

// rate3 prints a rate with three digits, or those before the point.
func rate3(perSec float64) string {
	if perSec >= 100 {
		return strconv.FormatFloat(perSec, 'f', 0, 64)
	}
	return strconv.FormatFloat(perSec, 'g', 3, 64)
}

// waits says what a task waits for: see [weir.Running].
var waits = map[string]string{
	"group": "a group", "future": "a future", "blocking": "a call of Blocking", "place": "a place, to go on", "other": "tasks elsewhere",
}

// spark returns the points of a line through the values, oldest first; the last stands at the right.
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

// bars returns those of a histogram, whose x axis is the logarithm of the duration: of those that are not empty, and the gaps between.
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
