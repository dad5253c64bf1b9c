package weir_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/64ed045f/weir"
)

func ExampleNewStateful() {
	// Each worker has a buffer of its own, which it uses again and again.
	shout := weir.NewStateful(4,
		func() (*strings.Builder, error) { return new(strings.Builder), nil },
		func(b *strings.Builder, word *string) {
			b.Reset()
			b.WriteString(strings.ToUpper(*word))
			b.WriteByte('!')
			*word = b.String()
		},
		nil) // there is nothing to close
	defer shout.Close()

	word := "hello"
	err := shout.Call(context.Background(), &word)
	fmt.Println(word, err)
	// Output: HELLO! <nil>
}

// counter is a value that a worker could own.
type counter struct{ n int }

func newCounter() (*counter, error) { return new(counter), nil }

func (c *counter) count(word string) {
	c.n += len(word)
	fmt.Println(word, c.n)
}

func (c *counter) close() { fmt.Println("closed at", c.n) }

func ExampleStateful_Invoke() {
	counters := weir.NewStateful(1, newCounter, (*counter).count, (*counter).close)
	for _, word := range []string{"a", "bee", "sees"} {
		if err := counters.Invoke(word); err != nil {
			fmt.Println(err) // the pool is closed
		}
	}
	counters.Close()
	// Output:
	// a 1
	// bee 4
	// sees 8
	// closed at 8
}

func ExampleStateful_InvokeContext() {
	counters := weir.NewStateful(1, newCounter, (*counter).count, nil)
	defer counters.Close()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // for room in the queue
	defer cancel()
	fmt.Println(counters.InvokeContext(ctx, "bee"))
	counters.Wait()
	// Unordered output:
	// <nil>
	// bee 3
}

func ExampleStateful_TryInvoke() {
	busy := make(chan struct{})
	waiters := weir.NewStateful(1, newCounter, func(*counter, int) { <-busy }, nil, weir.Queue(0))
	fmt.Println(waiters.TryInvoke(1))
	fmt.Println(waiters.TryInvoke(2))
	close(busy)
	waiters.Close()
	// Output:
	// <nil>
	// weir: pool is full
}

func ExampleStateful_Call() {
	open := func() (*counter, error) { return nil, errors.New("no counters left") }
	counters := weir.NewStateful(1, open, (*counter).count, nil)
	defer counters.Close()

	err := counters.Call(context.Background(), "bee")
	_, unopened := errors.AsType[*weir.OpenError](err)
	fmt.Println(unopened, err)
	// Output: true weir: worker could not open its value: no counters left
}

func ExampleStateful_Shutdown() {
	begun, busy := make(chan struct{}), make(chan struct{})
	waiters := weir.NewStateful(1, newCounter, func(_ *counter, number int) {
		close(begun)
		<-busy
		fmt.Println("used", number)
	}, nil)
	for number := range 3 {
		if err := waiters.Invoke(number); err != nil {
			fmt.Println(err)
		}
	}
	<-begun

	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	fmt.Println(waiters.Shutdown(ctx))
	close(busy)
	waiters.Close()
	// Output:
	// [1 2] weir: pool shut down while 1 task runs: context deadline exceeded
	// used 0
}

func ExampleStateful_Resize() {
	counters := weir.NewStateful(1, newCounter, (*counter).count, nil)
	defer counters.Close()

	counters.Resize(4)
	fmt.Println(counters.Stats().Limit)
	// Output: 4
}

func ExampleOnOpenError() {
	open := func() (*counter, error) { return nil, errors.New("no counters left") }
	counters := weir.NewStateful(1, open, (*counter).count, nil,
		weir.OnOpenError(func(err *weir.OpenError) { fmt.Println(err.Arg, "is not counted:", err.Err) }))
	if err := counters.Invoke("bee"); err != nil {
		fmt.Println(err)
	}
	counters.Close()
	// Output: bee is not counted: no counters left
}
