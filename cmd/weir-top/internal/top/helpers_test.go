package top_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/64ed045f/weir/cmd/weir-top/internal/client"
	"github.com/64ed045f/weir/cmd/weir-top/internal/top"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirdebug"
)

// server answers with what it has. It is an http.RoundTripper, so that there is no network, which bubbles can't wait for.
type server struct {
	mu       sync.Mutex // of all below
	snapshot weirdebug.Snapshot
	down     bool
	all      bool // answers with all pools where it is asked for one
	slow     time.Duration
	requests []string
}

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	if slow := s.isSlow(); slow > 0 {
		select {
		case <-time.After(slow):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	line := r.URL.RawQuery
	if r.Body != nil {
		form, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		line += " " + string(form)
	}
	s.requests = append(s.requests, line)
	if s.down {
		return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	}
	w := httptest.NewRecorder()
	if answer, ok := s.answer(r.URL.Query()); ok {
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			return nil, err
		}
	} else {
		http.Error(w, "there is no such pool", http.StatusNotFound)
	}
	return w.Result(), nil
}

func (s *server) isSlow() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.slow
}

// become changes the server.
func (s *server) become(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// got returns the requests since it was called last.
func (s *server) got() (requests []string) {
	s.become(func() { requests, s.requests = s.requests, nil })
	return requests
}

// answer keeps what the query asks for.
func (s *server) answer(query url.Values) (weirdebug.Snapshot, bool) {
	all := s.snapshot
	all.Time = all.Time.Add(time.Since(bubbleStart))
	one := weirdebug.Snapshot{Time: all.Time, Control: all.Control}
	switch {
	case s.all:
	case query.Has("group"):
		for _, g := range all.Groups {
			if fmt.Sprint(g.ID) == query.Get("group") {
				g.Running = withStacks(g.Running)
				one.Groups = []weirdebug.Group{g}
			}
		}
		return one, one.Groups != nil
	case query.Has("pool"):
		for _, p := range all.Pools {
			if fmt.Sprint(p.ID) == query.Get("pool") {
				if query.Has("worker") {
					p.Running = withStacks(p.Running)
				}
				one.Pools = []weirdebug.Pool{p}
			}
		}
		one.Groups = all.Groups
		return one, one.Pools != nil
	}
	one.PoolsLeftOut, one.GroupsLeftOut, one.Groups = all.PoolsLeftOut, all.GroupsLeftOut, all.Groups
	one.Longest, one.LongestLeftOut, one.Queues = all.Longest, all.LongestLeftOut, all.Queues
	for _, p := range all.Pools {
		if strings.Contains(p.Name+p.Kind+p.Made, query.Get("find")) {
			p.Running, p.Wait.Buckets, p.Run.Buckets = nil, nil, nil
			one.Pools = append(one.Pools, p)
		}
	}
	return one, true
}

func withStacks(tasks []weirdebug.Task) (list []weirdebug.Task) {
	for _, task := range tasks {
		task.Stack = fmt.Sprintf("main.work(%d)\n\t/src/main.go:12 +0x1d\n", task.Worker) + strings.Repeat("main.deeper(...)\n\t/src/main.go:20\n", 20)
		list = append(list, task)
	}
	return list
}

// bubbleStart is when the clock of each bubble starts.
var bubbleStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// terminal runs a Model as Bubble Tea does.
type terminal struct {
	*testing.T
	model    *top.Model
	messages chan tea.Msg
	over     chan struct{}
	quit     bool
}

// show runs the test with a terminal of that size in a bubble.
func show(t *testing.T, s http.RoundTripper, width, height int, test func(t *terminal)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c, err := client.New("http://me:geheim@host:6060/debug/weir/", client.Options{Transport: s})
		check.Must(t, err)
		screen := &terminal{T: t, messages: make(chan tea.Msg), over: make(chan struct{})}
		defer func() {
			close(screen.over)
			time.Sleep(time.Minute) // until no command waits any more
		}()
		screen.model = top.New(t.Context(), top.Options{Client: c, Interval: time.Second})
		screen.run(screen.model.Init())
		screen.resize(width, height)
		test(screen)
	})
}

func (t *terminal) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		switch msg := cmd().(type) {
		case tea.BatchMsg:
			for _, cmd := range msg {
				t.run(cmd)
			}
		default:
			select {
			case t.messages <- msg:
			case <-t.over:
			}
		}
	}()
}

func (t *terminal) update(msg tea.Msg) {
	if _, ok := msg.(tea.QuitMsg); ok {
		t.quit = true
	}
	_, cmd := t.model.Update(msg)
	t.run(cmd)
}

// pass lets time pass.
func (t *terminal) pass(d time.Duration) {
	for end := time.After(d); ; {
		select {
		case msg := <-t.messages:
			t.update(msg)
		case <-end:
			return
		}
	}
}

func (t *terminal) resize(width, height int) {
	t.update(tea.WindowSizeMsg{Width: width, Height: height})
	t.pass(time.Millisecond)
}

var special = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome,
	"end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "backspace": tea.KeyBackspace,
}

// press presses keys, by their names or else their characters, and waits for the answer of the server.
func (t *terminal) press(keys ...string) {
	for _, key := range keys {
		if code, ok := special[key]; ok {
			t.update(tea.KeyPressMsg{Code: code})
		} else {
			for _, r := range key {
				t.update(tea.KeyPressMsg{Code: r, Text: string(r)})
			}
		}
		t.pass(time.Millisecond)
	}
}

var style = regexp.MustCompile("\x1b\\[[0-9;]*m")

// text returns what the terminal shows, without styles; » is before a row that is chosen.
func (t *terminal) text() string {
	return ansi.Strip(strings.ReplaceAll(t.model.View().Content, "\x1b[7m", "»"))
}

