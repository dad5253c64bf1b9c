package conform

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir/weirnats/internal/backend"
)

// soon is how long a message of these cases must wait. A server may need another quarter of a second to see
// that a message is due.
const soon = 100 * time.Millisecond

// Later runs, at once, the cases of messages that are put for later. run and open are those of Run. half
// moves a due message, but ends before it has removed the message from those for later. It returns when the
// message comes there again.
func Later(
	t *testing.T, run func(*testing.T, func(*testing.T)), open func(t *testing.T, s backend.Settings) backend.Queue, half func(t *testing.T, q backend.Queue),
) {
	cases := []struct {
		name string
		with func(s *backend.Settings)
		test func(l *laterWorld)
	}{
		{"it comes as it was put, when it is due", nil, dueAsPut},
		{"each comes when it is due, in whatever order they were put", nil, dueOrder},
		{"what is due while nothing moves it comes then", nil, overdue},
		{"an ID is put once", nil, dueIDs},
		{"one that was not removed is put once", nil, movedTwice},
		{"one that is known to be done is removed", nil, movedBefore},
		{"several movers put it once", nil, movers},
		{"it waits for room", func(s *backend.Settings) { s.MaxMessages = 2 }, dueFull},
		{"the largest message", nil, dueLargest},
		{"what waits is seen, and not changed", nil, dueSeen},
	}
	all := make([]scenario, len(cases))
	for i, c := range cases {
		all[i] = scenario{c.name, c.with, func(w *world) { c.test(&laterWorld{world: w, half: half}) }}
	}
	runAll(t, "l", all, run, open)
}

type laterWorld struct {
	*world
	half func(t *testing.T, q backend.Queue)
	done atomic.Bool // all messages that are due were put and done before
}

func (l *laterWorld) known(_ context.Context, m *backend.Message) (bool, error) {
	if !strings.HasPrefix(m.DedupID, backend.MovedID) || m.DedupID == backend.MovedID {
		return false, fmt.Errorf("ID is %q", m.DedupID)
	}
	return l.done.Load(), nil
}

// move moves due messages until the function that it returns is called.
func (l *laterWorld) move() (stop func()) {
	ctx, cancel := context.WithCancel(l.Context())
	done := make(chan error, 1)
	go func() { done <- l.Move(ctx, l.known) }()
	return func() {
		l.Helper()
		cancel()
		ok(l, <-done)
	}
}

func (l *laterWorld) putLater(data string, due time.Time) {
	l.Helper()
	ok(l, l.Put(l.Context(), &backend.Message{Codec: "raw", Data: []byte(data), Due: due}))
}

// later returns how many messages wait for their time.
func (l *laterWorld) later() int {
	l.Helper()
	s, err := l.Stats(l.Context())
	ok(l, err)
	return s.Later
}

// settled waits until n messages wait for their time.
func (l *laterWorld) settled(n int) {
	l.Helper()
	for end := time.Now().Add(10 * time.Second); l.later() != n; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			l.Fatalf("%d messages wait for their time", l.later())
		}
	}
}

// stays checks, until end, that later messages wait for their time or for room, and that the given number is
// in the queue. A message whose time comes may count twice meanwhile.
func (l *laterWorld) stays(end time.Time, later, messages int) {
	l.Helper()
	for ; time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		is(l, "some of those that wait for their time are gone", l.later() < later, false)
		is(l, "messages", l.messages(), messages)
	}
	l.settled(later)
}

// messages returns how many messages are in the queue.
func (l *laterWorld) messages() int {
	l.Helper()
	s, err := l.Stats(l.Context())
	ok(l, err)
	return s.Messages
}

func dueAsPut(l *laterWorld) {
	defer l.move()()
	l.putLater("b", time.Now().Add(time.Hour))
	is(l, "messages that wait for their time", l.later(), 1)
	put := time.Now().Add(-time.Hour).Round(0) // as the clock of another machine may show
	due := time.Now().Add(soon)
	m := &backend.Message{
		ID: " an ID\r\nof % bytes\xff ", DedupID: "a", Codec: "some", Carry: map[string]string{"a": "b\n", "ü": ""}, Data: []byte("\x00\xff data"), Put: put, Due: due,
	}
	ok(l, l.Put(l.Context(), m))
	d := l.take()
	if early := time.Until(due); early > 0 {
		l.Fatalf("it comes %v early", early)
	}
	got := d.Message()
	is(l, "ID", got.ID, m.ID)
	is(l, "codec", got.Codec, m.Codec)
	is(l, "data", string(got.Data), string(m.Data))
	is(l, "what travels", maps.Equal(got.Carry, m.Carry), true)
	is(l, "the time of the put is that of the message", got.Put.Equal(put), true)
	is(l, "deliveries", d.Count(), 1)
	ok(l, d.Bury(l.Context(), new(backend.Record), 1))
	dead, err := l.Next(l.Context(), 0)
	ok(l, err)
	is(l, "the time of the put is that of the dead letter", dead.Message.Put.Equal(put), true)
	l.settled(1)
	l.none()
}

func dueOrder(l *laterWorld) {
	defer l.move()()
	begin := time.Now()
	due := map[string]time.Time{}
	for i := range 4 {
		data := fmt.Sprint(3 - i)
		due[data] = begin.Add(time.Duration(3-i) * 3 * soon)
		l.putLater(data, due[data])
	}
	for range 4 {
		d := l.take()
		at, missing := due[text(d)]
		is(l, "message "+text(d)+" is missing", missing, true)
		if early := time.Until(at); early > 0 { // on a slow machine several are late, and come as they were put
			l.Fatalf("%s comes %v early", text(d), early)
		}
		delete(due, text(d))
	}
}

