// Package conform holds all stores of messages to the same rules.
package conform

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/64ed045f/weir/weirnats/internal/backend"
)

// Lease is the lease of the queues that Run opens, unless the case needs another.
const Lease = 30 * time.Second

// short is a lease that is expected to run out.
const short = 300 * time.Millisecond

// Settings returns the settings with which Run opens most queues.
func Settings(name string) backend.Settings {
	return backend.Settings{Name: name, Replicas: 1, MaxMessages: 1000, MaxBytes: -1, Window: time.Minute, Lease: Lease, Partitions: 4, Codec: "some"}
}

// Run runs all cases, each by a call of run, which calls the function that it gets. open returns an empty
// queue, which must be closed with the test.
func Run(t *testing.T, run func(*testing.T, func(*testing.T)), open func(t *testing.T, s backend.Settings) backend.Queue) {
	runAll(t, "c", []scenario{
		{"a message is delivered as it was put", nil, asPut},
		{"a message that is acknowledged is gone", nil, acknowledged},
		{"messages come in order", nil, inOrder},
		{"a full queue refuses", func(s *backend.Settings) { s.MaxMessages = 2 }, full},
		{"an ID is put once within the window", func(s *backend.Settings) { s.Window = 300 * time.Millisecond }, ids},
		{"the ID of a message that is done is known within the window", func(s *backend.Settings) { s.Window = time.Second }, known},
		{"several are put at once or not at all", func(s *backend.Settings) { s.MaxMessages = 500 }, putAll},
		{"no two hold a lease", nil, oneHolder},
		{"a lease that runs out brings the message again, and counts", func(s *backend.Settings) { s.Lease = short }, runsOut},
		{"a lease that is extended does not run out", func(s *backend.Settings) { s.Lease = short }, extended},
		{"a message that goes back comes again at once", nil, goesBack},
		{"a message that goes back with a delay comes after it", nil, delayed},
		{"a message that is refused comes again, and does not count", nil, refused},
		{"a pull that waits gets what comes", nil, waits},
		{"a pull ends with its context", nil, cancelled},
		{"nothing comes to a receiver that is closed", nil, closed},
		{"a pull asks for no more than it says", nil, bounded},
		{"a dead letter is one", nil, dead},
		{"a message that is buried twice is one dead letter", func(s *backend.Settings) { s.Lease = short }, buriedTwice},
		{"dead letters are read, forgotten and purged", nil, letters},
		{"the largest message can become a dead letter", nil, largest},
		{"counts", nil, counts},
		{"what a queue holds is seen, and not changed", nil, peek},
		{"many take from one queue", nil, many},
		{"a partition delivers the messages of its keys", nil, partitions},
		{"a partition is with one process at a time", nil, oneProcess},
		{"a partition that a process does not pull from goes to another", func(s *backend.Settings) { s.Lease = short }, moved},
		{"few messages of a partition are delivered and not done", nil, mostHeld},
	}, run, open)
}

// scenario is a case with the settings that it changes.
type scenario struct {
	name string
	with func(s *backend.Settings)
	test func(w *world)
}

// runAll runs cases at once, on queues whose names begin with prefix.
func runAll(t *testing.T, prefix string, all []scenario, run func(*testing.T, func(*testing.T)), open func(t *testing.T, s backend.Settings) backend.Queue) {
	for i, c := range all {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := Settings(fmt.Sprint(prefix, i))
			if c.with != nil {
				c.with(&s)
			}
			run(t, func(t *testing.T) {
				q := open(t, s)
				r, err := q.Receive()
				ok(t, err)
				c.test(&world{t, q, r, s.Lease})
				ok(t, r.Close(t.Context()))
			})
		})
	}
}

// world is a queue with a receiver.
type world struct {
	*testing.T
	backend.Queue
	from  backend.Receiver
	lease time.Duration
}

func ok(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatalf("unexpected error: %v", err)
	}
}

