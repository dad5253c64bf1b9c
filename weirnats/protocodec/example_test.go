package protocodec_test

import (
	"context"
	"fmt"
	"os"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
	"github.com/64ed045f/weir/weirnats/protocodec"
)

// check stands for what a program does about an error.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

func ExampleNew() {
	dir, err := os.MkdirTemp("", "protocodec")
	check(err)
	defer func() { _ = os.RemoveAll(dir) }()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	queue, err := weirnats.Open[*wrapperspb.StringValue](ctx, "words", weirnats.Dir(dir), weirnats.Codecs(protocodec.New()))
	check(err)
	defer queue.Close()
	check(queue.Put(ctx, wrapperspb.String("hello")))
	pool := weir.New(1)
	defer pool.Close()
	check(queue.Serve(ctx, pool, func(_ context.Context, word *wrapperspb.StringValue) error {
		fmt.Println(word.GetValue())
		cancel()
		return nil
	}))
	// Output: hello
}
