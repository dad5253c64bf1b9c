package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/lab/internal/memory"
	"github.com/64ed045f/weir/lab/internal/record"
)

const (
	latencyTime  = 5 * time.Second // the longest time of a latency measurement
	memoryTime   = 3 * time.Second // how long a memory measurement serves messages
	settleTime   = time.Minute     // the longest time after which a message that has run must be reported as done
	fewestForP99 = 100
	puttersKey   = "putters"
)

// work is the work of one measuring process.
type work struct {
	ID      record.ID
	Place   place
	Waits   int           // messages that the process puts before it measures
	Waiting int           // messages that another process has put before
	Fill    bool          // put messages, and measure nothing
	Time    time.Duration // how long messages are put
	Samples int           // latencies to measure
}

// measuring is a work in progress.
type measuring struct {
	work
	queue     queue
	contender contender
	form      string
	begin     time.Time // of the process's work
	opened    time.Time
	next      atomic.Int64 // the number of the next message
}

// do does the work, and writes the figures.
func (w work) do(ctx context.Context, stdout io.Writer) (err error) {
	m := &measuring{work: w}
	for _, c := range contenders {
		if rest, ok := strings.CutPrefix(w.ID.Peer, c.name); ok && (rest == "" || rest[0] == '.') {
			m.contender, m.form = c, strings.TrimPrefix(rest, ".")
		}
	}
	m.begin = time.Now()
	if m.queue, err = m.contender.open(ctx, w.Place); err != nil {
		return err
	}
	m.opened = time.Now()
	defer func() { err = errors.Join(err, m.queue.close()) }()
	if err := m.fill(ctx, w.Waits); err != nil {
		return err
	}
	values := []record.Value{{Unit: "filled", Value: float64(w.Waits)}}
	if !w.Fill {
		measure := map[string]func(context.Context) ([]record.Value, error){
			"put": m.put, "batch": m.batch, "serve": m.serve, "latency": m.latency, "start": m.start, "memory": m.memory,
		}[w.ID.Experiment]
		runtime.GC()
		if values, err = measure(ctx); err != nil {
			return err
		}
	}
	return record.Write(stdout, record.File{Results: []record.Result{{ID: w.ID, N: 1, Values: values}}})
}

// fill puts n messages in the contender's fastest way.
func (m *measuring) fill(ctx context.Context, n int) error {
	if len(m.contender.forms) == 0 {
		var left atomic.Int64
		left.Store(int64(n))
		return m.putEach(ctx, places, func() bool { return left.Add(-1) >= 0 })
	}
	form := m.contender.forms[len(m.contender.forms)-1]
	for first := 0; first < n; first += atOnce {
		if err := m.queue.putMany(ctx, form, messages(int64(first), min(atOnce, n-first))); err != nil {
			return err
		}
	}
	return nil
}

// rates returns the figures of n operations that together took the given time.
func rates(n int64, took time.Duration) []record.Value {
	return []record.Value{{Unit: "ns/op", Value: float64(took) / float64(n)}, {Unit: "op/s", Value: float64(n) / took.Seconds()}}
}

// put measures goroutines that each put one message after the other.
func (m *measuring) put(ctx context.Context) ([]record.Value, error) {
	putters, err := strconv.Atoi(record.Find(m.ID.Params, puttersKey))
	if err != nil {
		return nil, err
	}
	return m.timed(ctx, func(until time.Time) error {
		return m.putEach(ctx, putters, func() bool { return time.Now().Before(until) })
	})
}

