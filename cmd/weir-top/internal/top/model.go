package top

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/64ed045f/weir/cmd/weir-top/internal/client"
	"github.com/64ed045f/weir/cmd/weir-top/internal/text"
	"github.com/64ed045f/weir/weirdebug"
)

// Options are the options of a [Model].
type Options struct {
	Client   *client.Client
	Interval time.Duration       // time between an answer and the next request
	Find     string              // show only pools with this text in their name, kind or place
	First    *weirdebug.Snapshot // the snapshot of all pools to start with
}

// Model is the state of the terminal. It implements [tea.Model], and belongs to one goroutine.
type Model struct {
	ctx           context.Context
	client        *client.Client
	interval      time.Duration
	width, height int
	now           time.Time

	screens []screen // the last one is visible
	request int      // number of the latest request; answers to earlier requests are ignored
	cancel  context.CancelFunc

	control bool // the server allows changes
	prompt  *prompt
	note    string // what the last key has done
}

// A screen is one view of the terminal.
type screen interface {
	// query returns what to ask the server for.
	query() url.Values
	// take shows the answer. It fails if the answer is for something else.
	take(*weirdebug.Snapshot) error
	// draw returns the lines above the rows, the rows from one number to another, and the keys. No line is
	// wider than width.
	draw(width, height int) drawing
	// key handles a key, and returns false if the key means nothing here.
	key(m *Model, key string) (tea.Cmd, bool)
	// state returns the state that all screens have.
	state() *common
}

// drawing is the content of a screen.
type drawing struct {
	head []string
	row  func(i int) string // the line of row i
	keys string
}

// common is the state that all screens have.
type common struct {
	list
	at    time.Time // time of the last answer; zero if there was none
	fault error     // the error since the last answer
	still bool      // the screen shows one answer, and asks for no other
}

func (c *common) state() *common { return c }

// The messages.
type (
	answerMsg struct {
		request  int
		snapshot *weirdebug.Snapshot
		err      error
		at       time.Time
	}
	pollMsg  struct{ request int }
	clockMsg time.Time
	doneMsg  struct {
		note string
		err  error
	}
)

// New returns a Model. Its requests end with ctx.
func New(ctx context.Context, opts Options) *Model {
	pools := newPools(opts.Client.Page(), opts.Find)
	m := &Model{ctx: ctx, client: opts.Client, interval: opts.Interval, now: time.Now(), screens: []screen{pools}, cancel: func() {}}
	if opts.First != nil {
		m.take(pools, opts.First, m.now)
	}
	return m
}

// Init implements [tea.Model].
func (m *Model) Init() tea.Cmd { return tea.Batch(m.fetch(), m.tick()) }

// Update implements [tea.Model].
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case clockMsg:
		m.now = time.Time(msg)
		return m, m.tick()
	case pollMsg:
		if msg.request == m.request {
			return m, m.fetch()
		}
	case answerMsg:
		return m, m.answer(msg)
	case doneMsg:
		m.note = msg.note
		if _, unsure := errors.AsType[*client.Unsure](msg.err); unsure {
			m.note = "perhaps done: " + msg.err.Error()
		} else if msg.err != nil {
			m.note = "not done: " + msg.err.Error()
		}
		return m, m.fetch()
	case tea.PasteMsg:
		if m.prompt != nil {
			m.prompt.insert(msg.Content)
		}
	case tea.KeyPressMsg:
		return m, m.key(msg)
	}
	return m, nil
}

func (m *Model) screen() screen { return m.screens[len(m.screens)-1] }

// fetch asks for what the screen shows. Answers to earlier requests no longer count.
func (m *Model) fetch() tea.Cmd {
	m.cancel()
	ctx, cancel := context.WithCancel(m.ctx)
	m.cancel = cancel
	m.request++
	request, query := m.request, m.screen().query()
	return func() tea.Msg {
		defer cancel()
		snapshot, err := m.client.Get(ctx, query)
		return answerMsg{request, snapshot, err, time.Now()}
	}
}

