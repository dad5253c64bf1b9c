package exporter_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/exporter"
	"github.com/64ed045f/weir/internal/check"
)

// waiting returns counts of a queue in which n messages wait.
func waiting(n int) func(context.Context) (exporter.QueueCounts, error) {
	return func(context.Context) (exporter.QueueCounts, error) { return exporter.QueueCounts{Waiting: n}, nil }
}

// texts returns each queue as a line.
func texts(list []exporter.Queue) string {
	text := ""
	for _, q := range list {
		text += fmt.Sprintf("%s on %s: %d, error %v; ", q.Name, q.Server, q.Counts.Waiting, q.Err)
	}
	return text
}

func TestQueuesAreThoseThatWereAddedAndNotRemoved(t *testing.T) {
	check.Equal(t, "without queues", len(exporter.Queues(t.Context())), 0)
	remove := []func(){
		exporter.AddQueue("b", "here", waiting(1)), exporter.AddQueue("a", "here", waiting(2)), exporter.AddQueue("b", "there", waiting(3)),
		exporter.AddQueue("b", "here", waiting(4)), // the same as the first
	}
	queues := func(want string) {
		t.Helper()
		check.Equal(t, "queues", texts(exporter.Queues(t.Context())), want)
	}
	queues("b on here: 1, error <nil>; a on here: 2, error <nil>; b on there: 3, error <nil>; ")
	remove[0]()
	remove[0]()
	queues("a on here: 2, error <nil>; b on there: 3, error <nil>; b on here: 4, error <nil>; ")
	for _, r := range remove {
		r()
	}
	queues("")
}

func TestAQueueThatDoesNotAnswerIsAskedOnceAndHoldsUpNoCallForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var calls atomic.Int32
		answer := make(chan int)
		defer exporter.AddQueue("deaf", "there", func(context.Context) (exporter.QueueCounts, error) { // it does not look at its context
			calls.Add(1)
			return exporter.QueueCounts{Waiting: <-answer}, nil
		})()
		defer exporter.AddQueue("fast", "there", waiting(7))()
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				list := exporter.Queues(t.Context())
				check.Equal(t, "queues", texts(list), "deaf on there: 0, error no answer within 2s; fast on there: 7, error <nil>; ")
				check.Equal(t, "time of no counts", list[0].At, time.Time{})
				check.Equal(t, "time of counts", list[1].At, start)
			})
		}
		all.Wait()
		check.Equal(t, "time for which they have waited", time.Since(start), 2*time.Second)
		all.Go(func() {
			check.Equal(t, "queues", texts(exporter.Queues(t.Context())), "deaf on there: 5, error <nil>; fast on there: 7, error <nil>; ")
		})
		synctest.Wait()
		check.Equal(t, "calls", calls.Load(), 1)
		answer <- 5
		all.Wait()

		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("the client has left")
		cancel(why)
		list := exporter.Queues(ctx)
		check.Error(t, list[0].Err, why)
		check.Equal(t, "counts from before", list[0].Counts.Waiting, 5)
		check.Equal(t, "time of those", list[0].At, start)
		answer <- 6
		synctest.Wait()
		check.Equal(t, "calls", calls.Load(), 2)
	})
}

func TestCountsThatExitAreAnError(t *testing.T) {
	exits := true
	defer exporter.AddQueue("exits", "", func(context.Context) (exporter.QueueCounts, error) {
		if exits {
			runtime.Goexit()
		}
		return exporter.QueueCounts{Waiting: 1}, nil
	})()
	check.Equal(t, "queues", texts(exporter.Queues(t.Context())), "exits on : 0, error function for counts called runtime.Goexit; ")
	exits = false
	check.Equal(t, "queues", texts(exporter.Queues(t.Context())), "exits on : 1, error <nil>; ")
}

func TestAPanicOfCountsIsAnError(t *testing.T) {
	why := errors.New("boom")
	panics := true
	defer exporter.AddQueue("panics", "", func(context.Context) (exporter.QueueCounts, error) {
		if panics {
			panic(why)
		}
		return exporter.QueueCounts{Waiting: 1}, nil
	})()
	err := exporter.Queues(t.Context())[0].Err
	check.Error(t, err, why)
	p, ok := errors.AsType[*weir.Panic](err)
	check.Equal(t, "has the stack", ok && strings.Contains(string(p.Stack), "TestAPanicOfCounts"), true)
	panics = false
	check.Equal(t, "queues", texts(exporter.Queues(t.Context())), "panics on : 1, error <nil>; ")
}

func TestTheContextOfCountsEndsAfterTwoSecondsAndWhenTheQueueIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var ended []time.Duration
		remove := exporter.AddQueue("patient", "", func(ctx context.Context) (exporter.QueueCounts, error) {
			<-ctx.Done()
			ended = append(ended, time.Since(start))
			return exporter.QueueCounts{}, fmt.Errorf("asked: %w", context.Cause(ctx))
		})
		exporter.Queues(t.Context())
		synctest.Wait()
		go exporter.Queues(t.Context())
		time.Sleep(time.Second)
		remove()
		synctest.Wait()
		check.Equal(t, "ends of the contexts", fmt.Sprint(ended), "[2s 3s]")
	})
}

func TestTextsOfQueuesAreMadePlain(t *testing.T) {
	defer exporter.AddQueue("m\xffil", "/\uFFFD", waiting(0))()
	check.Equal(t, "queues", texts(exporter.Queues(t.Context())), "m_il on /_: 0, error <nil>; ")
	check.Panics(t, `exporter: name of a queue must not be empty, got ""`, func() { exporter.AddQueue("", "", waiting(0)) })
	check.Panics(t, "exporter: function for counts must not be nil, got nil", func() { exporter.AddQueue("a", "", nil) })
	check.Panics(t, "exporter: context must not be nil, got nil", func() { exporter.Queues(nil) }) //nolint:staticcheck // on purpose
}

func ExampleQueues() {
	remove := exporter.AddQueue("mail", "nats://queues.example.com", func(context.Context) (exporter.QueueCounts, error) {
		return exporter.QueueCounts{Waiting: 12, Leased: 3}, nil
	})
	for _, q := range exporter.Queues(context.Background()) {
		fmt.Println(q.Name, q.Counts.Waiting, q.Counts.Leased, q.Err)
	}
	remove()
	fmt.Println(len(exporter.Queues(context.Background())))
	// Output:
	// mail 12 3 <nil>
	// 0
}

func ExampleAddQueue() {
	jobs := make(chan string, 10)
	remove := exporter.AddQueue("jobs", "memory", func(context.Context) (exporter.QueueCounts, error) {
		return exporter.QueueCounts{Waiting: len(jobs)}, nil
	})
	defer remove()
	jobs <- "one"
	fmt.Println(exporter.Queues(context.Background())[0].Counts.Waiting)
	// Output: 1
}
