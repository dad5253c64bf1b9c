// Command observed is a web shop under load, with everything that Weir has to look inside a program.
// README.md says what to open.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

//go:generate go run ./internal/dashboard
func main() {
	address := flag.String("address", "localhost:8080", "listen on this `host:port`")
	stuck := flag.Bool("stuck", false, "a task gets stuck after 5 seconds: find it")
	patience := flag.Duration("patience", 5*time.Second, "how long a shutdown waits for requests, and then for tasks")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	password, url := rand.Text(), "http://"+listener.Addr().String()
	fmt.Printf(`open %[1]s/
  %[1]s/debug/weir/  pools, tasks and groups; any user with the password %[2]s may change pools
  %[1]s/metrics      for Prometheus
  %[1]s/debug/vars   for whatever reads package expvar
`, url, password)

	s := newShop()
	l := newLoad(s, url+"/orders", 0)
	if *stuck {
		l.giftAfter = 5 * time.Second
	}
	if err := run(ctx, listener, s, l, password, *patience); err != nil {
		log.Fatal(err)
	}
	log.Print("all orders are packed, and all letters are sent")
}

// run serves the shop, under the load, until ctx is done. Then it stops the load, waits for the accepted
// requests, and then for the tasks that the pools have accepted, each time no longer than patience.
func run(ctx context.Context, listener net.Listener, s *shop, l *load, password string, patience time.Duration) error {
	ctx, stop := context.WithCancel(ctx)
	var customers sync.WaitGroup
	customers.Go(func() { l.run(ctx) })
	err := serve(ctx, listener, newHandler(s, l, password), patience)
	stop()
	customers.Wait()

	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if unfinished := s.close(end); unfinished != nil {
		err = errors.Join(err, fmt.Errorf("tasks are left behind: %w", unfinished))
	}
	return err
}

// serve serves requests until ctx is done. Then it accepts no new connections, and waits for the accepted requests.
func serve(ctx context.Context, listener net.Listener, handler http.Handler, patience time.Duration) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	err := server.Shutdown(end)
	if err != nil {
		err = fmt.Errorf("requests are cut off: %w", errors.Join(err, server.Close()))
	}
	if ended := <-failed; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}
