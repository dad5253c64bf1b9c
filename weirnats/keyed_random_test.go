package weirnats_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
	"github.com/64ed045f/weir/weirnats/internal/backend"
	"github.com/64ed045f/weir/weirnats/internal/mem"
)

var (
	orderSeeds = flag.Int("orderseeds", 12, "how many random histories of messages with keys are tried")
	orderSeed  = flag.Uint64("orderseed", 1, "the seed of the first one")
)

var errCut = errors.New("no connection")

// link is a backend as one process sees it, over a connection that fails. What is under way when that is lost may have reached the queue or not.
type link struct {
	*mem.Queue
	world *orderWorld

	mu   sync.Mutex
	up   context.Context
	down context.CancelFunc
}

func (k *link) connect() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.up, k.down = context.WithCancel(context.Background())
}

func (k *link) cut() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.down()
}

func (k *link) state() context.Context {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.up
}

// call makes a call, unless the connection is lost; its answer may be.
func (k *link) call(do func() error) error {
	up := k.state()
	if up.Err() != nil || k.world.chance(50) {
		return errCut
	}
	err := do()
	if up.Err() != nil || k.world.chance(50) {
		return errCut
	}
	return err
}

// pull makes a pull, unless the connection is lost. What comes then is lost.
func (k *link) pull(ctx context.Context, pull func(ctx context.Context, lost func() bool) error) error {
	up := k.state()
	if up.Err() != nil {
		return errCut
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(up, func() { cancel(errCut) })()
	return pull(ctx, func() bool { return up.Err() != nil || k.world.chance(200) })
}

type linkReceiver struct {
	backend.Receiver
	link *link
}

func (k *link) Receive() (backend.Receiver, error) {
	r, err := k.Queue.Receive()
	return linkReceiver{r, k}, err
}

func (r linkReceiver) Pull(ctx context.Context, n int, wait time.Duration, take func(backend.Delivery) bool) error {
	return r.link.pull(ctx, func(ctx context.Context, lost func() bool) error {
		return r.Receiver.Pull(ctx, n, wait, func(d backend.Delivery) bool { return lost() || take(linkDelivery{d, r.link}) })
	})
}

type linkPartition struct {
	backend.Partition
	link *link
}

func (k *link) Partition(i int) (backend.Partition, error) {
	p, err := k.Queue.Partition(i)
	return linkPartition{p, k}, err
}

func (p linkPartition) Pull(ctx context.Context, n int, wait time.Duration, take func(backend.Delivery, backend.Turn) bool) error {
	return p.link.pull(ctx, func(ctx context.Context, lost func() bool) error {
		return p.Partition.Pull(ctx, n, wait, func(d backend.Delivery, t backend.Turn) bool { return lost() || take(linkDelivery{d, p.link}, t) })
	})
}

func (p linkPartition) State(ctx context.Context) (s backend.State, err error) {
	err = p.link.call(func() error { s, err = p.Partition.State(ctx); return err })
	return s, err
}

func (p linkPartition) List(ctx context.Context, last uint64) (all map[uint64]string, err error) {
	err = p.link.call(func() error { all, err = p.Partition.List(ctx, last); return err })
	return all, err
}

func (p linkPartition) Release(ctx context.Context) error {
	return p.link.call(func() error { return p.Partition.Release(ctx) })
}

type linkDelivery struct {
	backend.Delivery
	link *link
}

func (d linkDelivery) Record(ctx context.Context) (r *backend.Record, err error) {
	err = d.link.call(func() error { r, err = d.Delivery.Record(ctx); return err })
	return r, err
}

func (d linkDelivery) Keep(ctx context.Context, r *backend.Record) error {
	return d.link.call(func() error { return d.Delivery.Keep(ctx, r) })
}

func (d linkDelivery) Extend(ctx context.Context) error {
	return d.link.call(func() error { return d.Delivery.Extend(ctx) })
}

func (d linkDelivery) Ack(ctx context.Context, confirm bool) error {
	return d.link.call(func() error { return d.Delivery.Ack(ctx, confirm) })
}

func (d linkDelivery) GiveBack(ctx context.Context, r *backend.Record, wait time.Duration) error {
	return d.link.call(func() error { return d.Delivery.GiveBack(ctx, r, wait) })
}

func (d linkDelivery) Bury(ctx context.Context, r *backend.Record, tries int) error {
	return d.link.call(func() error { return d.Delivery.Bury(ctx, r, tries) })
}

// orderWorld is several processes that serve one queue, and what they did.
type orderWorld struct {
	*testing.T
	mem *mem.Queue

	mu      sync.Mutex
	random  *rand.Rand
	put     map[string]int // by key
	last    map[string]int // the last that has begun, by key
	running map[string]int
	done    map[string]bool
	again   int
}

func (w *orderWorld) chance(oneIn int) bool { return w.number(oneIn) == 0 }

func (w *orderWorld) number(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.random.IntN(n)
}

// run is the function of all processes.
func (w *orderWorld) run(ctx context.Context, v string) error {
	if v == "plain" {
		return nil
	}
	key, text, _ := strings.Cut(v, " ")
	n, err := strconv.Atoi(text)
	noError(w, err)
	if got := weirnats.Attempt(ctx).Key; got != key {
		w.Errorf("key of %q is %q", v, got)
	}
	w.mu.Lock()
	switch last := w.last[key]; {
	case n < last:
		w.Errorf("%s begins after %s %d", v, key, last)
	case n == last:
		w.again++
	}
	if w.last[key] = n; w.running[key] > 0 {
		w.Errorf("%s begins while another of its key runs", v)
	}
	w.running[key]++
	took := []time.Duration{0, time.Millisecond, 100 * time.Millisecond, 3 * time.Second, lease}[min(w.random.IntN(5), w.random.IntN(5))]
	fails, dies := w.random.IntN(10) == 0, w.random.IntN(50) == 0
	w.mu.Unlock()
	select {
	case <-time.After(took):
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running[key]--
	switch {
	case err != nil:
		return err
	case dies:
		return weir.Permanent(errors.New("on purpose"))
	case fails:
		return errors.New("on purpose")
	}
	w.done[v] = true
	return nil
}

// process serves the queue until stop is called.
func (w *orderWorld) process(opts ...weirnats.Option) (k *link, stop func()) {
	k = &link{Queue: w.mem, world: w}
	k.connect()
	q := weirnats.OpenOn[string]("order", func(backend.Settings) backend.Queue { return k }, opts...)
	pool := weir.New(1+w.number(6), weir.OnError(func(error) {}))
	ctx, cancel := context.WithCancel(w.Context())
	done := make(chan error, 1)
	go func() { done <- q.Serve(ctx, pool, w.run) }()
	return k, func() {
		cancel()
		noError(w, <-done)
		noError(w, q.Close())
		pool.Close()
	}
}

// Several processes serve messages of a few keys, while their connections are lost, they end, and tries fail. At no time does a message begin after a later one of its key, or while
// another one runs; and none is lost.
func TestTheOrderOfKeysInRandomHistories(t *testing.T) {
	n := *orderSeeds
	if testing.Short() {
		n = min(n, 10)
	}
	again := 0
	for i := range n {
		seed := *orderSeed + uint64(i)
		again += orderHistory(t, seed)
		if t.Failed() { // the histories of a seed differ, as goroutines do
			t.Fatalf("seed %d", seed)
		}
	}
	if again == 0 && n > 1 {
		t.Error("no message was tried again")
	}
	t.Logf("%d histories, %d tries that were not the first", n, again)
}

func orderHistory(t *testing.T, seed uint64) (again int) {
	synctest.Test(t, func(t *testing.T) {
		w := &orderWorld{
			T: t, random: rand.New(rand.NewPCG(seed, 0)), put: map[string]int{}, last: map[string]int{}, running: map[string]int{}, done: map[string]bool{},
		}
		opts := []weirnats.Option{
			quiet, weirnats.Partitions(1 + w.number(3)), weirnats.Grace(0),
			weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 5, Wait: time.Second, MostWait: time.Minute})),
		}
		putter := weirnats.OpenOn[string]("order", func(s backend.Settings) backend.Queue {
			w.mem = mem.New(s)
			return w.mem
		}, opts...)
		links, stops := make([]*link, 3), make([]func(), 3)
		for i := range links {
			links[i], stops[i] = w.process(opts...)
		}
		keys, total := 1+w.number(12), 0
		for range 150 {
			for range w.number(5) {
				key := fmt.Sprint("k", w.number(keys))
				w.put[key]++
				total++
				noError(t, putter.Put(t.Context(), fmt.Sprint(key, " ", w.put[key]), weirnats.Key(key)))
			}
			if w.chance(10) {
				noError(t, putter.Put(t.Context(), "plain"))
			}
			time.Sleep([]time.Duration{0, 10 * time.Millisecond, time.Second, 10 * time.Second}[w.number(4)])
			switch i := w.number(3); w.number(12) {
			case 0:
				links[i].cut()
				time.Sleep([]time.Duration{time.Second, lease / 2, 2 * lease}[w.number(3)])
				links[i].connect()
			case 1:
				if w.chance(2) {
					links[i].cut() // it is killed
				}
				stops[i]()
				time.Sleep([]time.Duration{0, lease}[w.number(2)])
				links[i], stops[i] = w.process(opts...)
			case 2:
				if w.chance(4) {
					w.mem.Restart()
				}
			}
		}
		for end := time.Now().Add(time.Hour); ; time.Sleep(time.Second) {
			s, err := putter.Stats(t.Context())
			noError(t, err)
			if s.Messages == 0 {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%d messages are left", s.Messages)
			}
		}
		dead := 0
		for l, err := range putter.Dead(t.Context()) {
			noError(t, err)
			v, err := putter.Decode(l)
			noError(t, err)
			if dead++; !strings.HasPrefix(v, l.Key+" ") {
				t.Errorf("dead letter %q has key %q", v, l.Key)
			}
			w.mu.Lock()
			w.done[v] = true
			w.mu.Unlock()
		}
		for _, stop := range stops {
			stop()
		}
		noError(t, putter.Close())
		equal(t, "messages that are done or dead", len(w.done), total)
		again = w.again
	})
	return again
}
