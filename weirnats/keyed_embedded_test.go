package weirnats_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
)

func TestKeysOnAServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open[string](t, dir, "a", weirnats.Partitions(8))
	for _, n := range []int{64, 7} {
		_, err := weirnats.Open[string](t.Context(), "a", weirnats.Dir(dir), weirnats.Partitions(n))
		if s, ok := errors.AsType[*weirnats.SettingsError](err); !ok || s.Setting != "Partitions" || s.Have != "8" || s.Want != fmt.Sprint(n) {
			t.Errorf("error is %v", err)
		}
	}
	other := open[string](t, dir, "a", weirnats.Partitions(8))
	p := newPool(t, 4, weir.OnError(func(error) {}))
	var fails atomic.Bool
	fails.Store(true)
	var ran list[string]
	run := func(ctx context.Context, v string) error {
		ran.add(fmt.Sprint(v, ".", weirnats.Attempt(ctx).Number))
		if v == "0" && fails.Swap(false) {
			return weir.Permanent(errors.New("on purpose"))
		}
		return nil
	}
	stops := []func(){serve(t, q, p, run), serve(t, other, p, run)} // before there is a key
	const n = 200
	want := []string{}
	for i := range n {
		v := fmt.Sprint(i)
		noError(t, q.Put(t.Context(), v, weirnats.Key("one")))
		want = append(want, v+".1")
	}
	drained(t, q)
	equal(t, "tries", strings.Join(ran.take(), " "), strings.Join(want, " "))
	for _, stop := range stops {
		stop()
	}
	admin, err := weirnats.OpenAdmin(t.Context(), weirnats.Dir(dir), quiet)
	noError(t, err)
	defer func() { noError(t, admin.Close()) }()
	view, err := admin.Queue(t.Context(), "a")
	noError(t, err)
	for l, err := range view.Dead(t.Context()) {
		noError(t, err)
		equal(t, "key", l.Key, "one")
		noError(t, view.Replay(t.Context(), l.ID))
	}
	for m, err := range view.Peek(t.Context()) {
		noError(t, err)
		equal(t, "key", m.Key, "one")
		equal(t, "data", string(m.Data), `"0"`)
	}
	again := serve(t, other, p, run) // a Serve that finds the partitions
	drained(t, q)
	equal(t, "tries", strings.Join(ran.take(), " "), "0.1")
	noError(t, q.Put(t.Context(), "later", weirnats.Key("one"), weirnats.After(100*time.Millisecond)))
	within(t, "run", func() bool { return slices.Contains(ran.take(), "later.1") })
	again()
}

// A server that was killed at the wrong moment has no consumer for a partition when it starts again.
func TestAPartitionThatTheServerHasForgottenIsMadeAgain(t *testing.T) {
	t.Parallel()
	s := listen(t, t.TempDir())
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	q, err := weirnats.Open[string](t.Context(), "work", append(keyedOptions(), weirnats.Server(s.ClientURL()))...)
	noError(t, err)
	defer q.Close()
	p := newPool(t, 1)
	stop := serve(t, q, p, func(context.Context, string) error { return nil })
	put := func() {
		for i := range 20 {
			noError(t, q.Put(t.Context(), "x", weirnats.Key(fmt.Sprint(i))))
		}
	}
	put()
	drained(t, q)
	conn, err := nats.Connect(s.ClientURL())
	noError(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	noError(t, err)
	noError(t, js.DeleteConsumer(t.Context(), "weir_q_work", "k001"))
	put()
	drained(t, q)
	stop()
}

// Values of which a pull of several messages gets none.
func TestLargeValuesWithAKey(t *testing.T) {
	t.Parallel()
	q := open[[]byte](t, t.TempDir(), "a", weirnats.Partitions(2))
	p := newPool(t, 8)
	var sizes list[int]
	for i := range 12 {
		noError(t, q.Put(t.Context(), make([]byte, i%3<<20+i), weirnats.Key("one")))
	}
	stop := serve(t, q, p, func(_ context.Context, v []byte) error { sizes.add(len(v) & 0xfff); return nil })
	drained(t, q)
	stop()
	equal(t, "order", fmt.Sprint(sizes.take()), "[0 1 2 3 4 5 6 7 8 9 10 11]")
}

const faultKeys = 20

func keyedOptions() []weirnats.Option {
	return append(slices.Clip(childOptions), weirnats.Partitions(6))
}

func init() { //nolint:gochecknoinits // it adds a program to those that tests start
	children["keyed"] = func() error {
		p, err := openProgram(weirnats.Partitions(6))
		if err != nil {
			return err
		}
		fmt.Println("ready")
		return p.Serve(context.Background(), p.pool, func(_ context.Context, id string) error {
			if err := p.begun.add(id); err != nil {
				return err
			}
			if rand.N(50) == 0 {
				return errors.New("on purpose")
			}
			time.Sleep(rand.N(2 * time.Millisecond))
			return p.done.add(id)
		})
	}
}

// Workers of one server are killed, and stopped for longer than the lease, while they run messages with keys. Of each key none begins before one that was put earlier has begun, and
// none is lost. A worker that was stopped may go on with what it had begun.
func TestTheOrderOfKeysWhenWorkersAreKilled(t *testing.T) {
	needsTime(t)
	t.Parallel()
	dir := t.TempDir()
	s := listen(t, t.TempDir())
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	q, err := weirnats.Open[string](t.Context(), "work", append(keyedOptions(), weirnats.Server(s.ClientURL()))...)
	noError(t, err)
	defer q.Close()
	workers := startWorkers(t, "keyed", dir, s.ClientURL())
	stop := putting(t, dir, func(ctx context.Context, i, j int) (string, error) {
		time.Sleep(time.Millisecond)               // more than the workers do would take long
		key := fmt.Sprint(i, "/", j%(faultKeys/4)) // a slow machine puts few
		id := fmt.Sprint(key, "-", j)
		return id, q.Put(ctx, id, weirnats.Key(key))
	})
	var faults atomic.Int32
	workers.strike(&faults, strikeTime, after(faultsFor()))
	stop()
	drained(t, q)
	workers.end(q, int(faults.Load()))
	inOrder(t, dir, faultKeys)
}

// inOrder checks the order of first tries in the ledger of those that have begun, which have so many keys.
func inOrder(t *testing.T, dir string, keys int) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "begun"))
	noError(t, err)
	defer f.Close()
	last, seen := map[string]int{}, map[string]bool{}
	for text := bufio.NewScanner(f); text.Scan(); {
		id := text.Text()
		key, number, _ := strings.Cut(id, "-")
		n, err := strconv.Atoi(number)
		noError(t, err)
		if before, ok := last[key]; ok && !seen[id] && n < before {
			t.Errorf("%s begins after %s-%d", id, key, before)
		}
		seen[id] = true
		last[key] = max(n, last[key])
	}
	equal(t, "keys", len(last), keys)
}
