package top_test

import (
	"testing"
	"time"

	"github.com/64ed045f/weir/cmd/weir-top/internal/top"
	"github.com/64ed045f/weir/weirdebug"
)

func TestTheTreeShowsAnyGroups(t *testing.T) {
	one := []weirdebug.Task{{Worker: 1}}
	for name, groups := range map[string][]weirdebug.Group{
		"without an ID":        {{}},
		"without IDs, nested":  {{Running: one}, {ParentPool: 1, ParentWorker: 1}, {ParentPool: 1, ParentWorker: 1, Running: one}},
		"of a pool's task":     {{ID: 1, ParentPool: 1, ParentWorker: 1}, {ID: 2, ParentPool: 1}, {ID: 1, ParentPool: 1}},
		"their own parents":    {{ID: 1, Parent: 1, ParentWorker: 1, Running: one}},
		"each other's parents": {{ID: 1, Parent: 2, ParentWorker: 1, Running: one}, {ID: 2, Parent: 1, ParentWorker: 1, Running: one}, {ID: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			s := program()
			s.snapshot.Groups = groups
			show(t, s, 90, 18, func(screen *terminal) {
				screen.press("t", "end", "enter")
				screen.fits(90, 18)
			})
		})
	}
}

// Each step of these is quick, and all of them squared would take minutes.
func TestTheTreeOfManyGroupsIsThereAtOnce(t *testing.T) {
	const n = 50_000
	wide, twice, deep := []weirdebug.Group{{ID: 1}}, []weirdebug.Group{{ID: 1}}, []weirdebug.Group{{ID: 1}}
	for i := range n {
		id := uint64(i + 2)
		wide[0].Running = append(wide[0].Running, weirdebug.Task{Worker: i + 2})
		wide = append(wide, weirdebug.Group{ID: id, Parent: 1, ParentWorker: 1})
		twice[0].Running = append(twice[0].Running, weirdebug.Task{Worker: 1})
		twice = append(twice, weirdebug.Group{ID: id, Parent: 1, ParentWorker: 1})
		deep = append(deep, weirdebug.Group{ID: id, Parent: id - 1})
	}
	for name, groups := range map[string][]weirdebug.Group{"tasks and groups": wide, "a task that is listed again and again": twice, "nested groups": deep} {
		began := time.Now()
		if rows := top.Rows(groups); rows <= n {
			t.Errorf("%s: %d rows", name, rows)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s take %v", name, took)
		}
	}
}
