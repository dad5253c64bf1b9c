package weirnats_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
)

// check stands for what a program does about an error.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// folder returns one for an example, and what removes it.
func folder() (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "weirnats")
	check(err)
	return dir, func() { _ = os.RemoveAll(dir) }
}

type Mail struct{ To string }

func Example() {
	dir, remove := folder()
	defer remove()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	queue, err := weirnats.Open[Mail](ctx, "mail", weirnats.Dir(dir))
	check(err)
	defer queue.Close()
	for _, to := range []string{"ann@example.org", "bob@example.org", "ann@example.org"} {
		check(queue.Put(ctx, Mail{To: to}, weirnats.ID("welcome "+to)))
	}

	pool := weir.New(1)
	defer pool.Close()
	var sent sync.WaitGroup
	sent.Add(2)
	go func() {
		sent.Wait()
		cancel()
	}()
	err = queue.Serve(ctx, pool, func(_ context.Context, m Mail) error {
		fmt.Println("to", m.To)
		sent.Done()
		return nil
	})
	fmt.Println(err)
	// Output:
	// to ann@example.org
	// to bob@example.org
	// <nil>
}

// A message that fails is tried again; one that has failed for good is a dead letter, and can be replayed.
func ExampleQueue_Dead() {
	dir, remove := folder()
	defer remove()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	queue, err := weirnats.Open[string](ctx, "words", weirnats.Dir(dir), weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 2, Wait: time.Millisecond})))
	check(err)
	defer queue.Close()
	check(queue.Put(ctx, "word"))
	pool := weir.New(1, weir.OnError(func(err error) {
		fmt.Println(err)
		if failed, ok := errors.AsType[*weirnats.TryError](err); ok && failed.Dead {
			cancel()
		}
	}))
	defer pool.Close()
	err = queue.Serve(ctx, pool, func(ctx context.Context, word string) error {
		return fmt.Errorf("bad %s, try %d", word, weirnats.Attempt(ctx).Number)
	})
	check(err)
	ctx = context.Background()
	for letter, err := range queue.Dead(ctx) {
		check(err)
		fmt.Printf("dead: %s after %d tries, the last error is %q\n", letter.Data, letter.Tries, letter.Errors[1].Err)
		check(queue.Replay(ctx, letter.ID))
	}
	stats, err := queue.Stats(ctx)
	fmt.Println("waiting:", stats.Waiting, "dead:", stats.Dead, err)
	// Output:
	// weirnats: try 1 of a message of queue words: bad word, try 1
	// weirnats: try 2, the last of a message of queue words: bad word, try 2
	// dead: "word" after 2 tries, the last error is "bad word, try 2"
	// waiting: 1 dead: 0 <nil>
}

func ExampleQueue_TryPut() {
	dir, remove := folder()
	defer remove()
	ctx := context.Background()
	queue, err := weirnats.Open[int](ctx, "numbers", weirnats.Dir(dir), weirnats.MaxMessages(1))
	check(err)
	defer queue.Close()
	fmt.Println(queue.TryPut(ctx, 1))
	fmt.Println(queue.TryPut(ctx, 2))
	// Output:
	// <nil>
	// weirnats: queue is full
}

// Other programs of the machine cannot open the folder meanwhile, and all programs that use a queue must agree on its settings.
func ExampleOpen() {
	dir, remove := folder()
	defer remove()
	ctx := context.Background()
	queue, err := weirnats.Open[int](ctx, "numbers", weirnats.Dir(dir), weirnats.Lease(time.Minute))
	check(err)
	defer queue.Close()
	_, err = weirnats.Open[int](ctx, "numbers", weirnats.Dir(dir))
	fmt.Println(err)
	// Output:
	// weirnats: queue numbers exists with another setting: Lease is 1m0s there, not 30s
}

func ExampleQueue_PutAll() {
	dir, remove := folder()
	defer remove()
	ctx := context.Background()
	queue, err := weirnats.Open[string](ctx, "words", weirnats.Dir(dir))
	check(err)
	defer queue.Close()
	words := []string{"to", "be", "or", "not", "to", "be"}
	n, err := queue.PutAll(ctx, words, func(i int) string { return words[i] })
	fmt.Println(n, err)
	stats, err := queue.Stats(ctx)
	fmt.Println(stats.Messages, err)
	// Output:
	// 6 <nil>
	// 4 <nil>
}

