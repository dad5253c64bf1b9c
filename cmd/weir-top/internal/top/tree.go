package top

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/64ed045f/weir/cmd/weir-top/internal/text"
	"github.com/64ed045f/weir/weirdebug"
)

// tree is the screen of groups, each below the task that made it.
type tree struct {
	common
	of       string // what the groups are of: the page, or a pool
	pool     *weirdebug.Pool
	nodes    []node
	snapshot *weirdebug.Snapshot
}

// node is a row of the tree.
type node struct {
	depth int
	group *weirdebug.Group // nil in the row of a task whose group is not listed
	task  *weirdebug.Task  // a task of the group; nil in the row of the group itself
	key   rowKey
}

// newTree shows the groups of a pool, or all groups if p is nil.
func newTree(of string, p *weirdebug.Pool) *tree {
	return &tree{of: of, pool: p, snapshot: &weirdebug.Snapshot{}}
}

func (s *tree) query() url.Values {
	if s.pool == nil {
		return url.Values{"groups": {"1"}}
	}
	return poolQuery(s.pool.ID)
}

func (s *tree) take(snapshot *weirdebug.Snapshot) error {
	s.snapshot, s.nodes = snapshot, grow(snapshot.Groups)
	keys := make([]rowKey, len(s.nodes))
	for i := range s.nodes {
		keys[i] = s.nodes[i].key
	}
	s.set(keys)
	return nil
}

// taskID identifies a task of a group, or of a pool if it belongs to no group.
type taskID struct {
	group, pool uint64
	worker      int
}

// grower makes the rows of a tree.
type grower struct {
	children map[taskID][]*weirdebug.Group
	begun    map[uint64]bool // groups that have rows; a server may say that two groups are each other's parents
	nodes    []node
}

// grow returns the rows of the groups, oldest first, each below its parent if that is listed.
func grow(groups []weirdebug.Group) []node {
	g := grower{children: make(map[taskID][]*weirdebug.Group), begun: make(map[uint64]bool)}
	list := slices.DeleteFunc(slices.Clone(groups), func(g weirdebug.Group) bool { return g.ID == 0 }) // no group of the library has ID 0
	there := make(map[taskID]bool, len(list))                                                          // groups, as their worker 0, and tasks
	for i := range list {
		there[taskID{group: list[i].ID}] = true
		for _, t := range list[i].Running {
			there[taskID{group: list[i].ID, worker: t.Worker}] = true
		}
	}
	var roots []func()
	slices.SortStableFunc(list, func(a, b weirdebug.Group) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID)) })
	for i := range list {
		group := &list[i]
		id := taskID{group: group.Parent, worker: group.ParentWorker}
		if !there[id] {
			id.worker = 0
		}
		switch {
		case there[id]:
		case group.ParentPool != 0:
			id = taskID{pool: group.ParentPool, worker: group.ParentWorker}
			if g.children[id] == nil {
				roots = append(roots, func() { g.addTask(id) })
			}
		default:
			roots = append(roots, func() { g.add(group, 0) })
			continue
		}
		g.children[id] = append(g.children[id], group)
	}
	for _, add := range roots {
		add()
	}
	for i := range list { // add the groups that remain: their parents form cycles
		g.add(&list[i], 0)
	}
	return g.nodes
}

// addTask adds a task that belongs to no listed group.
func (g *grower) addTask(id taskID) {
	g.nodes = append(g.nodes, node{key: rowKey{pool: id.pool, worker: id.worker}})
	g.addAll(id, 1)
}

func (g *grower) add(group *weirdebug.Group, depth int) {
	if g.begun[group.ID] {
		return
	}
	g.begun[group.ID] = true
	g.nodes = append(g.nodes, node{depth: depth, group: group, key: rowKey{pool: group.Pool, group: group.ID}})
	for i := range group.Running {
		task := &group.Running[i]
		g.nodes = append(g.nodes, node{depth: depth + 1, group: group, task: task, key: rowKey{pool: group.Pool, group: group.ID, worker: task.Worker}})
		if task.Worker != 0 {
			g.addAll(taskID{group: group.ID, worker: task.Worker}, depth+2)
		}
	}
	g.addAll(taskID{group: group.ID}, depth+1)
}

// addAll adds the groups that were made in the task, only once: a server may list the task twice.
func (g *grower) addAll(id taskID, depth int) {
	children := g.children[id]
	delete(g.children, id)
	for _, group := range children {
		g.add(group, depth)
	}
}

func (s *tree) draw(width, _ int) drawing {
	line := "groups of " + text.Clean(s.of, max(10, width-40)) + ": " + plural(len(s.snapshot.Groups), "group")
	if n := s.snapshot.GroupsLeftOut; n > 0 {
		line += fmt.Sprintf(" (%d more are left out)", n)
	}
	return drawing{
		head: []string{bold.Styled(text.Clean(line, width)), titles.Styled(text.Fit("    AGE  GROUPS AND THEIR TASKS", width))},
		row: func(i int) string {
			n := &s.nodes[i]
			when := ""
			if n.group != nil {
				when = age(s.snapshot, n.since())
			}
			return text.Clean(text.Right(when, 7)+"  "+strings.Repeat("  ", min(n.depth, width/4))+n.text(), width)
		},
		keys: "Enter stack of a task  Esc back  q quit",
	}
}

func (n *node) since() time.Time {
	if n.task != nil {
		return n.task.Since
	}
	return n.group.Since
}

// textWidth bounds the width of a name before the line is cut.
const textWidth = 60

func (n *node) text() string {
	if n.group == nil {
		return fmt.Sprintf("task of pool %d, worker %d", n.key.pool, n.key.worker)
	}
	var parts []string
	if t := n.task; t != nil {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("worker %d %s", t.Worker, text.Clean(t.Label, textWidth))))
		if t.Waits != "" {
			parts = append(parts, "waits: "+text.Clean(t.Waits, textWidth))
		}
		return strings.Join(parts, ", ")
	}
	g := n.group
	parts = append(parts, strings.TrimSpace(fmt.Sprintf("group %d %s", g.ID, text.Clean(g.Label, textWidth)))+n.where(), plural(g.Tasks, "task"))
	if g.Waits != "" {
		parts = append(parts, "waits at "+text.Clean(short(g.Waits), textWidth))
	}
	if g.LeftOut > 0 {
		parts = append(parts, text.Count(g.LeftOut)+" of them left out")
	}
	if g.Made != "" {
		parts = append(parts, "made at "+text.Clean(short(g.Made), textWidth))
	}
	return strings.Join(parts, ", ")
}

// where names the pool of the group.
func (n *node) where() string {
	switch g := n.group; {
	case g.Name != "":
		return " on " + text.Clean(g.Name, textWidth)
	case g.Pool != 0:
		return fmt.Sprintf(" on pool %d", g.Pool)
	}
	return ""
}

// age returns how long before the server's answer t was.
func age(snapshot *weirdebug.Snapshot, t time.Time) string {
	return text.Duration(snapshot.Time.Sub(t).Seconds())
}

func (s *tree) key(m *Model, key string) (tea.Cmd, bool) {
	if key != "enter" {
		return nil, false
	}
	row, ok := s.pick()
	switch {
	case !ok:
	case row.worker == 0:
		m.note = "this is a group: tasks have stacks"
	default:
		return m.open(newStack(row)), true
	}
	return nil, true
}
