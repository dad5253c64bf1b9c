package weirnats_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
)

func admin(t *testing.T, dir string, opts ...weirnats.Option) *weirnats.Admin {
	t.Helper()
	a, err := weirnats.OpenAdmin(t.Context(), append([]weirnats.Option{weirnats.Dir(dir), quiet}, opts...)...)
	noError(t, err)
	t.Cleanup(func() { noError(t, a.Close()) })
	return a
}

// Settings that Open would refuse, as they differ from its defaults, are no matter: the types of values and the settings are those of the programs.
func TestAnAdminSeesQueuesOfAnyTypeAndSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open[mail](t, dir, "mail", weirnats.Lease(time.Minute), weirnats.MaxMessages(7), weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 1})))
	open[int](t, dir, "numbers")
	for _, to := range []string{"a", "b", "c"} {
		noError(t, q.Put(t.Context(), mail{To: to}, weirnats.ID(to)))
	}
	a := admin(t, dir)
	names, err := a.Queues(t.Context())
	noError(t, err)
	equal(t, "names", strings.Join(names, " "), "mail numbers")
	v, err := a.Queue(t.Context(), "mail")
	noError(t, err)
	equal(t, "name", v.Name(), "mail")
	var all []string
	for m, err := range v.Peek(t.Context()) {
		noError(t, err)
		all = append(all, fmt.Sprint(m.Number, m.ID, m.Codec, string(m.Data), len(m.Errors)))
		if len(all) == 2 {
			break
		}
	}
	equal(t, "messages", strings.Join(all, " "), `1ajson{"To":"a"}0 2bjson{"To":"b"}0`)

	p := newPool(t, 1, weir.OnError(func(error) {}))
	stop := serve(t, q, p, func(context.Context, mail) error { return errors.New("bad") })
	drained(t, q)
	stop()
	letters := map[string]string{}
	for l, err := range v.Dead(t.Context()) {
		noError(t, err)
		letters[l.MessageID] = l.ID
	}
	noError(t, v.Replay(t.Context(), letters["b"]))
	isError(t, v.Replay(t.Context(), letters["b"]), weirnats.ErrNotFound)
	n, err := v.PurgeAll(t.Context())
	noError(t, err)
	equal(t, "purged", n, 2)
	s, err := v.Stats(t.Context())
	noError(t, err)
	if s.Age <= 0 || s.Age > time.Minute || time.Since(s.Oldest) > time.Minute {
		t.Errorf("oldest is %v, its age %v", s.Oldest, s.Age)
	}
	s.Oldest, s.Age = time.Time{}, 0
	equal(t, "counts", s, weirnats.Stats{Messages: 1, Waiting: 1, Accepted: 4})

	got := make(chan mail, 1)
	stop = serve(t, q, p, func(_ context.Context, m mail) error { got <- m; return nil })
	equal(t, "what is replayed", (<-got).To, "b")
	stop()
}

func TestAnAdminMakesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "none")
	_, err := weirnats.OpenAdmin(t.Context(), weirnats.Dir(dir))
	isError(t, err, weirnats.ErrNoQueue)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder exists: %v", err)
	}
	q := open[string](t, dir, "a", weirnats.Lease(time.Minute))
	noError(t, q.Put(t.Context(), "x"))
	noError(t, q.Close())

	a := admin(t, dir, weirnats.Always)
	for _, name := range []string{"b", "aa"} {
		_, err = a.Queue(t.Context(), name)
		isError(t, err, weirnats.ErrNoQueue)
	}
	if _, err := a.Queue(t.Context(), "*"); err == nil || !strings.Contains(err.Error(), "name of a queue") {
		t.Errorf("error is %v", err)
	}
	v, err := a.Queue(t.Context(), "a")
	noError(t, err)
	if again, err := a.Queue(t.Context(), "a"); err != nil || again != v {
		t.Errorf("the second view is %p, %v, the first %p", again, err, v)
	}
	noError(t, a.Close())
	noError(t, a.Close())
	_, err = a.Queues(t.Context())
	isError(t, err, weirnats.ErrClosed)
	_, err = a.Queue(t.Context(), "a")
	isError(t, err, weirnats.ErrClosed)
	_, err = v.Stats(t.Context())
	isError(t, err, weirnats.ErrClosed)
	for _, err := range v.Peek(t.Context()) {
		isError(t, err, weirnats.ErrClosed)
	}

	same := open[string](t, dir, "a", weirnats.Lease(time.Minute))
	s, err := same.Stats(t.Context())
	noError(t, err)
	equal(t, "messages", s.Messages, 1)
	names, err := admin(t, dir).Queues(t.Context())
	noError(t, err)
	equal(t, "names", strings.Join(names, " "), "a")
}

func ExampleOpenAdmin() {
	dir, remove := folder()
	defer remove()
	ctx := context.Background()
	queue, err := weirnats.Open[Mail](ctx, "mail", weirnats.Dir(dir))
	check(err)
	defer queue.Close()
	check(queue.Put(ctx, Mail{To: "ann@example.org"}))

	admin, err := weirnats.OpenAdmin(ctx, weirnats.Dir(dir))
	check(err)
	defer admin.Close()
	names, err := admin.Queues(ctx)
	check(err)
	for _, name := range names {
		view, err := admin.Queue(ctx, name)
		check(err)
		for message, err := range view.Peek(ctx) {
			check(err)
			fmt.Printf("%s: %s\n", name, message.Data)
		}
	}
	// Output: mail: {"To":"ann@example.org"}
}