// Some tries fail; which one it is, and what failed before, is in the context.
func ExampleAttempt() {
	dir, remove := folder()
	defer remove()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	queue, err := weirnats.Open[string](ctx, "words", weirnats.Dir(dir), weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 3, Wait: time.Millisecond})))
	check(err)
	defer queue.Close()
	check(queue.Put(ctx, "word", weirnats.ID("key")))
	pool := weir.New(1, weir.OnError(func(error) {}))
	defer pool.Close()
	check(queue.Serve(ctx, pool, func(ctx context.Context, _ string) error {
		try := weirnats.Attempt(ctx)
		if try.Number == 1 {
			return errors.New("no luck")
		}
		fmt.Printf("try %d of %q, before: %s\n", try.Number, try.ID, try.Earlier[0].Err)
		cancel()
		return nil
	}))
	// Output:
	// try 2 of "key", before: no luck
}

// An operator looks at the dead letters, and removes some.
func ExampleQueue_Purge() {
	dir, remove := folder()
	defer remove()
	ctx := context.Background()
	queue, err := weirnats.Open[string](ctx, "words", weirnats.Dir(dir))
	check(err)
	defer queue.Close()
	fmt.Println(queue.Purge(ctx, "1", "2"))
	fmt.Println(queue.Replay(ctx, "1"))
	// Output:
	// 0 <nil>
	// weirnats: no such dead letter
}

// A program whose queues other processes use too.
func ExampleListen() {
	dir, remove := folder()
	defer remove()
	users := filepath.Join(dir, "users")
	check(os.WriteFile(users, []byte("worker:correct horse battery staple\n"), 0o600))
	ctx := context.Background()
	queue, err := weirnats.Open[string](ctx, "words", weirnats.Dir(dir), weirnats.Listen("127.0.0.1:0", weirnats.Credentials(users)))
	check(err)
	defer queue.Close()

	// In another process:
	url := "nats://" + queue.Addr().String()
	worker, err := weirnats.Open[string](ctx, "words", weirnats.Server(url, nats.UserInfo("worker", "correct horse battery staple")))
	check(err)
	defer worker.Close()
	check(worker.Put(ctx, "hello"))

	stats, err := queue.Stats(ctx)
	fmt.Println("waiting:", stats.Waiting, err)
	_, err = weirnats.Open[string](ctx, "words", weirnats.Server(url))
	fmt.Println(err)
	// Output:
	// waiting: 1 <nil>
	// weirnats: queue words: connect: nats: Authorization Violation
}

// The changes of each account are applied in order, those of different accounts at the same time.
func ExampleKey() {
	dir, remove := folder()
	defer remove()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	type change struct {
		Account string
		By      int
	}
	queue, err := weirnats.Open[change](ctx, "changes", weirnats.Dir(dir), weirnats.Partitions(8))
	check(err)
	defer queue.Close()
	for _, c := range []change{{"ann", 100}, {"bob", 5}, {"ann", -30}, {"ann", 1}} {
		check(queue.Put(ctx, c, weirnats.Key(c.Account)))
	}

	pool := weir.New(4)
	defer pool.Close()
	var lock sync.Mutex
	history := map[string][]int{}
	var applied sync.WaitGroup
	applied.Add(4)
	go func() {
		applied.Wait()
		cancel()
	}()
	err = queue.Serve(ctx, pool, func(_ context.Context, c change) error {
		lock.Lock()
		history[c.Account] = append(history[c.Account], c.By)
		lock.Unlock()
		applied.Done()
		return nil
	})
	fmt.Println(history, err)
	// Output: map[ann:[100 -30 1] bob:[5]] <nil>
}

func ExamplePartitions() {
	dir, remove := folder()
	defer remove()
	ctx := context.Background()
	queue, err := weirnats.Open[Mail](ctx, "mail", weirnats.Dir(dir), weirnats.Partitions(8))
	check(err)
	defer queue.Close()
	_, err = weirnats.Open[Mail](ctx, "mail", weirnats.Dir(dir), weirnats.Partitions(16))
	fmt.Println(err)
	// Output: weirnats: queue mail exists with another setting: Partitions is 8 there, not 16
}
