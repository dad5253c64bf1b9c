package overload

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/lab/internal/memory"
	"github.com/64ed045f/weir/lab/internal/record"
)

// longestShutdown is more than any server needs for the requests it has accepted.
const longestShutdown = time.Minute

// serve is the main function of the server. It serves until the measured span is over, and then shuts down while requests still come.
func serve(o order, r *record.Result) error {
	c, err := find(o.Contender)
	if err != nil {
		return err
	}
	var running, entered check.Gauge
	var served work
	handler := c.wrap(around(&running, backend(o.Setup, &served)), o.Setup)
	server := &http.Server{Handler: around(&entered, handler), ReadHeaderTimeout: longestShutdown}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	if err := o.tell(address, listener.Addr().String()); err != nil {
		return err
	}
	text, err := o.told(start)
	if err != nil {
		return err
	}
	if o.start, err = time.Parse(time.RFC3339Nano, text); err != nil {
		return err
	}
	watched := o.watch(r)
	time.Sleep(time.Until(o.over()))
	ctx, cancel := context.WithTimeout(context.Background(), longestShutdown)
	defer cancel()
	begin := time.Now()
	if err := server.Shutdown(ctx); err != nil {
		return fmt.Errorf("shutdown: %w", err)
	}
	r.Add("shutdown-ns", float64(time.Since(begin)))
	watched()
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	most := running.Peak.Load()
	if c.limits && most > int64(o.Slots) {
		return fmt.Errorf("%d requests ran at once under a limit of %d", most, o.Slots)
	}
	r.Add("entered", float64(entered.Entered.Load()))
	r.Add("peak-running", float64(most))
	r.Add("service-ns", float64(served.mean()))
	r.Add("peak-B", float64(memory.Peak()))
	return nil
}

// watch samples the server until watched is called, which adds what watch has seen.
func (o order) watch(r *record.Result) (watched func()) {
	var held record.Curve
	var halves [2]uint64 // the most memory in each half of the measured span
	next := o.start
	most := memory.Watch(10*time.Millisecond, func() int {
		if now := time.Now(); !now.Before(next) && now.Before(o.over()) {
			at, bytes := now.Sub(o.start), memory.Now()
			held = append(held, [2]float64{at.Seconds(), float64(bytes)})
			half := &halves[2*at/o.Length]
			*half = max(*half, bytes)
			next = next.Add(o.Interval())
		}
		return runtime.NumGoroutine()
	})
	return func() {
		r.Add("peak-goroutines", float64(most()))
		r.Notes = append(r.Notes, record.Setting{Key: "memory-curve", Value: held.String()})
		if halves[0] > 0 {
			r.Add("growth", float64(halves[1])/float64(halves[0]))
		}
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
