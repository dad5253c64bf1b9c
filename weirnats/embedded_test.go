package weirnats_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
)

// limit is how long a test waits for what must come.
const limit = time.Minute

// within fails the test if what does not become true.
func within(t testing.TB, what string, is func() bool) {
	t.Helper()
	pause := time.Millisecond
	for end := time.Now().Add(limit); !is(); time.Sleep(pause) {
		if time.Now().After(end) {
			t.Fatalf("after %v: not %s", limit, what)
		}
		pause = min(pause*5/4, 20*time.Millisecond) // to look is work for the server, and so for the processor
	}
}

// open opens a queue on an embedded server, until the end of the test.
func open[T any](t testing.TB, dir, name string, opts ...weirnats.Option) *weirnats.Queue[T] {
	t.Helper()
	q, err := weirnats.Open[T](t.Context(), name, append([]weirnats.Option{weirnats.Dir(dir), quiet}, opts...)...)
	noError(t, err)
	t.Cleanup(func() { noError(t, q.Close()) })
	return q
}

// drained waits until a queue is empty, and no message waits for its time.
func drained[T any](t testing.TB, q *weirnats.Queue[T]) {
	t.Helper()
	within(t, "empty", func() bool {
		s, err := q.Stats(t.Context())
		return err == nil && s.Messages == 0 && s.Later == 0 // its server may be about to start
	})
}

// newPool returns a pool that closes when the test has ended, and with it what serves by the test's context. A deferred Close would wait for that
// forever in a test that fails.
func newPool(t testing.TB, limit int, opts ...weir.Option) *weir.Pool {
	p := weir.New(limit, opts...)
	t.Cleanup(p.Close)
	return p
}

// serve serves q on p, until the function that it returns is called.
func serve[T any](t testing.TB, q *weirnats.Queue[T], p *weir.Pool, run func(context.Context, T) error) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- q.Serve(ctx, p, run) }()
	return func() {
		t.Helper()
		cancel()
		noError(t, <-done)
	}
}

type mail struct {
	To   string
	Body string `json:",omitempty"`
}

func TestPutAndServe(t *testing.T) {
	t.Parallel()
	q := open[mail](t, t.TempDir(), "mail")
	equal(t, "name", q.Name(), "mail")
	p := newPool(t, 64)
	var calls atomic.Int32
	stop := serve(t, q, p, func(ctx context.Context, m mail) error {
		if m.To != weirnats.Attempt(ctx).ID {
			t.Errorf("mail to %q has ID %q", m.To, weirnats.Attempt(ctx).ID)
		}
		calls.Add(1)
		return nil
	})
	for i := range 1000 {
		to := fmt.Sprint("a", i%900)
		noError(t, q.Put(t.Context(), mail{To: to}, weirnats.ID(to)))
	}
	drained(t, q)
	stop()
	equal(t, "calls", calls.Load(), 900)
	equal(t, "try", weirnats.Attempt(t.Context()).Number, 0)
}

func TestMessagesSurviveTheProgram(t *testing.T) {
	t.Parallel()
	for _, durability := range []weirnats.Durability{weirnats.Lazy, weirnats.Always} {
		t.Run(durability.String(), func(t *testing.T) {
			dir := t.TempDir()
			q, err := weirnats.Open[int](t.Context(), "numbers", weirnats.Dir(dir), durability, quiet)
			noError(t, err)
			for i := range 100 {
				noError(t, q.Put(t.Context(), i))
			}
			noError(t, q.Close())
			noError(t, q.Close())
			q = open[int](t, dir, "numbers", durability)
			p := newPool(t, 1)
			var next atomic.Int32
			stop := serve(t, q, p, func(_ context.Context, n int) error {
				if want := next.Add(1) - 1; n != int(want) {
					t.Errorf("%d comes when %d should", n, want)
				}
				return nil
			})
			drained(t, q)
			stop()
		})
	}
}

