package weirnats_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
)

// The queue is used before and after a restart of the server, which forgets the IDs of messages that are done.
func TestAnIDIsKnownAfterARestart(t *testing.T) {
	t.Parallel()
	const bad = "bad"
	for name, restarts := range map[string]func(t *testing.T, use func(*weirnats.Queue[string])){
		"embedded": func(t *testing.T, use func(*weirnats.Queue[string])) {
			dir := t.TempDir()
			for range 2 {
				q := open[string](t, dir, "work")
				use(q)
				noError(t, q.Close())
			}
		},
		"server": func(t *testing.T, use func(*weirnats.Queue[string])) {
			files, port := t.TempDir(), server.RANDOM_PORT
			var q *weirnats.Queue[string]
			for range 2 {
				s := listen(t, files, port)
				if q == nil {
					port = s.Addr().(*net.TCPAddr).Port
					var err error
					q, err = weirnats.Open[string](t.Context(), "work", weirnats.Server(s.ClientURL(), nats.ReconnectWait(10*time.Millisecond)), quiet)
					noError(t, err)
					defer q.Close()
				}
				for up := false; !up; { // the client is there again
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					_, err := q.Stats(ctx)
					cancel()
					up = err == nil
				}
				use(q)
				s.Shutdown()
				s.WaitForShutdown()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var calls list[string]
			values := []string{"a", "b", bad}
			for i := range 50 {
				values = append(values, fmt.Sprint(i))
			}
			round := 0
			restarts(t, func(q *weirnats.Queue[string]) {
				p := newPool(t, 4, weir.OnError(func(error) {}))
				for _, v := range values[:3] {
					noError(t, q.Put(t.Context(), v, weirnats.ID(v)))
				}
				noError(t, q.Put(t.Context(), "c", weirnats.ID(fmt.Sprint("c", round))))
				n, err := q.PutAll(t.Context(), append(values, "d"), func(i int) string {
					if i == len(values) {
						return fmt.Sprint("d", round)
					}
					return values[i]
				})
				noError(t, err)
				equal(t, "values that are put", n, len(values)+1)
				stop := serve(t, q, p, func(_ context.Context, v string) error {
					calls.add(v)
					if v == bad {
						return weir.Permanent(errors.New("no"))
					}
					return nil
				})
				drained(t, q)
				stop()
				if round++; round == 1 {
					equal(t, "calls", len(calls.take()), len(values)+2)
					return
				}
				if again := calls.take(); len(again) != 2 {
					t.Errorf("called after the restart with %q", again)
				}
			})
		})
	}
}

func TestAnIDIsKnownForTheWindow(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		var calls list[string]
		stop := b.serve(func(_ context.Context, v string) error {
			calls.add(v)
			return nil
		})
		put := func(want int) {
			b.Helper()
			noError(b, b.Put(b.Context(), "a", weirnats.ID("key")))
			pass(time.Second)
			b.mem.Restart()
			equal(b, "calls", len(calls.take()), want)
		}
		put(1)
		put(0)
		pass(time.Minute)
		put(1)
		put(0)

		// What cannot be asked for is an error, and what cannot be noted holds nothing up.
		why := errors.New("no answer")
		b.mem.Fault(func(call string) error {
			if call == "known" || call == "remember" {
				return why
			}
			return nil
		})
		isError(b, b.Put(b.Context(), "a", weirnats.ID("other")), why)
		n, err := b.PutAll(b.Context(), []string{"a"}, func(int) string { return "other" })
		isError(b, err, why)
		equal(b, "put", n, 0)
		noError(b, b.Put(b.Context(), "a"))
		pass(time.Second)
		equal(b, "calls", len(calls.take()), 1)
		noError(b, stop())
	}, weirnats.Window(time.Minute))
}