func (m *Model) answer(msg answerMsg) tea.Cmd {
	if msg.request != m.request {
		return nil
	}
	s := m.screen()
	if s.state().fault = msg.err; msg.err == nil {
		m.take(s, msg.snapshot, msg.at)
	}
	if s.state().still {
		return nil
	}
	return tea.Tick(m.interval, func(time.Time) tea.Msg { return pollMsg{msg.request} })
}

func (m *Model) take(s screen, snapshot *weirdebug.Snapshot, at time.Time) {
	m.control, m.now = snapshot.Control, at
	if s.state().fault = s.take(snapshot); s.state().fault == nil {
		s.state().at = at
	}
}

// tick redraws every second, so that the age of the data stays right while no answer comes.
func (m *Model) tick() tea.Cmd {
	return tea.Tick(time.Second, func(t time.Time) tea.Msg { return clockMsg(t) })
}

// open shows a new screen on top of the others.
func (m *Model) open(s screen) tea.Cmd {
	m.screens = append(m.screens, s)
	return m.fetch()
}

func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	if key == "ctrl+c" {
		return tea.Quit
	}
	m.note = ""
	if m.prompt != nil {
		done, cmd := m.prompt.key(msg)
		if done {
			m.prompt = nil
		}
		return cmd
	}
	if m.screen().state().move(key) {
		return nil
	}
	if cmd, ok := m.screen().key(m, key); ok {
		return cmd
	}
	switch key {
	case "q":
		return tea.Quit
	case "esc", "backspace":
		if len(m.screens) > 1 {
			m.screens = m.screens[:len(m.screens)-1]
			return m.fetch()
		}
	}
	return nil
}

// View implements [tea.Model].
func (m *Model) View() tea.View {
	v := tea.NewView(m.content())
	v.AltScreen = true
	return v
}

// content returns the lines of the terminal, no more and no wider than fit.
func (m *Model) content() string {
	if m.width < 1 || m.height < 1 {
		return ""
	}
	s := m.screen()
	d := s.draw(m.width, m.height)
	head, tail := d.head, []string{m.status(), faint.Styled(text.Clean(d.keys, m.width))}
	if m.height < 8 { // keep the last line of the head: it has the titles of the columns
		head, tail = head[len(head)-1:], tail[:1]
	}
	head = head[:max(0, min(len(head), m.height-len(tail)-1))]
	rows := s.state().window(m.height - len(head) - len(tail))
	lines := head
	for i := rows.from; i < rows.to; i++ {
		line := d.row(i)
		if i == rows.chosen {
			line = chosen.Styled(plain(line))
		}
		lines = append(lines, line)
	}
	for len(lines) < m.height-len(tail) {
		lines = append(lines, "")
	}
	lines = append(lines, tail...)
	return strings.Join(lines[:min(len(lines), m.height)], "\n")
}

// status returns the line above the keys: a question, an error, or what a key has done.
func (m *Model) status() string {
	c := m.screen().state()
	age := m.now.Sub(c.at)
	switch {
	case m.prompt != nil:
		return m.prompt.draw(m.width)
	case m.note != "":
		return bold.Styled(text.Clean(m.note, m.width))
	case c.fault != nil && !errors.Is(c.fault, context.Canceled):
		return alarm.Styled(text.Clean(fmt.Sprintf("%s; %v", aged(c.at, age), c.fault), m.width))
	case c.at.IsZero():
		return text.Clean("asking the server…", m.width)
	case !c.still && age > m.interval+2*time.Second:
		return alarm.Styled(text.Clean(aged(c.at, age)+"; the server is slow to answer", m.width))
	}
	return ""
}

func aged(at time.Time, age time.Duration) string {
	if at.IsZero() {
		return "there is no answer yet"
	}
	return "what you see is " + text.Duration(max(age, time.Second).Truncate(time.Second).Seconds()) + " old"
}
