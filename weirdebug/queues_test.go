package weirdebug_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/exporter"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirdebug"
)

func TestTheFirstPageShowsTheQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := weirdebug.Handler()
		if body := get(h, "?find=durable").Body.String(); strings.Contains(body, "Queues that outlive") {
			t.Errorf("a page without queues has a table of them: %s", body)
		}
		defer exporter.AddQueue("durable mail", "nats://here", func(context.Context) (exporter.QueueCounts, error) {
			return exporter.QueueCounts{Waiting: 11, Leased: 12, Redelivered: 13, Dead: 14, Later: 16, Accepted: 15, Oldest: 90 * time.Second}, nil
		})()
		asked, down := 0, errors.New("<b>down</b>")
		defer exporter.AddQueue("durable <i>jobs", "/var/lib/<i>", func(context.Context) (exporter.QueueCounts, error) {
			if asked++; asked == 2 {
				return exporter.QueueCounts{Waiting: 77}, nil
			}
			return exporter.QueueCounts{}, down
		})()
		page := func(texts ...string) {
			t.Helper()
			says(t, h, "?find=durable", texts...)
		}
		page("2 queues, with the counts", "<bdi>durable mail</bdi></th><td>11</td><td>12</td><td>13</td><td>14</td><td>16</td><td>15</td><td>1m30s</td>", "<bdi>nats://here</bdi>",
			"<bdi>durable &lt;i&gt;jobs</bdi> <span class=\"lint\"><bdi>&lt;b&gt;down&lt;/b&gt;</bdi></span></th><td>–</td>", "<bdi>/var/lib/&lt;i&gt;</bdi>")
		page("<bdi>durable &lt;i&gt;jobs</bdi></th><td>77</td>")
		time.Sleep(time.Minute)
		page(`&lt;/b&gt;</bdi></span> <small>counts of <span title="since`, ">1m0s</span> ago</small></th><td>77</td>")
		says(t, h, "?find=HERE", "1 queue, with the counts of all programs that use it")
		check.Equal(t, "times that the queue was asked", asked, 4)

		s := snapshot(t, h, url.Values{"find": {"durable"}})
		check.Equal(t, "queues", len(s.Queues), 2)
		check.Equal(t, "the first has not answered", s.Queues[0].Error, down.Error())
		check.Equal(t, "age of its counts", s.Time.Sub(s.Queues[0].At), time.Minute)
		check.Equal(t, "the second", fmt.Sprint(s.Queues[1].Waiting, s.Queues[1].Later, s.Queues[1].Accepted, s.Queues[1].Oldest, s.Queues[1].Error), "11 16 15 90")
		for _, query := range []string{"?groups", "?pool=18446744073709551615"} {
			get(h, query)
		}
		check.Equal(t, "times that the queue was asked", asked, 5)
	})
}

// noText is an error whose method Error panics on a nil pointer.
type noText struct{ text string }

func (n *noText) Error() string { return n.text }

func TestAnErrorWithoutATextIsShownToo(t *testing.T) {
	for _, c := range []struct {
		err  *noText
		want string
	}{{nil, "<nil>"}, {&noText{}, "an error without a text"}} {
		remove := exporter.AddQueue("without text", "", func(context.Context) (exporter.QueueCounts, error) { return exporter.QueueCounts{}, c.err })
		check.Equal(t, "error", snapshot(t, weirdebug.Handler(), url.Values{"find": {"without text"}}).Queues[0].Error, c.want)
		remove()
	}
}

func TestAQueueThatDoesNotAnswerHoldsUpThePageForTwoSecondsAndNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := weirdebug.Handler()
		remove := exporter.AddQueue("deaf", "", func(ctx context.Context) (exporter.QueueCounts, error) {
			<-ctx.Done()
			return exporter.QueueCounts{}, context.Cause(ctx)
		})
		defer remove()
		start := time.Now()
		const readers = 5 // more than have their turn at once
		done := make(chan int)
		for range readers {
			go func() { done <- get(h, "").Code }()
		}
		synctest.Wait()
		check.Equal(t, "status of another page", get(h, "?groups").Code, http.StatusOK)
		check.Equal(t, "time that it took", time.Since(start), 0)
		for range readers {
			check.Equal(t, "status", <-done, http.StatusOK)
		}
		check.Equal(t, "time that they took", time.Since(start), 2*time.Second)
		says(t, h, "?find=deaf", "no answer within 2s")
	})
}

func TestAtMost500QueuesAreListed(t *testing.T) {
	for i := range 502 {
		defer exporter.AddQueue(fmt.Sprint("many ", i), "", func(context.Context) (exporter.QueueCounts, error) { return exporter.QueueCounts{}, nil })()
	}
	h := weirdebug.Handler()
	says(t, h, "?find=many+", "500 queues, with", ", 2 more are left out: use Find")
	s := snapshot(t, h, url.Values{"find": {"many "}})
	check.Equal(t, "queues", len(s.Queues), 500)
	check.Equal(t, "queues left out", s.QueuesLeftOut, 2)
}
