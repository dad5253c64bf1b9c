package weirprom_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/64ed045f/weir/exporter"
	"github.com/64ed045f/weir/weirprom"
)

func TestAQueueHasNoCountsWhileItsServerDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, down := 0, error(nil)
		defer exporter.AddQueue("mail", "here", func(context.Context) (exporter.QueueCounts, error) {
			calls++
			return exporter.QueueCounts{Waiting: 8, Dead: 1}, down
		})()
		defer exporter.AddQueue("mail", "\xffthere", func(ctx context.Context) (exporter.QueueCounts, error) {
			<-ctx.Done()
			return exporter.QueueCounts{}, context.Cause(ctx)
		})()
		s := newScraper(named("none such"))
		is := func(all int, want map[string]float64) {
			t.Helper()
			synctest.Wait() // until the call that was cancelled has returned: no other one begins before
			start := time.Now()
			got := s.scrape(t)
			equal(t, "time of the scrape", time.Since(start), 2*time.Second)
			equal(t, "series", len(got), all)
			for name, value := range want {
				m := got[name]
				if m == nil {
					t.Errorf("there is no %s", name)
					continue
				}
				equal(t, name, m.GetGauge().GetValue(), value)
			}
		}
		is(9, map[string]float64{
			"weir_queue_up mail here": 1, "weir_queue_messages mail here waiting": 8, "weir_queue_messages mail here leased": 0,
			"weir_queue_dead mail here": 1, "weir_queue_oldest_seconds mail here": 0, "weir_queue_up mail _there": 0,
		})
		down = errors.New("down")
		is(2, map[string]float64{"weir_queue_up mail here": 0, "weir_queue_up mail _there": 0})
		equal(t, "calls", calls, 2)
		for _, none := range []scraper{newScraper(weirprom.NoQueues()), newScraper(weirprom.NoPools())} {
			if m := none.scrape(t)["weir_queue_up mail here"]; m != nil {
				t.Errorf("it was left out, and is there: %v", m)
			}
		}
		equal(t, "calls", calls, 2)
	})
}

func ExampleNoQueues() {
	defer exporter.AddQueue("mail", "nats://queues.example.com", func(context.Context) (exporter.QueueCounts, error) {
		return exporter.QueueCounts{Waiting: 3}, nil
	})()
	for _, opts := range [][]weirprom.Option{nil, {weirprom.NoQueues()}} {
		registry := prometheus.NewRegistry()
		registry.MustRegister(weirprom.New(opts...))
		show(registry, "weir_queue_messages")
	}
	// Output:
	// queue=mail server=nats://queues.example.com state=leased 0
	// queue=mail server=nats://queues.example.com state=waiting 3
}
