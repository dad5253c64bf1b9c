package weirotel_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/exporter"
	"github.com/64ed045f/weir/weirotel"
)

func TestAQueueHasNoCountsWhileItsServerDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, down := 0, error(nil)
		defer exporter.AddQueue("mail", "here", func(context.Context) (exporter.QueueCounts, error) {
			calls++
			return exporter.QueueCounts{Waiting: 5, Leased: 4, Redelivered: 3, Dead: 2, Later: 6, Accepted: 99, Oldest: 1500 * time.Millisecond}, down
		})()
		remove := exporter.AddQueue("mail", "there", func(ctx context.Context) (exporter.QueueCounts, error) {
			<-ctx.Done()
			return exporter.QueueCounts{}, context.Cause(ctx)
		})
		p := weirotel.NewProducer(only("none such"))
		start := time.Now()
		c := collect(t, p)
		equal(t, "time of the collection", time.Since(start), 2*time.Second)
		for metric, want := range map[string]map[string]float64{
			"weir.queue.up":                  {"mail here": 1, "mail there": 0},
			"weir.queue.message.count":       {"waiting mail here": 5, "leased mail here": 4},
			"weir.queue.message.redelivered": {"mail here": 3},
			"weir.queue.message.later":       {"mail here": 6},
			"weir.queue.message.dead":        {"mail here": 2},
			"weir.queue.accepted":            {"mail here": 99},
			"weir.queue.message.oldest_age":  {"mail here": 1.5},
		} {
			equal(t, metric, fmt.Sprint(c.values(t, metric)), fmt.Sprint(want))
			delete(c, metric)
		}
		equal(t, "other metrics", len(c), 0)
		synctest.Wait() // until the call that was cancelled has returned: no other one begins before
		down = errors.New("down")
		c = collect(t, p)
		synctest.Wait()
		equal(t, "metrics", fmt.Sprint(slices.Collect(maps.Keys(c)), c.values(t, "weir.queue.up")), "[weir.queue.up] map[mail here:0 mail there:0]")

		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("no time")
		time.AfterFunc(time.Second, func() { cancel(why) })
		start = time.Now()
		_, err := p.Produce(ctx)
		isError(t, err, why)
		equal(t, "time of a collection that is cancelled", time.Since(start), time.Second)
		remove()
		synctest.Wait()
		calls = 0
		for _, none := range []*weirotel.Producer{weirotel.NewProducer(weirotel.NoQueues(), only("none such")), weirotel.NewProducer(weirotel.NoPools())} {
			equal(t, "metrics where queues are left out", len(collect(t, none)), 0)
		}
		equal(t, "calls", calls, 0)
	})
}

func ExampleNoQueues() {
	defer exporter.AddQueue("mail", "nats://queues.example.com", func(context.Context) (exporter.QueueCounts, error) {
		return exporter.QueueCounts{Waiting: 3}, nil
	})()
	for _, p := range []*weirotel.Producer{weirotel.NewProducer(), weirotel.NewProducer(weirotel.NoQueues())} {
		scopes, err := p.Produce(context.Background())
		fmt.Println(len(scopes), err)
	}
	// Output:
	// 1 <nil>
	// 0 <nil>
}

// The deadline of a collection may be shorter than the wait for servers.
func TestAServerThatDoesNotAnswerTakesNoOtherMetricsAlong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer exporter.AddQueue("mail", "there", func(ctx context.Context) (exporter.QueueCounts, error) {
			<-ctx.Done()
			return exporter.QueueCounts{}, context.Cause(ctx)
		})()
		for _, d := range []time.Duration{2 * time.Second, time.Millisecond} {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			scopes, err := weirotel.NewProducer(only("none such")).Produce(ctx)
			cancel()
			noError(t, err)
			byName(t, scopes).want(t, "weir.queue.up", "mail there", 0)
		}
	})
}

func TestTheZeroProducer(t *testing.T) {
	defer func() {
		const want = "weirotel: producer must be made by NewProducer, got nil or the zero value"
		if value := recover(); value != want {
			t.Errorf("panic: %v", value)
		}
	}()
	_, _ = new(weirotel.Producer).Produce(t.Context())
}
