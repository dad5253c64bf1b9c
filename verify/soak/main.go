// Command soak uses the whole library at once, on the real scheduler, for as long as -for says,
// and checks the books: whether every task ran once, no limit was exceeded, the order was kept,
// every wait really waited, and nothing was left behind.
//
//	go run ./verify/soak -for 10m           every load under every setting but race
//	go run ./verify/soak -list              what there is
//	go run ./verify/soak -for 1m -loads submit,programs -settings plain,gogc1
//
// Its exit status is 1 if a promise was broken; the stacks of all goroutines are printed then. With -race it also
// runs under the race detector.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/64ed045f/weir/verify/soak/internal/tool"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := tool.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