func TestQueuesOfAProcessShareTheServerOfAFolder(t *testing.T) {
	dir := t.TempDir()
	a, b := open[string](t, dir, "a"), open[string](t, dir, "b")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	again := open[string](t, link, "a")
	noError(t, a.Put(t.Context(), "x"))
	for q, want := range map[*weirnats.Queue[string]]int{a: 1, b: 0, again: 1} {
		s, err := q.Stats(t.Context())
		noError(t, err)
		equal(t, "messages", s.Messages, want)
	}
	_, err := weirnats.Open[string](t.Context(), "c", weirnats.Dir(dir), weirnats.Always)
	if err == nil || !strings.Contains(err.Error(), "another Durability") {
		t.Errorf("error is %v", err)
	}
}

func TestTheFolderIsForItsOwnerAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions are other ones there")
	}
	dir := filepath.Join(t.TempDir(), "new", "folder")
	q := open[string](t, dir, "a")
	noError(t, q.Put(t.Context(), "x"))
	files := 0
	noError(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		files++
		return err
	}))
	if files < 5 {
		t.Errorf("%d files", files)
	}
}

func TestAnExistingQueueKeepsItsSettings(t *testing.T) {
	dir := t.TempDir()
	q := open[string](t, dir, "a", weirnats.MaxMessages(10), weirnats.Lease(time.Minute))
	noError(t, q.Put(t.Context(), "x"))
	for want, opts := range map[string][]weirnats.Option{
		"MaxMessages is 10 there, not 1000000":      {weirnats.Lease(time.Minute)},
		"MaxMessages is 10 there, not 11":           {weirnats.MaxMessages(11), weirnats.Lease(time.Minute)},
		"MaxBytes is without bound there, not 1000": {weirnats.MaxMessages(10), weirnats.MaxBytes(1000), weirnats.Lease(time.Minute)},
		"Lease is 1m0s there, not 30s":              {weirnats.MaxMessages(10)},
		"Window is 2m0s there, not 1h0m0s":          {weirnats.MaxMessages(10), weirnats.Window(time.Hour), weirnats.Lease(time.Minute)},
	} {
		_, err := weirnats.Open[string](t.Context(), "a", append(opts, weirnats.Dir(dir))...)
		s, ok := errors.AsType[*weirnats.SettingsError](err)
		if !ok || s.Queue != "a" || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
	same := open[string](t, dir, "a", weirnats.MaxMessages(10), weirnats.Lease(time.Minute))
	s, err := same.Stats(t.Context())
	noError(t, err)
	equal(t, "messages", s.Messages, 1)
}

func TestOpenRefusesWhatCannotBe(t *testing.T) {
	for _, name := range []string{"", "A", "-a", "_a", "a.b", "a b", "a/b", "ä", strings.Repeat("a", 65), "a>", "*"} {
		_, err := weirnats.Open[string](t.Context(), name, weirnats.Dir(t.TempDir()))
		if err == nil || !strings.Contains(err.Error(), "name of a queue") {
			t.Errorf("%q: error is %v", name, err)
		}
	}
	if _, err := weirnats.Open[string](t.Context(), "a", weirnats.Dir(t.TempDir()), weirnats.Codecs(weirnats.Raw())); err == nil {
		t.Error("codec raw was accepted for strings")
	}
	file := filepath.Join(t.TempDir(), "file")
	noError(t, os.WriteFile(file, nil, 0o600))
	if _, err := weirnats.Open[string](t.Context(), "a", weirnats.Dir(file)); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("error is %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(io.EOF)
	_, err := weirnats.Open[string](ctx, "a", weirnats.Dir(t.TempDir()))
	isError(t, err, io.EOF)
	if _, err := weirnats.Open[string](t.Context(), "a", weirnats.Server("nats://127.0.0.1:1")); err == nil {
		t.Error("a server that is not there was found")
	}
}

func TestAFullQueue(t *testing.T) {
	t.Parallel()
	q := open[string](t, t.TempDir(), "a", weirnats.MaxMessages(2))
	noError(t, q.Put(t.Context(), "1"))
	noError(t, q.TryPut(t.Context(), "2"))
	isError(t, q.TryPut(t.Context(), "3"), weirnats.ErrFull)
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, io.EOF)
	defer cancel()
	isError(t, q.Put(ctx, "3"), io.EOF)

	done := make(chan error, 1)
	go func() { done <- q.Put(t.Context(), "4") }()
	p := newPool(t, 1)
	var last atomic.Value
	stop := serve(t, q, p, func(_ context.Context, v string) error { last.Store(v); return nil })
	noError(t, <-done)
	drained(t, q)
	stop()
	equal(t, "last", last.Load().(string), "4")

	noError(t, q.Put(t.Context(), "1"))
	noError(t, q.Put(t.Context(), "2"))
	go func() { done <- q.Put(context.Background(), "5") }()
	noError(t, q.Close())
	isError(t, <-done, weirnats.ErrClosed)
}

func TestAfterClose(t *testing.T) {
	t.Parallel()
	q := open[string](t, t.TempDir(), "a", weirnats.Grace(0))
	p := newPool(t, 1)
	served := make(chan error, 1)
	began := make(chan struct{})
	go func() {
		served <- q.Serve(t.Context(), p, func(ctx context.Context, _ string) error {
			close(began)
			<-ctx.Done()
			isError(t, context.Cause(ctx), weirnats.ErrClosed)
			return ctx.Err()
		})
	}()
	noError(t, q.Put(t.Context(), "x"))
	<-began
	noError(t, q.Close())
	noError(t, <-served)
	isError(t, q.Put(t.Context(), "x"), weirnats.ErrClosed)
	isError(t, q.TryPut(t.Context(), "x"), weirnats.ErrClosed)
	isError(t, q.Serve(t.Context(), p, func(context.Context, string) error { return nil }), weirnats.ErrClosed)
	isError(t, q.Replay(t.Context(), "1"), weirnats.ErrClosed)
	_, err := q.PurgeAll(t.Context())
	isError(t, err, weirnats.ErrClosed)
	_, err = q.Stats(t.Context())
	isError(t, err, weirnats.ErrClosed)
	for _, err := range q.Dead(t.Context()) {
		isError(t, err, weirnats.ErrClosed)
	}
}

func TestAContextThatIsDone(t *testing.T) {
	q := open[string](t, t.TempDir(), "a")
	p := newPool(t, 1)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(io.EOF)
	isError(t, q.Put(ctx, "x"), io.EOF)
	noError(t, q.Serve(ctx, p, func(context.Context, string) error { return nil }))
	s, err := q.Stats(t.Context())
	noError(t, err)
	equal(t, "messages", s.Messages, 0)
}

func TestLargeValues(t *testing.T) {
	t.Parallel()
	q := open[[]byte](t, t.TempDir(), "a")
	err := q.Put(t.Context(), make([]byte, 9<<20))
	large, ok := errors.AsType[*weirnats.TooLargeError](err)
	if !ok || large.Size != 9<<20 || large.Limit < 7<<20 {
		t.Fatalf("error is %v", err)
	}
	p := newPool(t, 8)
	var bytes atomic.Int64
	want := int64(0)
	for i := range 40 {
		n := i << 20 / 20
		want += int64(n)
		noError(t, q.Put(t.Context(), make([]byte, n)))
	}
	noError(t, q.Put(t.Context(), make([]byte, large.Limit)))
	stop := serve(t, q, p, func(_ context.Context, v []byte) error { bytes.Add(int64(len(v))); return nil })
	drained(t, q)
	stop()
	equal(t, "bytes", bytes.Load(), want+int64(large.Limit))
}

// A value for which an empty queue has no room is an error at once. One that has the most bytes has room.
func TestAValueThatIsLargerThanTheQueue(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]weirnats.PutOption{
		"plain":   nil,
		"with ID": {weirnats.ID("an ID")},
		"and key": {weirnats.ID("an ID"), weirnats.Key("a key")},
		"later":   {weirnats.ID("an ID")},
	} {
		options := func() []weirnats.PutOption {
			if name == "later" {
				return append(opts, weirnats.After(time.Second/4)) // from now
			}
			return opts
		}
		q := open[[]byte](t, t.TempDir(), "a", weirnats.MaxBytes(10_000))
		large, ok := errors.AsType[*weirnats.TooLargeError](q.Put(t.Context(), make([]byte, 10_000), options()...))
		if !ok || large.Limit < 9_000 {
			t.Fatalf("%s: error is %v", name, large)
		}
		_, err := q.PutAll(t.Context(), [][]byte{nil, make([]byte, 10_000)}, nil)
		if !errors.As(err, new(*weirnats.TooLargeError)) {
			t.Fatalf("%s: error of PutAll is %v", name, err)
		}
		size := large.Limit
		if name == "later" {
			size -= 10 // the time of the call travels with it
		}
		noError(t, q.TryPut(t.Context(), make([]byte, size), options()...))
		p := weir.New(1)
		stop := serve(t, q, p, func(context.Context, []byte) error { return nil })
		drained(t, q)
		stop()
		p.Close()
	}
}

