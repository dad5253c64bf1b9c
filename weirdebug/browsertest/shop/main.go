// Command shop is the program that the tests look at. It prints the address of its pages, and that of the
// pages with forms, and runs until its input ends.
//
// One of its tasks is stuck: it waits for a mutex, in the innermost of three groups.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirdebug"
)

func main() {
	serve(weirdebug.Handler())
	serve(weirdebug.Handler(weirdebug.Control()))
	openShop()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func serve(h http.Handler) {
	mux := http.NewServeMux()
	mux.Handle("/debug/weir/", h)
	fmt.Println(httptest.NewServer(mux).URL + "/debug/weir/")
}

type shop struct {
	orders, stock, mail, imports, thumbnails *weir.Pool

	locked sync.Mutex
	never  chan struct{}
}

// The pages show source lines of the program. To keep these short, the lines below pretend to be of another file.

//line /src/shop/main.go:20
func openShop() {
	s := &shop{
		orders:     weir.New(4, weir.Name("orders")),
		stock:      weir.New(2, weir.Name("stock")),
		mail:       weir.New(2, weir.Name("mail")),
		imports:    weir.New(1, weir.Name("imports")),
		thumbnails: weir.New(8),
		never:      make(chan struct{}),
	}
	s.locked.Lock() // forever
	go s.checkout()
	for range 5 {
		submit(s.mail, s.sendMail)
	}
	s.imports.Pause()
	submit(s.imports, func() {})
	go s.makeThumbnails()
}

// checkout is the outermost group, on a pool.
func (s *shop) checkout() {
	g := s.orders.Group(weir.Label(context.Background(), "checkout"))
	g.Go(s.reserve)
	g.Go(s.pay)
	_ = g.Wait()
}

// reserve has a group with workers of its own.
func (s *shop) reserve(ctx context.Context) error {
	g := weir.NewGroup(weir.Label(ctx, "reserve items"), 3)
	g.Go(s.item)
	g.Go(s.pay)
	return g.Wait()
}

// item has a group on another pool.
func (s *shop) item(ctx context.Context) error {
	g := s.stock.Group(weir.Label(ctx, "update stock"))
	g.Go(s.updateStock)
	return g.Wait()
}

// updateStock is stuck.
func (s *shop) updateStock(context.Context) error {
	s.locked.Lock()
	defer s.locked.Unlock()
	return nil
}

func (s *shop) pay(context.Context) error {
	<-s.never
	return nil
}

func (s *shop) sendMail() { <-s.never }

func (s *shop) makeThumbnails() {
	for i := 0; ; i++ {
		time.Sleep(time.Duration(5+i/100%7) * time.Millisecond)
		submit(s.thumbnails, func() { time.Sleep(time.Millisecond << (i % 5)) })
	}
}

func submit(p *weir.Pool, task func()) {
	if err := p.Submit(task); err != nil {
		panic(err)
	}
}
