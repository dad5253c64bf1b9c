// Command httpserver reverses the text that clients post to /reverse. It shows what a limit does for a server
// that gets more requests than it can serve. README.md says what to try.
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

func main() {
	address := flag.String("address", "localhost:8080", "listen on this `host:port`")
	limit := flag.Int("limit", backendPlaces, "requests that run at once")
	queue := flag.Int("queue", 5*backendPlaces, "requests that wait at once")
	wait := flag.Duration("wait", time.Second, "longest wait")
	service := flag.Duration("service", 100*time.Millisecond, "what the backend takes for a request")
	plain := flag.Bool("plain", false, "no limit, for comparison")
	patience := flag.Duration("patience", 30*time.Second, "how long a shutdown waits for requests")
	flag.Parse()

	handler := newHandler(newBackend(*service).work)
	if !*plain {
		handler = limited(handler, *limit, *queue, *wait)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once

	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("listening on http://%s with %d cores; limit: %t", listener.Addr(), runtime.GOMAXPROCS(0), !*plain)
	if err := serve(ctx, listener, handler, *patience); err != nil {
		log.Fatal(err)
	}
	log.Print("all requests are served")
}

// serve serves requests until ctx is done. Then it accepts no new connections, and waits until all accepted
// requests are answered, waiting requests included, but no longer than patience.
func serve(ctx context.Context, listener net.Listener, handler http.Handler, patience time.Duration) error {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second, // a slow body occupies a slot meanwhile
	}
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
		err = errors.Join(err, server.Close()) // cut off what has taken too long
	}
	if ended := <-failed; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}