// An empty value is too large as well where what the server keeps with it is.
func TestAnEmptyValueThatIsLargerThanTheQueue(t *testing.T) {
	t.Parallel()
	q := open[[]byte](t, t.TempDir(), "a", weirnats.MaxBytes(400))
	noError(t, q.TryPut(t.Context(), nil))
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	large, ok := errors.AsType[*weirnats.TooLargeError](q.Put(ctx, nil, weirnats.ID(strings.Repeat("a", 256))))
	if !ok || large.Size != 0 || large.Limit != -1 || !strings.Contains(large.Error(), "kept with it") {
		t.Errorf("error is %v", large)
	}
}

// upper is a codec that another version of the program had.
type upper struct{}

func (upper) Name() string                     { return "upper" }
func (upper) Encode(value any) ([]byte, error) { return bytes.ToUpper([]byte(value.(string))), nil }
func (upper) Decode(data []byte, to any) error {
	if bytes.Equal(data, []byte("PANIC")) {
		panic("on purpose")
	}
	*to.(*string) = string(bytes.ToLower(data))
	return nil
}

func TestMessagesAreDecodedByTheCodecThatHasEncodedThem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := open[string](t, dir, "a", weirnats.Codecs(upper{}))
	noError(t, old.Put(t.Context(), "old"))
	noError(t, old.Put(t.Context(), "panic"))
	q := open[string](t, dir, "a", weirnats.Codecs(weirnats.JSON(), upper{}))
	noError(t, q.Put(t.Context(), "new"))
	p := newPool(t, 1, weir.OnError(func(error) {}))
	var all list[string]
	stop := serve(t, q, p, func(_ context.Context, v string) error { all.add(v); return nil })
	drained(t, q)
	stop()
	equal(t, "values", strings.Join(all.take(), " "), "old new")
	for l, err := range q.Dead(t.Context()) {
		noError(t, err)
		equal(t, "error", l.Errors[0].Err, "weirnats: codec upper panicked: on purpose")
	}
}