func overdue(l *laterWorld) {
	due := time.Now().Add(soon)
	for i := range 3 {
		l.putLater(fmt.Sprint(i), due)
	}
	l.stays(due.Add(4*soon), 3, 0)
	defer l.move()()
	for i := range 3 {
		is(l, "message", text(l.take()), fmt.Sprint(i))
	}
	l.settled(0)
}

func dueIDs(l *laterWorld) {
	put := func(id, data string, due time.Time) error {
		return l.Put(l.Context(), &backend.Message{DedupID: id, Data: []byte(data), Due: due})
	}
	due := time.Now().Add(soon)
	ok(l, put("a", "1", due))
	is(l, "one with the ID was put before", errors.Is(put("a", "2", due.Add(soon)), backend.ErrDuplicate), true)
	ok(l, put("b", "3", due))
	is(l, "some of those that wait for their time are gone", l.later() < 2, false)
	ok(l, put("a", "4", time.Time{}))
	is(l, "the ID of a message that waits for its time is not one of the queue", text(l.take()), "4")
	defer l.move()()
	is(l, "message", text(l.take()), "1")
	is(l, "message", text(l.take()), "3")
	l.settled(0)
	l.none()
}

func movedTwice(l *laterWorld) {
	l.putLater("a", time.Now().Add(soon))
	for range 2 {
		l.half(l.T, l.Queue)
		is(l, "messages", l.messages(), 1)
		is(l, "messages that wait for their time", l.later(), 1)
	}
	d := l.take()
	is(l, "message", text(d), "a")
	ok(l, d.Ack(l.Context(), true)) // the message may be done before the other one is removed
	defer l.move()()
	l.settled(0)
	is(l, "messages", l.messages(), 0)
}

func movedBefore(l *laterWorld) {
	l.done.Store(true)
	l.putLater("a", time.Now().Add(soon))
	stop := l.move()
	l.settled(0)
	stop()
	l.done.Store(false)
	is(l, "messages", l.messages(), 0)
	l.putLater("b", time.Now().Add(soon))
	defer l.move()()
	is(l, "message", text(l.take()), "b")
}

func movers(l *laterWorld) {
	const n = 200
	for range 3 {
		defer l.move()()
	}
	due := time.Now().Add(soon)
	for i := range n {
		l.putLater(fmt.Sprint(i), due)
	}
	l.settled(0)
	is(l, "messages", l.messages(), n)
	seen := map[string]bool{}
	for end := time.Now().Add(10 * time.Second); len(seen) < n && time.Now().Before(end); {
		for _, d := range l.pull(64) {
			seen[text(d)] = true
		}
	}
	is(l, "messages that differ", len(seen), n)
}

func dueFull(l *laterWorld) {
	defer l.move()()
	l.put("1")
	l.put("2")
	due := time.Now().Add(soon)
	for range 5 {
		l.putLater("later", due)
	}
	l.stays(due.Add(6*soon), 5, 2)
	is(l, "there is no room", errors.Is(l.Put(l.Context(), &backend.Message{Data: []byte("c")}), backend.ErrFull), true)
	for i := range 7 {
		d := l.take()
		if i >= 2 {
			is(l, "message", text(d), "later")
		}
		ok(l, d.Ack(l.Context(), true))
	}
	l.settled(0)
	l.none()
}

func dueLargest(l *laterWorld) {
	defer l.move()()
	id := string(make([]byte, 256))
	m := &backend.Message{ID: id, DedupID: id, Carry: map[string]string{"a": string(make([]byte, 4095))}, Due: time.Now().Add(soon)}
	m.Data = make([]byte, l.Limit(m))
	ok(l, l.Put(l.Context(), m))
	d := l.take()
	is(l, "size", len(d.Message().Data), len(m.Data))
	ok(l, d.Ack(l.Context(), true))
	l.settled(0)
}

func dueSeen(l *laterWorld) {
	look := func() (all string) {
		l.Helper()
		for after := uint64(0); ; {
			k, err := l.Later(l.Context(), after)
			if errors.Is(err, backend.ErrNotFound) {
				return all
			}
			ok(l, err)
			is(l, "the numbers grow", k.Number > after, true)
			is(l, "the time is right", time.Until(k.Due).Abs() < time.Minute || time.Until(k.Due.Add(-time.Hour)).Abs() < time.Minute, true)
			all += fmt.Sprint(string(k.Data), " ", k.ID, "; ")
			after = k.Number
		}
	}
	is(l, "at first there is", look(), "")
	due := time.Now().Add(time.Hour).Round(0)
	m := &backend.Message{ID: "id\n", Codec: "some", Carry: map[string]string{"a": "b"}, Data: []byte("a\x00"), Put: due.Add(-time.Hour), Due: due}
	ok(l, l.Put(l.Context(), m))
	l.putLater("c", due)
	k, err := l.Later(l.Context(), 0)
	ok(l, err)
	is(l, "due", k.Due.Equal(due), true)
	is(l, "put", k.Put.Equal(m.Put), true)
	is(l, "codec", k.Codec, "some")
	is(l, "what travels", k.Carry["a"], "b")
	is(l, "there is", look(), "a\x00 id\n; c ; ")
	l.putLater("b", time.Now().Add(soon))
	l.half(l.T, l.Queue)
	is(l, "what is due and was not moved is there", look(), "a\x00 id\n; c ; b ; ")
	defer l.move()()
	l.settled(2)
	is(l, "there is", look(), "a\x00 id\n; c ; ")
}
