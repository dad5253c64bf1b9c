package weirnats_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
)

func TestStatsFollowMessagesThroughTheQueue(t *testing.T) {
	inBubble(t, 2, func(b *bench) {
		check := func(want weirnats.Stats, age time.Duration) {
			b.Helper()
			got := b.stats()
			equal(b, "age", got.Age, age)
			equal(b, "the queue has an oldest message", got.Oldest.IsZero(), want.Messages == 0)
			got.Oldest, got.Age = time.Time{}, 0
			equal(b, "counts", got, want)
		}
		check(weirnats.Stats{}, 0)
		b.put("a", "b", "bad", "c")
		pass(time.Minute)
		check(weirnats.Stats{Messages: 4, Waiting: 4, Accepted: 4}, time.Minute)
		stop := b.serve(func(ctx context.Context, value string) error {
			if value == "bad" {
				return weir.Permanent(fmt.Errorf("bad"))
			}
			if value == "c" && weirnats.Attempt(ctx).Number == 1 {
				return fmt.Errorf("not yet")
			}
			time.Sleep(10 * time.Second)
			return nil
		})
		pass(time.Second)
		check(weirnats.Stats{Messages: 4, Waiting: 2, Leased: 2, Accepted: 4}, 61*time.Second)
		pass(9*time.Second + time.Millisecond) // bad is dead, c waits for its next try
		check(weirnats.Stats{Messages: 1, Leased: 1, Dead: 1, Accepted: 4}, 70*time.Second+time.Millisecond)
		pass(2 * time.Second)
		check(weirnats.Stats{Messages: 1, Leased: 1, Redelivered: 1, Dead: 1, Accepted: 4}, 72*time.Second+time.Millisecond)
		pass(time.Minute)
		check(weirnats.Stats{Dead: 1, Accepted: 4}, 0)
		noError(b, stop())
		noError(b, b.Replay(b.Context(), b.dead()[0].ID))
		check(weirnats.Stats{Messages: 1, Waiting: 1, Accepted: 5}, 0)
	})
}

func ExampleQueue_Stats() {
	dir, remove := folder()
	defer remove()
	ctx := context.Background()
	queue, err := weirnats.Open[string](ctx, "words", weirnats.Dir(dir))
	check(err)
	defer queue.Close()
	check(queue.Put(ctx, "one"))
	check(queue.Put(ctx, "two"))
	stats, err := queue.Stats(ctx)
	check(err)
	fmt.Println("messages:", stats.Messages, "waiting:", stats.Waiting, "accepted so far:", stats.Accepted)
	fmt.Println("the oldest has waited for less than a minute:", stats.Age < time.Minute)
	// Output:
	// messages: 2 waiting: 2 accepted so far: 2
	// the oldest has waited for less than a minute: true
}