func (t *terminal) wants(texts ...string) {
	t.Helper()
	for _, want := range texts {
		if !strings.Contains(t.text(), want) {
			t.Errorf("%q is missing in\n%s", want, t.text())
		}
	}
}

func (t *terminal) wantsNo(texts ...string) {
	t.Helper()
	for _, no := range texts {
		if strings.Contains(t.text(), no) {
			t.Errorf("%q is in\n%s", no, t.text())
		}
	}
}

// fits checks that the view has that size at most, and nothing but text and styles.
func (t *terminal) fits(width, height int) {
	t.Helper()
	content := t.model.View().Content
	lines := strings.Split(style.ReplaceAllString(content, ""), "\n")
	if len(lines) > height {
		t.Errorf("%dx%d: there are %d lines", width, height, len(lines))
	}
	for _, line := range lines {
		if strings.ContainsFunc(line, func(r rune) bool {
			return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e
		}) {
			t.Errorf("%dx%d: a character that must be escaped is in %q", width, height, line)
		}
		if ansi.StringWidth(line) > width {
			t.Errorf("%dx%d: %d cells are in %q", width, height, ansi.StringWidth(line), line)
		}
	}
}

// golden compares with a file of testdata, or writes it: go test -write.
var write = flag.Bool("write", false, "write the files of testdata anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	lines := strings.Split(got, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	got = strings.Join(lines, "\n") + "\n"
	if *write {
		check.Must(t, os.WriteFile(file, []byte(got), 0o666))
	}
	want, err := os.ReadFile(file)
	check.Must(t, err)
	if got != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

// program is a server of some pools and groups.
func program() *server {
	ago := func(d time.Duration) time.Time { return bubbleStart.Add(-d) }
	durations := func(p50, p99 float64) weirdebug.Durations {
		return weirdebug.Durations{Count: 1234, Sum: 50, P50: p50, P99: p99, Buckets: []weirdebug.Bucket{
			{UpTo: 1. / 1024, Count: 10}, {UpTo: 1. / 512, Count: 400}, {UpTo: 1. / 256, Count: 800}, {UpTo: 1, Count: 24},
		}}
	}
	return &server{snapshot: weirdebug.Snapshot{
		Time: bubbleStart, Control: true, PoolsLeftOut: 7, LongestLeftOut: 3,
		Longest: []weirdebug.Task{
			{Pool: 1, Worker: 2, Label: "letter 7", Since: ago(90 * time.Second), Group: 11, Waits: "group", At: "main.work (main.go:12)"},
			{Worker: 1, Since: ago(time.Minute), Group: 13, At: "main.own (main.go:40)"},
		},
		Pools: []weirdebug.Pool{
			{ID: 1, Name: "mail", Kind: "Pool", Made: "/src/mail.go:12", Wait: durations(0.012, 1.5), Run: durations(0.003, 0.2), Oldest: 2.5,
				Stats:      weirdebug.Stats{Limit: 4, Workers: 4, Running: 3, Suspended: 1, Queued: 250, Waiting: 2, Accepted: 99999, Finished: 99700},
				Throughput: []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
				Running: []weirdebug.Task{
					{Worker: 2, Label: "letter 7", Since: ago(90 * time.Second), Group: 11, Waits: "group"},
					{Worker: 1, Label: "letter 8", Since: ago(20 * time.Millisecond)},
				}},
			{ID: 2, Kind: "FuncPool[int]", Made: "/src/deep/import.go:7", Wait: durations(0, 0), Run: durations(1e-6, 5e-6),
				Stats: weirdebug.Stats{Limit: 64, Workers: 2, Idle: 2, Accepted: 12, Finished: 12}},
			{ID: 3, Name: "stuck", Kind: "Stateful[S,int]", Made: "/src/a.go:1", Oldest: 4000,
				Stats: weirdebug.Stats{Limit: 1, Running: 1, Queued: 9, Paused: true},
				Lints: []weirdebug.Lint{{Rule: "stuck", Text: "9 tasks wait to start, and the pool is paused"}, {Rule: "slow", Text: "1 task has run long"}}},
		},
		Queues: []weirdebug.Queue{
			{Name: "jobs", Server: "/var/lib/jobs", Waiting: 1000, Error: "no answer within 2s"},
			{Name: "mail", Server: "nats://host", Waiting: 123456, Leased: 12, Dead: 3, Accepted: 1e6, Oldest: 90, At: bubbleStart},
		},
		Groups: []weirdebug.Group{
			{ID: 12, Pool: 1, Name: "mail", Label: "inner", Made: "/src/mail.go:30", Waits: "/src/mail.go:33", Since: ago(80 * time.Second), Parent: 11, ParentPool: 1, ParentWorker: 2,
				Tasks: 5, LeftOut: 4, Running: []weirdebug.Task{{Pool: 1, Worker: 3, Label: "inner", Since: ago(time.Second)}}},
			{ID: 11, Pool: 1, Name: "mail", Label: "outer", Made: "/src/mail.go:20", Since: ago(100 * time.Second), Tasks: 1,
				Running: []weirdebug.Task{{Pool: 1, Worker: 2, Label: "letter 7", Since: ago(90 * time.Second), Waits: "group"}}},
			{ID: 13, Name: "own", Since: ago(time.Minute), ParentPool: 2, ParentWorker: 9, Tasks: 2,
				Running: []weirdebug.Task{{Worker: 1, Since: ago(time.Minute)}}},
			{ID: 14, Since: ago(time.Minute), Parent: 15, ParentWorker: 1},
			{ID: 15, Since: ago(time.Minute), Parent: 14, ParentWorker: 1},
		},
	}}
}
