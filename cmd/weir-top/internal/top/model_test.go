package top_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/64ed045f/weir/weirdebug"
)

func TestEachScreenLooksAsItShould(t *testing.T) {
	for _, c := range []struct {
		name          string
		width, height int
		keys          []string
	}{
		{"pools", 80, 24, nil},
		{"pools_wide", 130, 12, nil},
		{"pools_small", 40, 7, nil},
		{"pool", 80, 24, []string{"enter"}},
		{"pool_narrow", 50, 30, []string{"enter"}},
		{"pool_lints", 80, 16, []string{"down", "enter"}},
		{"stack", 60, 12, []string{"enter", "enter"}},
		{"tree", 90, 18, []string{"t"}},
		{"oldest", 100, 8, []string{"o"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			show(t, program(), c.width, c.height, func(screen *terminal) {
				screen.press(c.keys...)
				screen.fits(c.width, c.height)
				golden(t, c.name, screen.text())
			})
		})
	}
}

func TestEveryScreenFitsIntoEverySize(t *testing.T) {
	for _, keys := range [][]string{nil, {"enter"}, {"enter", "enter"}, {"t"}, {"l"}, {"o"}, {"enter", "t"}} {
		show(t, program(), 80, 24, func(screen *terminal) {
			screen.press(keys...)
			for _, width := range []int{0, 1, 2, 10, 33, 60, 81, 200} {
				for _, height := range []int{0, 1, 2, 3, 5, 8, 13, 60} {
					screen.resize(width, height)
					screen.fits(width, max(1, height))
				}
			}
		})
	}
}

// hostile is text that would do harm in a terminal.
var hostile = "\x1b[2J\x1b]0;title\a\n\r\t\u009b31m\u202e" + strings.Repeat("日e\u0301\u0301\u0301\u200d👩🏽", 5000)

func TestHostileTextReachesNoTerminal(t *testing.T) {
	s := program()
	for i := range s.snapshot.Pools {
		p := &s.snapshot.Pools[i]
		p.Name, p.Kind, p.Made = hostile, hostile, hostile
		p.Lints = []weirdebug.Lint{{Rule: hostile, Text: hostile}}
		p.Stats.Running, p.Stats.Queued, p.Stats.Limit, p.Oldest = math.MinInt, math.MaxInt, -5, 1e300
		p.Wait.Buckets = []weirdebug.Bucket{{UpTo: -1, Count: 3}, {UpTo: 0}, {UpTo: 1e300, Count: 1}, {UpTo: 1e-300, Count: 1}, {UpTo: 1, Count: 1<<64 - 1}}
		for j := range p.Running {
			p.Running[j].Label, p.Running[j].Waits = hostile, hostile
		}
	}
	for i := range s.snapshot.Longest {
		t := &s.snapshot.Longest[i]
		t.Label, t.Waits, t.At = hostile, hostile, hostile
	}
	for i := range s.snapshot.Groups {
		g := &s.snapshot.Groups[i]
		g.Name, g.Label, g.Made, g.Waits, g.Since = hostile, hostile, hostile, hostile, time.Time{}
		for j := range g.Running {
			g.Running[j].Label, g.Running[j].Waits = hostile, hostile
		}
	}
	for _, keys := range [][]string{nil, {"enter"}, {"enter", "enter"}, {"t"}, {"l"}, {"p"}, {"o"}, {"enter", "t"}, {"t", "down", "enter"}} {
		show(t, s, 80, 24, func(screen *terminal) {
			screen.press(keys...)
			screen.fits(80, 24)
			screen.resize(300, 50)
			screen.fits(300, 50)
			screen.update(tea.PasteMsg{Content: hostile})
			screen.fits(300, 50)
		})
	}
}

func TestKeysSortThePools(t *testing.T) {
	show(t, program(), 140, 24, func(screen *terminal) {
		order := func(want string) {
			t.Helper()
			got := ""
			for line := range strings.Lines(screen.text()) {
				for _, name := range []string{"mail", "import.go:7", "stuck"} {
					if strings.HasPrefix(strings.TrimLeft(line, "» !PC"), name) {
						got += name[:1]
					}
				}
			}
			if got != want {
				t.Errorf("the order is %s, want %s, in\n%s", got, want, screen.text())
			}
		}
		order("msi") // by QUEUED
		screen.press("r")
		order("ism")
		screen.wants("▲QUEUED", "»  mail") // the choice stays with its pool
		screen.press("r", "<")
		screen.wants("▼ IDLE")
		order("ims") // by IDLE
		screen.press("left", "left")
		screen.wants("▼LIMIT")
		order("ims") // by LIMIT
		screen.press("S")
		screen.wants("▼ NAME")
		order("ims")
		screen.press("S")
		screen.wants("▼OLDEST")
		order("smi")
		for range 12 {
			screen.press("s")
		}
		screen.wants("▼OLDEST")
	})
}

