package weir_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"log/slog"
	"path/filepath"
	"regexp"
	"runtime/trace"
	"strings"
	"time"

	"github.com/64ed045f/weir"
)

func ExamplePools() {
	pool := weir.New(4, weir.Name("mail"))
	defer pool.Close()
	_ = pool.Submit(func() {})
	pool.Wait()

	for p := range weir.Pools() {
		if p.Name == "mail" {
			_, file := filepath.Split(p.Made)
			fmt.Println(p.Kind, strings.Contains(file, "example_inside_test.go:"), p.Stats().Finished)
		}
	}
	// Output: Pool true 1
}

func ExampleGroups() {
	weir.Watch() // when the program begins, so that it is known where groups began
	began, release := make(chan struct{}), make(chan struct{})
	g := weir.NewGroup(weir.Label(context.Background(), "order 7"), 4)
	g.Go(func(context.Context) error {
		close(began)
		<-release
		return nil
	})
	<-began

	for _, group := range weir.Groups(0) {
		if group.Label == "order 7" {
			fmt.Println(group.Tasks, "task,", len(group.Running), "runs")
		}
	}
	close(release)
	_ = g.Wait()
	// Output: 1 task, 1 runs
}

func ExampleLints() {
	pool := weir.New(1, weir.Name("images"))
	pool.Pause()
	_ = pool.Submit(func() {})

	for p, lints := range weir.Lints(time.Second) {
		for _, lint := range lints {
			fmt.Printf("%s: %s: %s\n", p.Name, lint.Rule, lint.Text)
		}
	}
	pool.Resume()
	pool.Close()
	// Output: images: stuck: 1 task waits to start, and the pool is paused
}

func ExampleLines() {
	pool := weir.New(1)
	_ = pool.Running(0) // so that the tasks that come can be told apart
	release := make(chan struct{})
	began := make(chan struct{})
	_ = pool.Submit(func() {
		close(began)
		<-release
	})
	<-began

	tasks := pool.Running(0)
	for i, line := range weir.Lines(tasks) {
		fmt.Println("worker", tasks[i].Worker, "is somewhere:", strings.Contains(line, "ExampleLines.func") || line == "")
	}
	close(release)
	pool.Close()
	// Output: worker 1 is somewhere: true
}

func ExampleOnFull() {
	full := weir.OnFull(func(s weir.Stats) { fmt.Println(s.Running, "run,", s.Queued, "wait") })
	pool := weir.New(1, weir.Queue(1), full)

	release := make(chan struct{})
	_ = pool.Submit(func() { <-release })
	_ = pool.Submit(func() {})
	fmt.Println(pool.TrySubmit(func() {}))
	close(release)
	pool.Close()
	// Output:
	// 1 run, 1 wait
	// weir: pool is full
}

// A recorder keeps the last seconds of the program's execution trace in memory. When a task is slow it is too late to begin one.
func ExampleOnSlow_flightRecorder() {
	recorder := trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: 10 * time.Second})
	if err := recorder.Start(); err != nil {
		fmt.Println(err)
		return
	}
	defer recorder.Stop()

	written := make(chan bool, 1)
	snapshot := func(weir.Running) {
		var file bytes.Buffer // for go tool trace
		_, err := recorder.WriteTo(&file)
		select {
		case written <- err == nil && file.Len() > 0:
		default: // one is enough
		}
	}
	pool := weir.New(4, weir.OnSlow(20*time.Millisecond, snapshot))
	release := make(chan struct{})
	_ = pool.Submit(func() { <-release })
	fmt.Println(<-written)
	close(release)
	pool.Close()
	// Output: true
}

func ExampleLogSlow() {
	logged := make(chan string, 1)
	before, out := slog.Default(), log.Writer()
	defer func() {
		slog.SetDefault(before)
		log.SetOutput(out)
	}()
	slog.SetDefault(slog.New(slog.NewTextHandler(lines(logged), nil)))

	pool := weir.New(4, weir.Name("mail"), weir.LogSlow(20*time.Millisecond))
	release := make(chan struct{})
	_ = pool.Submit(func() { <-release })
	fmt.Println(regexp.MustCompile(`level=.*slow"`).FindString(<-logged))
	close(release)
	pool.Close()
	// Output: level=WARN msg="weir: task is slow"
}

// lines is a writer that keeps what it can.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	select {
	case l <- string(p):
	default:
	}
	return len(p), nil
}
