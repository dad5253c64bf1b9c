package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirdebug"
)

func TestMain(m *testing.M) { check.Main(m, nil, nil) }

const password = "open sesame"

// program is the shop, under its load, on a loopback port.
type program struct {
	*shop
	address string
	client  *http.Client
	stop    func()     // as a signal does
	ended   chan error // what run returns
}

func start(t *testing.T, giftAfter, patience time.Duration) *program {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	transport := new(http.Transport)
	p := &program{newShop(), listener.Addr().String(), &http.Client{Transport: transport}, stop, make(chan error, 1)}
	p.thumbnails.Resize(60) // the shutdown need not wait for one after the other
	go func() {
		p.ended <- run(ctx, listener, p.shop, newLoad(p.shop, "http://"+p.address+"/orders", giftAfter), password, patience)
	}()
	t.Cleanup(func() {
		stop()
		transport.CloseIdleConnections()
	})
	return p
}

// ask returns the status and the text of an answer.
func (p *program) ask(t *testing.T, method, path, body, password string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+p.address+path, strings.NewReader(body))
	check.OK(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if password != "" {
		r.SetBasicAuth("operator", password)
	}
	response, err := p.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	check.OK(t, err)
	return response.StatusCode, string(text)
}

// snapshot returns the answer of /debug/weir/ to a query.
func (p *program) snapshot(t *testing.T, query string) (s weirdebug.Snapshot) {
	t.Helper()
	status, text := p.ask(t, http.MethodGet, "/debug/weir/?format=json"+query, "", "")
	check.Equal(t, "status", status, http.StatusOK)
	check.OK(t, json.Unmarshal([]byte(text), &s))
	return s
}

// works waits until each pool has finished tasks.
func (p *program) works(t *testing.T) {
	t.Helper()
	check.Until(t, "all pools have finished tasks", func() bool {
		time.Sleep(time.Millisecond) // the load needs the processors
		return p.orders.Stats().Finished > 0 && p.mail.Stats().Finished > 0 && p.thumbnails.Stats().Finished > 0
	})
}

func TestTheServerServesAllItsPages(t *testing.T) {
	p := start(t, 0, time.Minute)
	p.works(t)
	for path, want := range map[string][]string{
		"/":                   {`href="/debug/weir/"`, `href="/debug/weir/?groups"`, `href="/metrics"`, `href="/debug/vars"`},
		"/debug/weir/":        {">orders<", ">mail<", ">thumbnails<"},
		"/debug/weir/?groups": {"<h1><bdi>Groups</bdi></h1>"},
		"/debug/vars":         {`"weir": [`, `"name":"orders"`},
		"/metrics":            {`weir_pool_finished_total{pool="mail"}`, `weir_http_limiter_limit{limiter="api"} 4`, `weir_http_transport_run_seconds_count{transport="customers"}`, `weir_keeper_capacity{keeper="stock"} 3`},
	} {
		status, text := p.ask(t, http.MethodGet, path, "", "")
		check.Equal(t, path, status, http.StatusOK)
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s has no %s", path, part)
			}
		}
	}
	status, text := p.ask(t, http.MethodPost, "/orders", "engrave=For+Bob", "")
	check.Equal(t, "status of an order", status, http.StatusOK)
	check.Equal(t, "an order is on its way", regexp.MustCompile(`^order \d+ is on its way\n$`).MatchString(text), true)
	p.stop()
	check.OK(t, <-p.ended)
}

func TestAPoolIsChangedWithThePasswordOnly(t *testing.T) {
	p := start(t, 0, time.Minute)
	p.works(t)
	path := fmt.Sprint("/debug/weir/?format=json&pool=", p.snapshot(t, "&find=mail").Pools[0].ID)
	for _, given := range []string{"", "guessed"} {
		status, _ := p.ask(t, http.MethodPost, path, "do=resize&limit=3", given)
		check.Equal(t, "status", status, http.StatusUnauthorized)
		check.Equal(t, "limit", p.mail.Stats().Limit, 2)
	}
	status, _ := p.ask(t, http.MethodPost, path, "do=resize&limit=3", password)
	check.Equal(t, "status", status, http.StatusOK)
	check.Equal(t, "limit", p.mail.Stats().Limit, 3)
	p.stop()
	check.OK(t, <-p.ended)
}

func TestTheDrillLeadsToTheStuckTask(t *testing.T) {
	p := start(t, time.Nanosecond, 100*time.Millisecond)
	var stuck []weirdebug.Task // that wait for nothing the library knows
	check.Until(t, "a task has run for long", func() bool {
		time.Sleep(10 * time.Millisecond)
		stuck = nil
		for _, task := range p.snapshot(t, "").Longest {
			if task.Waits == "" && time.Since(task.Since) > time.Second {
				stuck = append(stuck, task)
			}
		}
		return len(stuck) > 0
	})
	check.Equal(t, "stuck tasks", len(stuck), 1)
	task := stuck[0]
	check.Equal(t, task.Label+" is a pen", strings.HasSuffix(task.Label, ", parcel 1, pen"), true)

	s := p.snapshot(t, "&pool="+fmt.Sprint(task.Pool)+"&worker="+fmt.Sprint(task.Worker))
	stack := s.Pools[0].Running[0].Stack
	for _, function := range []string{"sync.(*Mutex).Lock", ".(*shop).engraveGift"} {
		if !check.Race { // with it each task has a goroutine besides its worker
			check.Equal(t, function+" is in the stack:\n"+stack, strings.Contains(stack, function), true)
		}
	}

	parents := make(map[uint64]uint64)
	for _, g := range p.snapshot(t, "&groups").Groups {
		parents[g.ID] = g.Parent
	}
	depth := 0
	for g := task.Group; g != 0; g = parents[g] {
		depth++
	}
	check.Equal(t, "depth", depth, 3)

	p.stop()
	err := <-p.ended
	check.Error(t, err, context.DeadlineExceeded)
	check.Equal(t, err.Error()+" tells the stuck task", strings.Contains(err.Error(), "\n"+task.Label+" has run since "), true)
	p.engraver.Unlock()
	p.orders.Close()
}

func TestAShutdownEndsAllWorkAndLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	p := start(t, 0, time.Minute)
	p.works(t)
	p.stop()
	check.OK(t, <-p.ended)
	for _, s := range []struct {
		name           string
		accepted, done uint64
	}{
		{"orders", p.orders.Stats().Accepted, p.orders.Stats().Finished},
		{"mail", p.mail.Stats().Accepted, p.mail.Stats().Finished},
		{"thumbnails", p.thumbnails.Stats().Accepted, p.thumbnails.Stats().Finished},
	} {
		check.Equal(t, s.name+": finished", s.done, s.accepted)
	}
	check.Equal(t, "open connections of the stock", p.stock.Stats().Opened-p.stock.Stats().Closed, 0)
	check.Until(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
}

// Each line of Go in README.md is one of handler.go.
func TestTheReadmeShowsLinesOfTheProgram(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	check.OK(t, err)
	program, err := os.ReadFile("handler.go")
	check.OK(t, err)
	block := regexp.MustCompile("(?s)```go\n(.*?)```").FindSubmatch(readme)
	if block == nil {
		t.Fatal("README.md shows no Go")
	}
	for line := range strings.Lines(string(block[1])) {
		if line = strings.TrimSpace(line); !strings.Contains(string(program), line) {
			t.Errorf("handler.go has no %s", line)
		}
	}
}