func TestTheLastRowsAreReachedByKeys(t *testing.T) {
	s := program()
	for i := range 100 {
		s.snapshot.Pools = append(s.snapshot.Pools, weirdebug.Pool{ID: uint64(100 + i), Name: fmt.Sprintf("pool%02d", i)})
	}
	show(t, s, 80, 17, func(screen *terminal) {
		screen.press("end")
		screen.wants("pool99")
		screen.wantsNo("mail")
		screen.press("pgup", "up")
		screen.wants("»  pool88")
		screen.press("home")
		screen.wants("»  mail")
		screen.press("pgdown", "down", "k")
		screen.wants("»  pool07")
		s.become(func() { s.snapshot.Pools = s.snapshot.Pools[:2] }) // the others are closed
		screen.pass(2 * time.Second)
		screen.wants("»  import.go:7", "2 pools")
		screen.fits(80, 17)
	})
}

func TestTheOldestTasksShowTheirStacks(t *testing.T) {
	show(t, program(), 120, 20, func(screen *terminal) {
		screen.wants("oldest task: 1.5m  main.work (main.go:12)  letter 7")
		screen.press("/", "ma", "enter", "o")
		screen.wants("3 younger ones left out", "letter 7", "main.work (main.go:12)")
		screen.press("enter")
		screen.wants("main.work(2)")
		screen.press("esc", "down", "enter")
		screen.wants("task of worker 1, since 1m")
	})
}

func TestSlashFindsPoolsAndEscShowsAllAgain(t *testing.T) {
	s := program()
	show(t, s, 80, 24, func(screen *terminal) {
		screen.press("/", "mix", "backspace", "backspace", "ail")
		screen.wants("mail▏", "stuck")
		screen.press("enter")
		screen.wants(`1 pool with "mail" (7 more are left out)`)
		screen.wantsNo("stuck")
		screen.pass(3 * time.Second)
		screen.wantsNo("stuck")
		screen.press("esc")
		screen.wants("3 pools", "stuck")
		screen.press("/", "q", "esc") // no q quits in a question
		screen.wants("3 pools")
	})
}

func TestScreensAreOpenedAndLeft(t *testing.T) {
	s := program()
	var requests []string
	show(t, s, 100, 24, func(screen *terminal) {
		screen.press("enter")
		screen.wants("pool 1  mail", "letter 7", "letter 8", "1.5m")
		screen.press("down", "enter")
		screen.wants("task of worker 1, since 23ms, letter 8", "main.work(1)")
		screen.press("pgdown", "down")
		screen.wantsNo("main.work(1)")
		screen.press("home", "right")
		screen.wants("\nk(1)")
		requests = s.got()
		screen.pass(10 * time.Second)
		if s.got() != nil {
			t.Error("stacks are asked for again and again, which stops the program each time")
		}
		screen.press("esc", "t")
		screen.wants("groups of mail", "group 11 outer")
		screen.press("enter")
		screen.wants("this is a group")
		screen.press("down", "enter")
		screen.wants("task of worker 2", "main.work(2)")
		screen.press("esc", "esc", "esc", "t", "G")
		screen.wants("groups of http://host:6060/debug/weir/", "task of pool 2, worker 9", "group 13 on own")
		screen.press("esc", "q")
		if !screen.quit {
			t.Error("q does not quit")
		}
	})
	requests = append(requests, s.got()...)
	if last := requests[len(requests)-1]; last != "format=json" {
		t.Errorf("the last request is %q", last)
	}
	for _, want := range []string{"format=json&pool=1", "format=json&pool=1&worker=1", "format=json&groups=1", "format=json&pool=1&worker=2"} {
		if !slices.Contains(requests, want) {
			t.Errorf("%q was not requested, but %q", want, requests)
		}
	}
}

func TestTheStackOfATaskWithoutAPoolIsThatOfItsGroup(t *testing.T) {
	s := program()
	show(t, s, 100, 24, func(screen *terminal) {
		screen.press("t", "home")
		for !strings.Contains(screen.text(), "»     1m      worker 1") {
			before := screen.text()
			if screen.press("down"); screen.text() == before {
				t.Fatalf("the task is not there:\n%s", before)
			}
		}
		screen.press("enter")
		screen.wants("task of worker 1, since 1m", "main.work(1)")
	})
	if requests := s.got(); !slices.Contains(requests, "format=json&group=13&worker=1") {
		t.Errorf("the requests are %q", requests)
	}
}