func is[V comparable](t testing.TB, what string, got, want V) {
	if got != want {
		t.Helper()
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

func (w *world) put(data string) {
	w.Helper()
	ok(w, w.Put(w.Context(), &backend.Message{Codec: "raw", Data: []byte(data)}))
}

// pull takes what there is, at most n messages.
func (w *world) pull(n int) (all []backend.Delivery) {
	w.Helper()
	ok(w, w.from.Pull(w.Context(), n, 0, func(d backend.Delivery) bool {
		all = append(all, d)
		return true
	}))
	return all
}

// take takes one message, and waits for it.
func (w *world) take() (taken backend.Delivery) {
	w.Helper()
	for end := time.Now().Add(10 * time.Second); taken == nil && time.Now().Before(end); {
		ok(w, w.from.Pull(w.Context(), 1, time.Second, func(d backend.Delivery) bool {
			taken = d
			return true
		}))
	}
	if taken == nil {
		w.Fatal("no message comes")
	}
	return taken
}

// none fails the test if a message comes.
func (w *world) none() {
	w.Helper()
	if all := w.pull(1); len(all) > 0 {
		w.Fatalf("message %q is delivered", all[0].Message().Data)
	}
}

func text(d backend.Delivery) string { return string(d.Message().Data) }

func asPut(w *world) {
	before := time.Now()
	m := &backend.Message{ID: " an ID\r\nof % bytes\xff ", Codec: "some", Carry: map[string]string{"a": "b\n", "ü": ""}, Data: []byte("\x00\xff data")}
	ok(w, w.Put(w.Context(), m))
	w.put("")
	d := w.take()
	got := d.Message()
	is(w, "ID", got.ID, m.ID)
	is(w, "codec", got.Codec, m.Codec)
	is(w, "data", string(got.Data), string(m.Data))
	is(w, "what travels", maps.Equal(got.Carry, m.Carry), true)
	is(w, "deliveries", d.Count(), 1)
	number := d.Number()
	is(w, "the lease began after the put", d.Sent().Before(before), false)
	is(w, "the time of the put is right", got.Put.Sub(before).Abs() < time.Minute, true)
	r, err := d.Record(w.Context())
	ok(w, err)
	is(w, "the record is empty", r.Returned == 0 && r.Errors == nil && r.Began.IsZero(), true)
	d = w.take()
	is(w, "data", text(d), "")
	is(w, "ID", d.Message().ID, "")
	is(w, "each has a number of its own", d.Number() != number, true)
}

func acknowledged(w *world) {
	for _, confirm := range []bool{false, true} {
		w.put("a")
		d := w.take()
		ok(w, d.Ack(w.Context(), confirm))
		ok(w, d.Ack(w.Context(), true))
		ok(w, d.Extend(w.Context()))
		w.none()
		s, err := w.Stats(w.Context())
		ok(w, err)
		is(w, "messages", s.Messages, 0)
	}
}

func inOrder(w *world) {
	for i := range 100 {
		w.put(fmt.Sprint(i))
	}
	more := 0
	for n, i := 1, 0; i < 100; n++ {
		for _, d := range w.pull(n) {
			is(w, "message", text(d), fmt.Sprint(i))
			i++
			if d.More() {
				more++
			}
		}
	}
	if more < 50 || more > 99 { // the server may know late
		w.Fatalf("more wait %d times", more)
	}
}

func full(w *world) {
	w.put("a")
	w.put("b")
	for range 3 {
		is(w, "the third is refused as there is no room", errors.Is(w.Put(w.Context(), &backend.Message{Data: []byte("c")}), backend.ErrFull), true)
	}
	d := w.take()
	is(w, "one that runs takes room", errors.Is(w.Put(w.Context(), &backend.Message{Data: []byte("c")}), backend.ErrFull), true)
	ok(w, d.Ack(w.Context(), true))
	w.put("c")
	is(w, "message", text(w.take()), "b")
	is(w, "message", text(w.take()), "c")
}

func ids(w *world) {
	put := func(data, id string) {
		ok(w, w.Put(w.Context(), &backend.Message{DedupID: id, Data: []byte(data)}))
	}
	var all []backend.Delivery
	for took := time.Duration(math.MaxInt64); took > 200*time.Millisecond; { // the window may end in between
		for _, d := range all {
			ok(w, d.Ack(w.Context(), true))
		}
		all = nil
		begin := time.Now()
		put("1", "a")
		put("2", "b")
		put("3", "a")
		took = time.Since(begin)
		for range 2 {
			all = append(all, w.take())
		}
	}
	w.none()
	for _, d := range all {
		ok(w, d.Ack(w.Context(), true))
	}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		put("4", "a")
		if all = w.pull(1); len(all) == 1 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	w.Fatal("the ID is known for ever")
}

func known(w *world) {
	const odd = "a.*> b%0A"
	known := func(id string) bool {
		w.Helper()
		is, err := w.Known(w.Context(), id)
		ok(w, err)
		return is
	}
	ok(w, w.Put(w.Context(), &backend.Message{DedupID: odd, Data: []byte("1")}))
	d := w.take()
	is(w, "ID of a delivery", d.Message().DedupID, odd)
	is(w, "known before it is done", known(odd), false)
	put := time.Now()
	ok(w, w.Remember(w.Context(), odd, put))
	ok(w, w.Remember(w.Context(), "b", put.Add(-w.Window())))
	is(w, "known", known(odd), time.Since(put) < w.Window())
	is(w, "another is known", known("a"), false)
	is(w, "one is known of which the window has ended", known("b"), false)
	for end := time.Now().Add(10 * time.Second); known(odd); {
		if time.Now().After(end) {
			w.Fatal("the ID is known for ever")
		}
		time.Sleep(50 * time.Millisecond)
	}
	is(w, "known for the window", time.Since(put) >= w.Window(), true)
}

func putAll(w *world) {
	all := func(from, to int) (all []*backend.Message) {
		for i := from; i < to; i++ {
			all = append(all, &backend.Message{ID: fmt.Sprint(i), DedupID: fmt.Sprint("k", i), Carry: map[string]string{"a": "b"}, Data: []byte(fmt.Sprint(i))})
		}
		return all
	}
	messages := func(want int) {
		w.Helper()
		s, err := w.Stats(w.Context())
		ok(w, err)
		is(w, "messages", s.Messages, want)
		is(w, "those that were ever put", s.Accepted, uint64(want)) // what is refused takes no number
	}
	ok(w, w.PutAll(w.Context(), nil))
	ok(w, w.PutAll(w.Context(), all(0, 1)))
	ok(w, w.PutAll(w.Context(), all(1, 400)))
	messages(400)
	is(w, "one was put before", errors.Is(w.PutAll(w.Context(), all(399, 402)), backend.ErrDuplicate), true)
	is(w, "two are the same", errors.Is(w.PutAll(w.Context(), append(all(400, 402), all(401, 402)...)), backend.ErrDuplicate), true)
	is(w, "there is no room for all", errors.Is(w.PutAll(w.Context(), all(400, 501)), backend.ErrFull), true)
	messages(400)
	errs := w.PutEach(w.Context(), all(398, 501))
	for i, err := range errs {
		if full := i == 102; full != (err != nil) || full && !errors.Is(err, backend.ErrFull) {
			w.Fatalf("error of message %d is %v", i, err)
		}
	}
	messages(500)
	for i := 0; i < 500; {
		for _, d := range w.pull(64) {
			is(w, "message", text(d), fmt.Sprint(i))
			is(w, "ID", d.Message().ID, fmt.Sprint(i))
			is(w, "what travels", d.Message().Carry["a"], "b")
			i++
		}
	}
}

func oneHolder(w *world) {
	first := w.from
	second, err := w.Receive()
	ok(w, err)
	for range 10 {
		w.put("a")
	}
	held := map[uint64]bool{}
	for end := time.Now().Add(10 * time.Second); len(held) < 10; {
		if time.Now().After(end) {
			w.Fatalf("%d of 10 messages come", len(held))
		}
		for _, w.from = range []backend.Receiver{first, second} {
			for _, d := range w.pull(3) { // there may be more messages than a pull returns
				is(w, "count", d.Count(), 1)
				is(w, "held already", held[d.Number()], false)
				held[d.Number()] = true
			}
		}
	}
	w.none()
	ok(w, second.Close(w.Context()))
}

func runsOut(w *world) {
	w.put("a")
	for i := range 3 {
		d := w.take()
		is(w, "count", d.Count(), i+1)
		if i > 0 {
			r, err := d.Record(w.Context())
			ok(w, err)
			is(w, "returned", r.Returned, 0)
		}
	}
}

func extended(w *world) {
	w.put("a")
	d := w.take()
	last := d.Sent()
	for end := time.Now().Add(4 * w.lease); time.Now().Before(end); {
		begin := time.Now()
		ok(w, d.Extend(w.Context()))
		if !backend.Holds(last, time.Now(), w.lease) {
			w.Skip("this machine is too slow")
		}
		last = begin
		w.none()
		time.Sleep(w.lease / 10)
	}
	is(w, "count of the next", w.take().Count(), 2)
}

func goesBack(w *world) {
	w.put("a")
	began := time.Now().Round(0)
	r := &backend.Record{Returned: 3, Began: began, Errors: []backend.Failure{{Try: 7, Err: "bad\n\"x\"", At: began}}}
	ok(w, w.take().GiveBack(w.Context(), r, 0))
	d := w.take()
	is(w, "count", d.Count(), 2)
	got, err := d.Record(w.Context())
	ok(w, err)
	is(w, "returned", got.Returned, 3)
	is(w, "began", got.Began.Equal(began), true)
	is(w, "errors", len(got.Errors), 1)
	is(w, "error", got.Errors[0].Err, "bad\n\"x\"")
	is(w, "try", got.Errors[0].Try, 7)
	ok(w, d.Keep(w.Context(), &backend.Record{Returned: 4}))
	ok(w, d.GiveBack(w.Context(), nil, 0))
	d = w.take()
	got, err = d.Record(w.Context())
	ok(w, err)
	is(w, "returned", got.Returned, 4)
	ok(w, d.Ack(w.Context(), true))
	w.none()
}

func delayed(w *world) {
	w.put("a")
	w.put("b")
	const wait = 400 * time.Millisecond
	begin := time.Now()
	ok(w, w.take().GiveBack(w.Context(), nil, wait))
	d := w.take()
	is(w, "message that comes first", text(d), "b")
	ok(w, d.Ack(w.Context(), true))
	is(w, "message that comes then", text(w.take()), "a")
	if passed := time.Since(begin); passed < wait {
		w.Fatalf("it comes after %v", passed)
	}
}

func refused(w *world) {
	w.put("a")
	for range 3 {
		ok(w, w.from.Pull(w.Context(), 1, 0, func(backend.Delivery) bool { return false }))
	}
	d := w.take()
	r, err := d.Record(w.Context())
	ok(w, err)
	is(w, "tries", d.Count()-r.Returned, 1)
}

func waits(w *world) {
	got := make(chan string, 1)
	done := make(chan error, 1)
	go func() {
		done <- w.from.Pull(w.Context(), 1, 10*time.Second, func(d backend.Delivery) bool {
			got <- text(d)
			return true
		})
	}()
	time.Sleep(20 * time.Millisecond) // either order must work; mostly the pull is first
	w.put("a")
	ok(w, <-done)
	is(w, "message", <-got, "a")
	begin := time.Now()
	ok(w, w.from.Pull(w.Context(), 1, 100*time.Millisecond, func(backend.Delivery) bool { panic("no message") }))
	if passed := time.Since(begin); passed < 100*time.Millisecond {
		w.Fatalf("the pull ends after %v", passed)
	}
}

func cancelled(w *world) {
	cause := errors.New("cause")
	ctx, cancel := context.WithCancelCause(w.Context())
	done := make(chan error, 1)
	go func() {
		done <- w.from.Pull(ctx, 1, 10*time.Second, func(backend.Delivery) bool { return false })
	}()
	cancel(cause)
	is(w, "the cause comes back", errors.Is(<-done, cause), true)
	w.put("a") // if the pull is still known it goes back
	d := w.take()
	r, err := d.Record(w.Context())
	ok(w, err)
	is(w, "tries", d.Count()-r.Returned, 1)
}

func closed(w *world) {
	for range 20 {
		r, err := w.Receive()
		ok(w, err)
		ctx, cancel := context.WithCancel(w.Context())
		var pulls sync.WaitGroup
		for range 3 {
			pulls.Go(func() {
				_ = r.Pull(ctx, 1, 10*time.Second, func(backend.Delivery) bool { return false }) // any error will do
			})
		}
		cancel()
		ok(w, r.Close(w.Context()))
		w.put("a")
		d := w.take()
		is(w, "count", d.Count(), 1)
		ok(w, d.Ack(w.Context(), true))
		pulls.Wait()
	}
}

func bounded(w *world) {
	for range 10 {
		w.put("a")
	}
	left, end := 10, time.Now().Add(10*time.Second)
	for n := 3; left > 0; n++ {
		if time.Now().After(end) {
			w.Fatalf("%d messages do not come", left)
		}
		got := len(w.pull(n)) // there may be more messages than a pull returns
		if got > n || got > left {
			w.Fatalf("%d messages for a pull of %d, and there are %d", got, n, left)
		}
		left -= got
	}
	is(w, "messages", len(w.pull(5)), 0)
}

func dead(w *world) {
	ok(w, w.Put(w.Context(), &backend.Message{ID: "id\n", Codec: "some", Carry: map[string]string{"a": "b"}, Data: []byte("\x00data")}))
	d := w.take()
	put := d.Message().Put
	r := &backend.Record{Returned: 1, Errors: []backend.Failure{{Try: 1, Err: "bad\n"}, {Try: 3, Err: "worse\x00\u2028"}}}
	ok(w, d.Bury(w.Context(), r, 3))
	w.none()
	l, err := w.Next(w.Context(), 0)
	ok(w, err)
	is(w, "ID", l.ID, "id\n")
	is(w, "codec", l.Codec, "some")
	is(w, "data", string(l.Data), "\x00data")
	is(w, "what travels", l.Carry["a"], "b")
	is(w, "tries", l.Tries, 3)
	is(w, "put", l.Put.Equal(put), true)
	is(w, "errors", len(l.Errors), 2)
	is(w, "error", l.Errors[1].Err, "worse\x00\u2028")
	is(w, "died", l.Died.IsZero(), false)
}

func buriedTwice(w *world) {
	w.put("a")
	first := w.take()
	second := w.take() // the lease of the first has run out
	r := &backend.Record{Errors: []backend.Failure{{Try: 1, Err: "bad"}}}
	ok(w, second.Bury(w.Context(), r, 2))
	ok(w, first.Bury(w.Context(), r, 1))
	w.none()
	s, err := w.Stats(w.Context())
	ok(w, err)
	is(w, "dead letters", s.Dead, 1)
	is(w, "messages", s.Messages, 0)
}

func letters(w *world) {
	for i := range 5 {
		w.put(fmt.Sprint(i))
		ok(w, w.take().Bury(w.Context(), new(backend.Record), 1))
	}
	read := func() (all []string, numbers []uint64) {
		for after := uint64(0); ; {
			l, err := w.Next(w.Context(), after)
			if errors.Is(err, backend.ErrNotFound) {
				return all, numbers
			}
			ok(w, err)
			all, numbers = append(all, string(l.Data)), append(numbers, l.Number)
			after = l.Number
		}
	}
	all, numbers := read()
	is(w, "letters", fmt.Sprint(all), "[0 1 2 3 4]")
	ok(w, w.Forget(w.Context(), numbers[1]))
	is(w, "forgetting again finds none", errors.Is(w.Forget(w.Context(), numbers[1]), backend.ErrNotFound), true)
	_, err := w.Letter(w.Context(), numbers[1])
	is(w, "the letter is gone", errors.Is(err, backend.ErrNotFound), true)
	is(w, "there is no letter of that number", errors.Is(w.Forget(w.Context(), 1<<40), backend.ErrNotFound), true)
	_, err = w.Letter(w.Context(), 1<<40)
	is(w, "there is no letter of that number", errors.Is(err, backend.ErrNotFound), true)
	l, err := w.Letter(w.Context(), numbers[2])
	ok(w, err)
	is(w, "letter", string(l.Data), "2")
	all, _ = read()
	is(w, "letters", fmt.Sprint(all), "[0 2 3 4]")
	n, err := w.Purge(w.Context())
	ok(w, err)
	is(w, "purged", n, 4)
	all, _ = read()
	is(w, "letters", len(all), 0)
}

func largest(w *world) {
	id := string(slices.Repeat([]byte{'\n'}, 256))
	m := &backend.Message{ID: id, DedupID: id, Carry: map[string]string{"a": string(slices.Repeat([]byte{1}, 4095))}}
	data := make([]byte, w.Limit(m))
	m.Data = data
	ok(w, w.Put(w.Context(), m))
	d := w.take()
	r := new(backend.Record)
	for i := range 16 {
		r.Errors = append(r.Errors, backend.Failure{Try: i, Err: string(slices.Repeat([]byte{'"'}, 512))})
	}
	ok(w, d.GiveBack(w.Context(), r, 0))
	d = w.take()
	is(w, "size", len(d.Message().Data), len(data))
	ok(w, d.Bury(w.Context(), r, 1))
	l, err := w.Next(w.Context(), 0)
	ok(w, err)
	is(w, "size", len(l.Data), len(data))
	is(w, "errors", len(l.Errors), 16)
}

func counts(w *world) {
	check := func(want backend.Stats) {
		w.Helper()
		got, err := w.Stats(w.Context())
		ok(w, err)
		is(w, "the queue has an oldest message", got.Oldest.IsZero(), want.Messages == 0)
		is(w, "the age is that of the oldest", got.Age > 0, want.Messages > 0)
		got.Oldest, got.Age = time.Time{}, 0
		is(w, "counts", got, want)
	}
	check(backend.Stats{})
	w.put("a")
	w.put("b")
	w.put("c")
	time.Sleep(10 * time.Millisecond) // so that the clock of a bubble shows an age too
	check(backend.Stats{Messages: 3, Accepted: 3})
	d := w.take()
	check(backend.Stats{Messages: 3, Leased: 1, Accepted: 3})
	ok(w, d.GiveBack(w.Context(), nil, 0))
	check(backend.Stats{Messages: 3, Leased: 1, Accepted: 3})
	d = w.take()
	is(w, "message", text(d), "a")
	check(backend.Stats{Messages: 3, Leased: 1, Redelivered: 1, Accepted: 3})
	ok(w, d.GiveBack(w.Context(), nil, time.Hour))
	ok(w, w.take().Ack(w.Context(), true))
	ok(w, w.take().Bury(w.Context(), new(backend.Record), 1))
	check(backend.Stats{Messages: 1, Leased: 1, Redelivered: 1, Dead: 1, Accepted: 3})
}

func many(w *world) {
	const n, takers = 500, 4
	var lock sync.Mutex
	seen := map[string]int{}
	var all, acks sync.WaitGroup
	for range takers {
		r, err := w.Receive()
		ok(w, err)
		all.Go(func() {
			for {
				lock.Lock()
				over := len(seen) == n
				lock.Unlock()
				if over || w.Failed() {
					break
				}
				err := r.Pull(w.Context(), 1, 50*time.Millisecond, func(d backend.Delivery) bool {
					lock.Lock()
					seen[text(d)]++
					lock.Unlock()
					acks.Go(func() {
						if err := d.Ack(w.Context(), true); err != nil {
							w.Error(err)
						}
					})
					return true
				})
				if err != nil {
					w.Error(err)
				}
			}
			if err := r.Close(w.Context()); err != nil {
				w.Error(err)
			}
		})
	}
	for i := range n {
		w.put(fmt.Sprint(i))
	}
	all.Wait()
	acks.Wait()
	for data, times := range seen {
		is(w, "times of "+data, times, 1)
	}
}