func TestWhatCannotBeDecodedIsADeadLetter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	texts, unknown := open[string](t, dir, "a"), open[string](t, dir, "a", weirnats.Codecs(upper{}))
	q := open[int](t, dir, "a")
	noError(t, texts.Put(t.Context(), "not a number"))
	noError(t, unknown.Put(t.Context(), "x"))
	noError(t, q.Put(t.Context(), 7))
	var failed list[error]
	p := newPool(t, 1, weir.OnError(func(err error) { failed.add(err) }))
	var calls atomic.Int32
	stop := serve(t, q, p, func(_ context.Context, n int) error { calls.Add(int32(n)); return nil })
	drained(t, q)
	stop()
	equal(t, "the value that can be decoded", calls.Load(), 7)
	equal(t, "errors of the pool", len(failed.take()), 2)
	want := []string{"json: cannot unmarshal", `weirnats: no codec is named "upper"`}
	for l, err := range q.Dead(t.Context()) {
		noError(t, err)
		if !strings.HasPrefix(l.Errors[0].Err, want[0]) {
			t.Errorf("error is %q", l.Errors[0].Err)
		}
		want = want[1:]
		if _, err := q.Decode(l); err == nil {
			t.Error("it is decoded now")
		}
	}
	equal(t, "dead letters that were not seen", len(want), 0)
}