// putEach has putters goroutines put messages, each goroutine one after the other, while more returns true.
func (m *measuring) putEach(ctx context.Context, putters int, more func() bool) error {
	g := weir.NewGroup(ctx, putters)
	for range putters {
		g.Go(func(ctx context.Context) error {
			for more() {
				if err := m.queue.put(ctx, message(m.next.Add(1)-1)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// batch measures one goroutine that puts many messages at once.
func (m *measuring) batch(ctx context.Context) ([]record.Value, error) {
	return m.timed(ctx, func(until time.Time) error {
		for time.Now().Before(until) {
			if err := m.queue.putMany(ctx, m.form, messages(m.next.Add(atOnce)-atOnce, atOnce)); err != nil {
				return err
			}
		}
		return nil
	})
}

// timed measures how fast put puts messages, and checks that all of them are in the queue.
func (m *measuring) timed(ctx context.Context, put func(until time.Time) error) ([]record.Value, error) {
	if err := put(time.Now().Add(m.Time / 4)); err != nil { // warm up
		return nil, err
	}
	before, begin := m.next.Load(), time.Now()
	if err := put(begin.Add(m.Time)); err != nil {
		return nil, err
	}
	return rates(m.next.Load()-before, time.Since(begin)), m.settle(ctx, int(m.next.Load()))
}

// settle waits until want messages are left: a message may be reported as done some time after it has run.
func (m *measuring) settle(ctx context.Context, want int) error {
	for end := time.Now().Add(settleTime); ; {
		left, err := m.queue.left(ctx)
		if err != nil || left == want {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d messages are left, want %d", left, want)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// serve measures how fast waiting messages are run and reported as done. JetStream reports a message as done
// some time after its task has ended.
func (m *measuring) serve(ctx context.Context) ([]record.Value, error) {
	ran, took, err := m.run(ctx, m.Waits, turnLimit)
	return rates(int64(ran), took), err
}

// run serves n waiting messages, for at most the given time. It returns how many have run, and the time that took.
func (m *measuring) run(ctx context.Context, n int, most time.Duration) (ran int, took time.Duration, err error) {
	t := newTally(n)
	begin := time.Now()
	stop, err := m.queue.serve(ctx, t.run)
	if err != nil {
		return 0, 0, err
	}
	select {
	case <-t.all:
	case <-time.After(most):
	case <-ctx.Done():
		return 0, 0, context.Cause(ctx)
	}
	if t.ran.Load() == int64(n) {
		err = m.settle(ctx, 0)
	}
	took = time.Since(begin)
	err = errors.Join(err, stop(), t.check())
	ran = int(t.ran.Load())
	return ran, took, errors.Join(err, m.settle(ctx, n-ran))
}

// latency measures the time from the start of a put into an idle queue until the message runs.
func (m *measuring) latency(ctx context.Context) ([]record.Value, error) {
	t, ran := newTally(m.Samples+1), make(chan time.Time, 1)
	stop, err := m.queue.serve(ctx, func(payload []byte) { now := time.Now(); t.run(payload); ran <- now })
	if err != nil {
		return nil, err
	}
	var all []time.Duration
	for end := time.Now().Add(latencyTime); len(all) <= m.Samples && time.Now().Before(end); {
		time.Sleep(rand.N(20 * time.Millisecond))
		begin := time.Now()
		if err := m.queue.put(ctx, message(int64(len(all)))); err != nil {
			return nil, err
		}
		select {
		case now := <-ran:
			all = append(all, now.Sub(begin))
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if err := errors.Join(stop(), t.check(), m.settle(ctx, 0)); err != nil {
		return nil, err
	}
	if len(all) < 2 {
		return nil, fmt.Errorf("%d messages in %v are too few", len(all), latencyTime)
	}
	all = all[1:] // the first message found nothing ready
	slices.Sort(all)
	values := []record.Value{{Unit: "p50-ns", Value: float64(all[len(all)/2])}}
	if len(all) >= fewestForP99 {
		values = append(values, record.Value{Unit: "p99-ns", Value: float64(all[len(all)*99/100])})
	}
	return values, nil
}

// start measures the time from the start of the process's work until the queue is open, and until the first
// message runs.
func (m *measuring) start(ctx context.Context) ([]record.Value, error) {
	if err := m.queue.put(ctx, message(0)); err != nil {
		return nil, err
	}
	t, ran := newTally(1), make(chan time.Time, 1)
	stop, err := m.queue.serve(ctx, func(payload []byte) { now := time.Now(); t.run(payload); ran <- now })
	if err != nil {
		return nil, err
	}
	select {
	case now := <-ran:
		values := []record.Value{{Unit: "open-ns", Value: float64(m.opened.Sub(m.begin))}, {Unit: "first-ns", Value: float64(now.Sub(m.begin))}}
		return values, errors.Join(stop(), t.check(), m.settle(ctx, 0))
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// memory measures the memory of this process while it serves messages. All of them are in the queue at the start.
func (m *measuring) memory(ctx context.Context) ([]record.Value, error) {
	ran, _, err := m.run(ctx, m.Waiting, memoryTime)
	return []record.Value{{Unit: "peak-B", Value: float64(memory.Peak())}, {Unit: "ran", Value: float64(ran)}}, err
}

// unlessCancelled returns err, or nil if err is only the end of a context.
func unlessCancelled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
