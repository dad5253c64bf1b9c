package overload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/lab/internal/memory"
)

// A Report is what a server reports of itself.
type Report struct {
	Entered     int // requests that were accepted, whatever their outcome
	MostRunning int // most requests in the backend's handler at once, waiting for a slot or served

	// Service is the average time that the backend took for a request. A timer that fires late makes it
	// longer than it should be.
	Service time.Duration

	MostGoroutines int
	PeakMemory     uint64 // bytes
	Samples        []Sample

	Shutdown      time.Duration
	ShutdownError string
}

// A Sample is the state of the server at one moment.
type Sample struct {
	At     time.Duration // since 1970; in the final report, since the load began
	Memory uint64        // resident, bytes
}

func (r *Report) since(begin time.Time) {
	for k := range r.Samples {
		r.Samples[k].At -= time.Duration(begin.UnixNano())
	}
}

// longestShutdown is more than any server needs for the requests it has accepted.
const longestShutdown = time.Minute

// serve is the main function of the server. It prints its address, and serves until stdin ends. Then it shuts
// down while requests still come, and prints its report.
func serve(setup Setup, stdin io.Reader, stdout io.Writer) error {
	c, err := find(setup.Contender)
	if err != nil {
		return err
	}
	var running, entered check.Gauge
	var served work
	handler := c.wrap(around(&running, backend(setup, &served)), setup)
	server := &http.Server{Handler: around(&entered, handler), ReadHeaderTimeout: longestShutdown}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	if _, err := fmt.Fprintln(stdout, listener.Addr()); err != nil {
		return err
	}

	watched := watch(setup.Interval())
	if _, err := io.Copy(io.Discard, stdin); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), longestShutdown)
	defer cancel()
	begin := time.Now()
	shutdown := server.Shutdown(ctx)
	took := time.Since(begin)
	r := watched()
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	r.Shutdown = took
	if shutdown != nil {
		r.ShutdownError = shutdown.Error()
	}
	r.Entered, r.MostRunning = int(entered.Entered.Load()), int(running.Peak.Load())
	r.Service = served.mean()
	r.PeakMemory = memory.Peak()
	return json.NewEncoder(stdout).Encode(r)
}

// watch samples the server until watched is called, which returns what watch has seen.
func watch(every time.Duration) (watched func() Report) {
	var r Report
	next := time.Now()
	most := memory.Watch(10*time.Millisecond, func() int {
		if now := time.Now(); !now.Before(next) {
			r.Samples = append(r.Samples, Sample{At: time.Duration(now.UnixNano()), Memory: memory.Now()})
			next = next.Add(every)
		}
		return runtime.NumGoroutine()
	})
	return func() Report {
		r.MostGoroutines = most()
		return r
	}
}

// around counts the requests that h serves.
func around(g *check.Gauge, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.Enter()
		defer g.Leave()
		h.ServeHTTP(w, r)
	})
}

// backend is the handler of all contenders. Its slots are scarce, like the connections of a database: a
// request that finds no free slot waits.
func backend(setup Setup, done *work) http.Handler {
	slots := make(chan struct{}, setup.Slots)
	answer := []byte("served\n")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
		case <-r.Context().Done():
			return
		}
		begin := time.Now()
		time.Sleep(setup.Service)
		done.add(time.Since(begin))
		<-slots
		_, _ = w.Write(answer) // there is nowhere left to report an error
	})
}

// work counts what the backend has done.
type work struct{ requests, time atomic.Int64 }

func (w *work) add(d time.Duration) {
	w.requests.Add(1)
	w.time.Add(int64(d))
}

func (w *work) mean() time.Duration { return time.Duration(w.time.Load() / max(w.requests.Load(), 1)) }