func TestControlAsksBeforeItChangesAPool(t *testing.T) {
	s := program()
	posts := func() (list []string) {
		for _, r := range s.got() {
			if strings.Contains(r, " ") {
				list = append(list, r)
			}
		}
		return list
	}
	show(t, s, 100, 24, func(screen *terminal) {
		for _, c := range []struct {
			keys  []string
			shown string
			post  string
		}{
			{[]string{"p"}, "Shall pool mail be paused? (y/n)", ""},
			{[]string{"n", "enter"}, "", ""},
			{[]string{"p", "x", "enter"}, "y or n", ""},
			{[]string{"backspace", "y", "enter"}, "pool mail is paused", "format=json&pool=1 do=pause"},
			{[]string{"+"}, "New limit of pool mail, which has 4 (Enter sets it, Esc does not): 5▏", ""},
			{[]string{"esc"}, "", ""},
			{[]string{"-", "enter"}, "pool mail has the limit 3", "format=json&pool=1 do=resize&limit=3"},
			{[]string{"l", "0", "enter"}, "must be a number, 1 or more", ""},
			{[]string{"backspace", "16", "enter"}, "pool mail has the limit 16", "format=json&pool=1 do=resize&limit=16"},
			{[]string{"down", "p", "y", "enter"}, "pool stuck is resumed", "format=json&pool=3 do=resume"},
			{[]string{"enter", "+", "enter"}, "pool stuck has the limit 2", "format=json&pool=3 do=resize&limit=2"},
		} {
			screen.press(c.keys...)
			screen.wants(c.shown)
			if got := strings.Join(posts(), ", "); got != c.post {
				t.Errorf("%q: posts %q, want %q", c.keys, got, c.post)
			}
		}
		s.become(func() { s.snapshot.Pools[2].Stats.Limit = math.MaxInt }) // weir.Unbounded
		screen.pass(3 * time.Second)
		screen.press("+", "enter")
		if got, want := posts(), fmt.Sprintf("format=json&pool=3 do=resize&limit=%d", math.MaxInt); len(got) != 1 || got[0] != want {
			t.Errorf("posts %q, want %q", got, want)
		}
		screen.press("p")
		s.become(func() { s.down = true })
		screen.press("y", "enter")
		screen.wants("not done: dial: connection refused")
		posts()
		s.become(func() { s.down = false })
		s.become(func() { s.snapshot.Control = false })
		screen.pass(2 * time.Second)
		for _, key := range []string{"p", "+", "-", "l"} {
			screen.press(key, "enter")
			if got := posts(); got != nil {
				t.Errorf("%s: posts %q", key, got)
			}
		}
		screen.press("esc", "esc", "l")
		screen.wants("the server does not allow changes: its handler is made without weirdebug.Control")
	})
}

func TestAnErrorIsShownWithTheAgeOfTheDataUntilTheServerAnswers(t *testing.T) {
	s := program()
	show(t, s, 100, 24, func(screen *terminal) {
		screen.wantsNo("what you see is")
		s.become(func() { s.down = true })
		screen.pass(30 * time.Second)
		screen.wants("mail", "what you see is 30s old; dial: connection refused")
		s.become(func() { s.down = false })
		screen.pass(2 * time.Second)
		screen.wantsNo("what you see is")
		s.become(func() { s.slow = time.Hour })
		screen.pass(8 * time.Second)
		screen.wants("s old; the server is slow to answer")
		screen.pass(8 * time.Second)
		screen.wants("s old; the server has not answered within 10s")
		s.become(func() { s.slow = 0 })
		screen.pass(12 * time.Second)
		screen.wantsNo("what you see is")
		screen.press("enter")
		s.become(func() { s.snapshot.Pools = s.snapshot.Pools[1:] })
		screen.pass(3 * time.Second)
		screen.wants("letter 7", "old; the server answers 404 Not Found: there is no such pool")
		s.become(func() { s.snapshot.Pools = append(s.snapshot.Pools, weirdebug.Pool{ID: 1}, weirdebug.Pool{ID: 1}) })
		s.become(func() { s.all = true })
		screen.pass(3 * time.Second)
		screen.wants("letter 7", "old; the server answers with 4 pools")
	})
}

func TestRequestsAreMadeAtTheIntervalAndNeverTwoAtOnce(t *testing.T) {
	s := program()
	show(t, s, 80, 24, func(screen *terminal) {
		screen.pass(10 * time.Second)
		if n := len(s.got()); n < 10 || n > 12 {
			t.Errorf("%d requests in 10 s", n)
		}
		screen.press("enter", "esc", "t", "esc", "enter") // each has its own requests, and ends those of the last
		s.got()
		screen.pass(10 * time.Second)
		if n := len(s.got()); n < 9 || n > 11 {
			t.Errorf("%d requests in 10 s after other screens", n)
		}
	})
}
