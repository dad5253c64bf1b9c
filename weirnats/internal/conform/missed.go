package conform

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/64ed045f/weir/weirnats/internal/backend"
)

// Missed runs the cases of deliveries that meet no process. run and open are those of Run. miss calls put, which
// puts a message for partition 0 if it has a key, and makes its first delivery meet no process.
func Missed(
	t *testing.T, run func(*testing.T, func(*testing.T)), open func(t *testing.T, s backend.Settings) backend.Queue,
	miss func(t *testing.T, q backend.Queue, keyed bool, put func()),
) {
	missed := func(w *world, keyed bool, put func(data string), take func() backend.Delivery) {
		for i, data := range []string{"a", "b", "c"} {
			miss(w.T, w.Queue, keyed, func() { put(data) })
			d := take()
			is(w, "message", text(d), data)
			is(w, "tries", tries(w, d), 1)
			switch i {
			case 0: // the next one is the first of its receiver
				ok(w, d.Ack(w.Context(), true))
			case 1: // a delivery that is lost counts
				d = take()
				is(w, "message", text(d), data)
				is(w, "tries", tries(w, d), 2)
				ok(w, d.Ack(w.Context(), true))
			case 2: // one that goes back does not
				ok(w, d.GiveBack(w.Context(), &backend.Record{Returned: d.Count()}, 0))
				is(w, "tries", tries(w, take()), 1)
			}
		}
	}
	runAll(t, "m", []scenario{
		{"it does not count", func(s *backend.Settings) { s.Lease = missedLease }, func(w *world) {
			missed(w, false, w.put, w.take)
		}},
		{"with a key it does not count", func(s *backend.Settings) { s.Lease = missedLease }, func(w *world) {
			w.putOrdered("first") // makes the partitions
			p := w.partition()
			take := func() backend.Delivery {
				w.Helper()
				ok(w, p.Release(w.Context()))
				for range 20 {
					if all := w.pullFrom(p, 1, w.lease/4); len(all) > 0 {
						return all[0]
					}
				}
				w.Fatal("no message comes")
				return nil
			}
			ok(w, take().Ack(w.Context(), true))
			missed(w, true, w.putOrdered, take)
		}},
		{"a delivery that met a process counts", func(s *backend.Settings) { s.Lease = missedLease }, func(w *world) {
			w.put("a")
			w.take()
			is(w, "tries", tries(w, w.take()), 2)
		}},
		{"what comes as a receiver ends does not count, however late the next one is", func(s *backend.Settings) { s.Lease = missedLease }, func(w *world) {
			var late []backend.Receiver
			for range 3 {
				r, err := w.Receive()
				ok(w, err)
				w.interrupt(func(ctx context.Context) error {
					return r.Pull(ctx, 1, 10*time.Second, func(backend.Delivery) bool { return false })
				})
				late = append(late, r)
			}
			for range late {
				w.put("a")
			}
			for _, r := range late {
				ok(w, r.Close(w.Context()))
			}
			time.Sleep(w.lease)
			for range late {
				is(w, "tries", tries(w, w.take()), 1)
			}
		}},
		{"what has waited for long, and comes to a pull that has ended, does not count", func(s *backend.Settings) { s.Lease = missedLease }, func(w *world) {
			w.put("a")
			time.Sleep(w.lease)
			ctx, cancel := context.WithCancel(w.Context())
			cancel()
			is(w, "the pull ends with its context", errors.Is(w.from.Pull(ctx, 1, 0, func(backend.Delivery) bool { return false }), context.Canceled), true)
			is(w, "tries", tries(w, w.take()), 1)
		}},
		{"what comes with a key as a process leaves a partition does not count", func(s *backend.Settings) { s.Lease = missedLease }, func(w *world) {
			w.putOrdered("first") // makes the partitions
			p, err := w.Partition(0)
			ok(w, err)
			ok(w, w.pullFrom(p, 1, 10*time.Second)[0].Ack(w.Context(), true))
			w.interrupt(func(ctx context.Context) error {
				return p.Pull(ctx, 1, 10*time.Second, func(backend.Delivery, backend.Turn) bool { return false })
			})
			w.putOrdered("a")
			ok(w, p.Release(w.Context()))
			ok(w, p.Close(w.Context()))
			time.Sleep(w.lease)
			is(w, "tries", tries(w, w.pullFrom(w.partition(), 1, 10*time.Second)[0]), 1)
		}},
	}, run, open)
}

// interrupt calls pull, and ends it when the queue has most likely got it.
func (w *world) interrupt(pull func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(w.Context())
	done := make(chan error, 1)
	go func() { done <- pull(ctx) }()
	time.Sleep(100 * time.Millisecond)
	cancel()
	is(w, "the pull ends with its context", errors.Is(<-done, context.Canceled), true)
}

// missedLease is a lease that runs out in these cases. With a shorter one, the delivery would count.
const missedLease = 4 * time.Second

// tries returns how many deliveries count.
func tries(w *world, d backend.Delivery) int {
	w.Helper()
	r, err := d.Record(w.Context())
	ok(w, err)
	return d.Count() - r.Returned
}
