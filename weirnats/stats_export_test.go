package weirnats_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/exporter"
	"github.com/64ed045f/weir/weirnats"
)

// exported returns what package exporter finds of the queue.
func exported(t *testing.T, name string) (found []exporter.Queue) {
	for _, q := range exporter.Queues(t.Context()) {
		if q.Name == name {
			found = append(found, q)
		}
	}
	return found
}

func TestAnOpenQueueIsAmongThoseOfExporter(t *testing.T) {
	dir := t.TempDir()
	queue, err := weirnats.Open[string](t.Context(), "exported", weirnats.Dir(filepath.Join(dir, "x", "..", "queues")), quiet)
	noError(t, err)
	noError(t, queue.Put(t.Context(), "a"))
	noError(t, queue.Put(t.Context(), "b"))
	list := exported(t, "exported")
	equal(t, "queues", len(list), 1)
	noError(t, list[0].Err)
	equal(t, "server", list[0].Server, filepath.Join(dir, "queues"))
	if list[0].Counts.Oldest <= 0 {
		t.Errorf("the oldest message has been there for %v", list[0].Counts.Oldest)
	}
	list[0].Counts.Oldest = 0
	equal(t, "counts", list[0].Counts, exporter.QueueCounts{Waiting: 2, Accepted: 2})
	noError(t, queue.Close())
	equal(t, "queues after Close", len(exported(t, "exported")), 0)
}

func TestCountsOfAQueueAreThoseOfStats(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		b.put("a", "b")
		stop := b.serve(func(ctx context.Context, value string) error {
			if value == "a" {
				return weir.Permanent(errors.New("bad"))
			}
			time.Sleep(time.Minute)
			return nil
		})
		pass(time.Second)
		b.put("c", "d")
		noError(b, b.Put(b.Context(), "e", weirnats.After(time.Hour)))
		got, err := weirnats.Counts(b.Context(), b.Queue)
		noError(b, err)
		equal(b, "counts", got, exporter.QueueCounts{Waiting: 2, Leased: 1, Dead: 1, Later: 1, Accepted: 4, Oldest: time.Second})
		noError(b, stop())
	})
}

func TestWhereMessagesAreIsSaidWithoutPasswords(t *testing.T) {
	for url, want := range map[string]string{
		"nats://me:geheim@a:4222, tls://b/?token=geheim": "nats://a:4222,tls://b",
		"geheim@a:1,b":        "nats://a:1,nats://b",
		"nats://me:geheim%@a": "",
	} {
		equal(t, url, weirnats.Where(weirnats.Server(url)), want)
	}
}