func TestReplayAndPurge(t *testing.T) {
	t.Parallel()
	q := open[string](t, t.TempDir(), "a", weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 1})))
	p := newPool(t, 4, weir.OnError(func(error) {}))
	var fails atomic.Bool
	fails.Store(true)
	var ran list[string]
	stop := serve(t, q, p, func(ctx context.Context, v string) error {
		if fails.Load() {
			return io.EOF
		}
		ran.add(fmt.Sprint(v, " ", weirnats.Attempt(ctx).ID, " ", weirnats.Attempt(ctx).Number))
		return nil
	})
	for _, v := range []string{"a", "b", "c"} {
		noError(t, q.Put(t.Context(), v, weirnats.ID("id of "+v)))
	}
	drained(t, q)
	var ids []string
	for l, err := range q.Dead(t.Context()) {
		noError(t, err)
		if l.Put.IsZero() || l.Died.Before(l.Put) || l.Tries != 1 || l.Codec != "json" {
			t.Errorf("dead letter is %+v", l)
		}
		ids = append(ids, l.ID)
	}
	equal(t, "dead letters", len(ids), 3)
	for _, id := range []string{"", "x", "0", "99", "-1"} {
		isError(t, q.Replay(t.Context(), id), weirnats.ErrNotFound)
	}
	fails.Store(false)
	noError(t, q.Replay(t.Context(), ids[1]))
	isError(t, q.Replay(t.Context(), ids[1]), weirnats.ErrNotFound)
	within(t, "replayed", func() bool {
		all := ran.take()
		return len(all) == 1 && (all[0] == "b id of b 1" || all[0] == "a id of a 1" || all[0] == "c id of c 1")
	})
	n, err := q.Purge(t.Context(), ids[0], "x", ids[0])
	noError(t, err)
	equal(t, "purged", n, 1)
	n, err = q.Purge(t.Context())
	noError(t, err)
	equal(t, "purged for no IDs", n, 0)
	n, err = q.PurgeAll(t.Context())
	noError(t, err)
	equal(t, "purged", n, 1)
	stop()
}

func TestWhatTravels(t *testing.T) {
	t.Parallel()
	type key struct{}
	q := open[string](t, t.TempDir(), "a", weirnats.Carry(
		func(ctx context.Context) map[string]string {
			v, _ := ctx.Value(key{}).(string)
			return map[string]string{"trace": v}
		},
		func(ctx context.Context, carried map[string]string) context.Context {
			return context.WithValue(ctx, key{}, carried["trace"])
		},
	))
	p := newPool(t, 1)
	got := make(chan any, 1)
	stop := serve(t, q, p, func(ctx context.Context, _ string) error { got <- ctx.Value(key{}); return nil })
	noError(t, q.Put(context.WithValue(t.Context(), key{}, "a trace"), "x"))
	equal(t, "what travels", (<-got).(string), "a trace")
	if q.Put(context.WithValue(t.Context(), key{}, strings.Repeat("x", 5000)), "x") == nil {
		t.Error("too much travels")
	}
	stop()
}

// A message that is parked for good comes neither at once nor when the server starts again, and takes no other message along.
func TestATryThatIsToComeInALongTime(t *testing.T) {
	dir := t.TempDir()
	var log bytes.Buffer
	var calls atomic.Int32
	for round := range 2 {
		q, err := weirnats.Open[string](t.Context(), "q", weirnats.Dir(dir), weirnats.Logger(slog.New(slog.NewTextHandler(&log, nil))))
		noError(t, err)
		failed := make(chan struct{}, 10)
		p := newPool(t, 2, weir.OnError(func(error) { failed <- struct{}{} }))
		stop := serve(t, q, p, func(context.Context, string) error {
			calls.Add(1)
			return weir.RetryAfter(io.EOF, math.MaxInt64)
		})
		if round == 0 {
			noError(t, q.Put(t.Context(), "parked"))
			<-failed
		}
		time.Sleep(300 * time.Millisecond) // what would come at once
		stop()
		noError(t, q.Close())
	}
	equal(t, "calls", calls.Load(), 1)
	if strings.Contains(log.String(), "cannot be read") {
		t.Error(log.String())
	}
}
