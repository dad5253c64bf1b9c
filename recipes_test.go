package weir_test

import (
	"context"
	"encoding/json"
	"errors"
	"expvar"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirdebug"
	"github.com/64ed045f/weir/weirhttp"
)

// These examples hold the code that docs/recipes.md shows.

func Example_recipeOnce() {
	pool := weir.New(4)
	defer pool.Close()
	fetches := 0
	fetch := func(context.Context, string) (int, error) { fetches++; return 120, nil }

	prices := weir.NewOnce[string, int](pool, weir.KeepFor(time.Second)) // a price may be a second old
	handle := func(ctx context.Context, item string) (int, error) {
		return prices.Do(ctx, item, func(ctx context.Context) (int, error) { return fetch(ctx, item) })
	}
	for range 3 {
		price, err := handle(context.Background(), "tea")
		fmt.Println(price, err, fetches)
	}
	prices.Forget("tea")
	// Output:
	// 120 <nil> 1
	// 120 <nil> 1
	// 120 <nil> 1
}

func Example_recipeShutdown() {
	type Mail struct{ to string }
	began, release := make(chan struct{}), make(chan struct{})
	send := func(Mail) { close(began); <-release }
	save := func(m Mail) { fmt.Println("saved for", m.to) }

	mails := weir.NewFunc(1, send)
	_ = mails.Invoke(Mail{"ann"})
	_ = mails.Invoke(Mail{"bob"})
	<-began

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	unsent, err := mails.Shutdown(ctx) // when ctx is done, what has not begun comes back
	for _, mail := range unsent {
		save(mail)
	}

	fmt.Println(err)
	close(release)
	mails.Close()
	// Output:
	// saved for bob
	// weir: pool shut down while 1 task runs: context deadline exceeded
}

func Example_recipeService() {
	ctx, cancel := context.WithCancel(context.Background())
	jobs := make(chan Job, 2)
	jobs <- "quick"
	jobs <- "stuck"
	run := func(ctx context.Context, job Job) error {
		if job == "quick" {
			return nil
		}
		cancel()
		<-ctx.Done()
		return fmt.Errorf("%s: %w", job, ctx.Err())
	}
	serveJobs(ctx, jobs, run, func(job Job) { fmt.Println("not run:", job) }, log.New(os.Stdout, "", 0))
	// Output: stuck: context canceled
}

// Job is what the service of the recipe runs.
type Job string

func serveJobs(ctx context.Context, jobs <-chan Job, run func(ctx context.Context, job Job) error, save func(Job), log *log.Logger) {
	running, stop := context.WithCancel(context.WithoutCancel(ctx)) // jobs have 10 ms more when ctx is done
	defer context.AfterFunc(ctx, func() { time.AfterFunc(10*time.Millisecond, stop) })()
	pool := weir.NewFuncContext(100, run, weir.Queue(0), weir.OnError(func(err error) {
		if dropped, ok := errors.AsType[*weir.DroppedError](err); ok {
			save(dropped.Arg.(Job)) // it got a place when the last 10 ms were over
		} else {
			log.Print(err)
		}
	}))
service:
	for {
		select {
		case <-ctx.Done():
			break service
		case job, ok := <-jobs: // with Queue(0), at most one more is taken than can run
			if !ok {
				break service
			}
			if pool.Go(running, job) != nil {
				save(job) // none has ended in time
			}
		}
	}
	unrun, _ := pool.Shutdown(running) // waits until all have ended, or running is done, and with it their contexts
	for _, job := range unrun {
		save(job)
	}
	pool.Close()
}

// The job that waits for a place when all end at once may get one of theirs, too late to start.
func TestARecipesServiceLosesNoJob(t *testing.T) {
	for range 100 {
		check.Bubble(t, "", func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			jobs := make(chan Job, 101)
			for i := range 101 {
				jobs <- Job(fmt.Sprint(i))
			}
			var run, saved atomic.Int32
			time.AfterFunc(time.Second, cancel)
			serveJobs(ctx, jobs, func(ctx context.Context, _ Job) error {
				run.Add(1)
				<-ctx.Done()
				return nil
			}, func(Job) { saved.Add(1) }, log.New(io.Discard, "", 0))
			check.Equal(t, "jobs that ran or were saved", run.Load()+saved.Load(), 101)
		})
	}
}

func Example_recipeTimeouts() {
	ctx := context.Background()
	fetch := func(ctx context.Context, url string) error { <-ctx.Done(); return context.Cause(ctx) }
	urls := []string{"slow"}

	g := weir.NewGroup(ctx, 8, weir.KeepGoing())
	for _, url := range urls {
		g.Go(func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, 10*time.Millisecond) // of one task, from its start
			defer cancel()
			return fetch(ctx, url)
		})
	}
	err := g.Wait()

	fmt.Println(err)
	// Output: task 0: context deadline exceeded
}

func Example_recipeTimeToStart() {
	pool := weir.New(1, weir.Queue(0))
	release := make(chan struct{})
	_ = pool.Submit(func() { <-release })
	task := func() {}

	err := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond) // to be accepted
		defer cancel()
		return pool.SubmitContext(ctx, task)
	}()

	fmt.Println(err)
	close(release)
	pool.Close()
	// Output: context deadline exceeded
}

func Example_recipeExpiry() {
	ctx := context.Background()
	errBusy := errors.New("busy")
	serve := func(context.Context) error { return nil }
	release := make(chan struct{})

	pool := weir.New(8, weir.ExpireAfter(10*time.Millisecond)) // from when it is accepted to its start
	for range 8 {
		_ = pool.Submit(func() { <-release })
	}
	err := pool.Do(ctx, serve)
	if errors.Is(err, weir.ErrExpired) {
		err = errBusy
	}

	fmt.Println(err)
	close(release)
	pool.Close()
	// Output: busy
}

func Example_recipePerHost() {
	ctx := context.Background()
	pool := weir.New(16)
	defer pool.Close()
	byHost := map[string][]string{"a.example": {"/1", "/2", "/3"}, "b.example": {"/4"}}
	var fetched atomic.Int32
	fetch := func(context.Context, string, string) error { fetched.Add(1); return nil }

	hosts := weir.NewGroup(ctx, max(1, len(byHost))) // its tasks only wait, and hold no place of the pool
	for host, paths := range byHost {
		hosts.Go(func(ctx context.Context) error {
			g := pool.Group(ctx, weir.Limit(2))
			for _, path := range paths {
				g.Go(func(ctx context.Context) error { return fetch(ctx, host, path) })
			}
			return g.Wait()
		})
	}
	err := hosts.Wait()

	fmt.Println(fetched.Load(), err)
	// Output: 4 <nil>
}

func Example_recipeCrawlerPerHost() {
	type page struct{ host, path string }
	ctx := context.Background()
	pool := weir.New(16)
	defer pool.Close()
	site := map[page][]page{
		{"a", "/"}: {{"a", "/1"}, {"a", "/2"}, {"b", "/"}}, {"b", "/"}: {{"a", "/"}, {"b", "/gone"}}, {"a", "/1"}: nil, {"a", "/2"}: {{"b", "/"}},
	}
	fetch := func(_ context.Context, p page) ([]page, error) {
		links, ok := site[p]
		if !ok {
			return nil, fmt.Errorf("no page %s of %s", p.path, p.host)
		}
		return links, nil
	}
	first := page{"a", "/"}
	var open sync.Map

	hosts := weir.NewKeyed[string](pool, 2)                       // two at once for each host; what a host takes is garbage when it has no pages
	pages := weir.NewGroup(ctx, weir.Unbounded, weir.KeepGoing()) // its tasks only wait, and hold no place of the pool
	var visit func(p page)
	visit = func(p page) {
		if _, known := open.LoadOrStore(p, true); known {
			return
		}
		pages.Go(func(ctx context.Context) error {
			turn := hosts.Group(ctx, p.host)
			turn.Go(func(ctx context.Context) error {
				links, err := fetch(ctx, p)
				if err != nil {
					return err
				}
				for _, link := range links {
					visit(link)
				}
				open.Store(p, false)
				return nil
			})
			return turn.Wait()
		})
	}
	visit(first)
	err := pages.Wait() // what is still open has failed, or was not begun when ctx ended

	for e := range weir.Failures(err) {
		fmt.Println(e.Unwrap())
	}
	open.Range(func(p, left any) bool {
		if left.(bool) {
			fmt.Println("left:", p)
		}
		return true
	})
	// Output:
	// task 0: no page /gone of b
	// left: {b /gone}
}

func Example_recipeSharedServer() {
	mux := http.NewServeMux()
	cleanUp := func() { fmt.Println("cleaned up") }

	pool := weir.New(100)
	handler := weirhttp.Limit(mux, 80, weirhttp.On(pool)) // at most 80 of the 100 places are those of requests
	err := pool.Submit(cleanUp)                           // the others are for work like this, and tasks of handlers

	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", nil))
	pool.Close()
	fmt.Println(answer.Code, err)
	// Output:
	// cleaned up
	// 404 <nil>
}

func Example_recipeLanes() {
	err := func(ctx context.Context, waiting []string, send func(string), answer func(context.Context) error) error {
		pool := weir.New(4)
		api := pool.Lane(4, weir.Priority(1), weir.Queue(100))
		mails := pool.Lane(2, weir.Queue(10_000)) // never more than two at once
		reports := pool.Lane(4, weir.Share(2))

		for _, m := range waiting {
			if err := mails.Submit(func() { send(m) }); err != nil {
				return err
			}
		}
		err := api.Do(ctx, answer)
		reports.Close()
		pool.Close()
		fmt.Println(mails.Stats().Finished, "mails")
		return err
	}(context.Background(), []string{"a", "b", "c"}, func(string) {}, func(context.Context) error { fmt.Println("answered"); return nil })
	fmt.Println(err)
	// Output:
	// answered
	// 3 mails
	// <nil>
}

func Example_recipeTenants() {
	pool, lanes := weir.New(4), map[string]*weir.Pool{}
	submit := func(tenant string, task func()) error {
		lane, ok := lanes[tenant]
		if !ok {
			lane = pool.Lane(8, weir.Queue(1000))
			lanes[tenant] = lane
		}
		return lane.Submit(task)
	}
	for _, tenant := range []string{"many", "many", "many", "one"} {
		if err := submit(tenant, func() {}); err != nil {
			fmt.Println(err)
		}
	}
	pool.Close()
	fmt.Println(lanes["many"].Stats().Finished, lanes["one"].Stats().Finished)
	// Output: 3 1
}

func Example_recipeOrderPerKey() {
	type Event struct {
		Account string
		Number  int
	}
	var last, wrong atomic.Int64
	apply := func(e Event) {
		if e.Account == "ann" && last.Swap(int64(e.Number)) > int64(e.Number) {
			wrong.Add(1)
		}
	}
	var events []Event
	for i := range 1000 {
		events = append(events, Event{"ann", i}, Event{"bob", i})
	}

	pool := weir.New(8)
	err := func() error {
		accounts := weir.NewKeyed[string](pool, 1)
		for _, event := range events {
			if err := accounts.Submit(event.Account, func() { apply(event) }); err != nil {
				return err
			}
		}
		return nil
	}()
	pool.Close()

	fmt.Println(last.Load(), wrong.Load(), err)
	// Output: 999 0 <nil>
}

func Example_recipeMonitoring() {
	pool := weir.New(4, weir.Name("mail"))

	http.Handle("/debug/weir/", weirdebug.Handler())
	expvar.Publish("weir", weirdebug.Var{}) // at /debug/vars

	_ = pool.Submit(func() {})
	pool.Wait()
	var pools []weirdebug.Pool
	_ = json.Unmarshal([]byte(expvar.Get("weir").String()), &pools)
	for _, p := range pools {
		if p.Name == "mail" {
			fmt.Println(p.Stats.Finished)
		}
	}
	pool.Close()
	// Output: 1
}

func Example_recipeSlow() {
	pool := weir.New(4, weir.Name("mail"),
		weir.LogSlow(time.Minute), // with the stack
		weir.OnFull(func(s weir.Stats) { log.Printf("mail is full: %d wait", s.Queued+s.Waiting) }))
	fmt.Println(pool.Submit(func() {}))
	pool.Close()
	// Output: <nil>
}

func Example_recipeStuck() {
	pool := weir.New(4)
	defer pool.Close()
	g := pool.Group(weir.Label(context.Background(), "order 7"))
	g.Go(func(context.Context) error {
		for _, task := range pool.Running(time.Minute) {
			log.Printf("%s has run since %v:\n%s", task.Label, task.Since, task.Stack())
		}
		return nil
	})
	fmt.Println(g.Wait())
	// Output: <nil>
}

func Example_recipeRetry() {
	ctx := context.Background()
	errRefused := errors.New("refused")
	calls := 0
	send := func(context.Context) error {
		if calls++; calls < 3 {
			return errors.New("no answer")
		}
		return errRefused
	}

	g := weir.NewGroup(ctx, 4, weir.Retry(weir.RetryPolicy{Tries: 5, Wait: 10 * time.Millisecond}))
	g.Go(func(ctx context.Context) error {
		err := send(ctx)
		if errors.Is(err, errRefused) {
			return weir.Permanent(err) // another try would not help
		}
		return err
	})
	err := g.Wait()

	fmt.Println(err)
	// Output: task 0: weir: failed after 3 tries: refused
}

func Example_recipeCrawler() {
	ctx := context.Background()
	site := map[string][]string{"/": {"/a", "/b"}, "/a": {"/", "/b"}, "/b": {"/c"}, "/c": nil}
	var seen sync.Map
	fetch := func(_ context.Context, url string) ([]string, error) { return site[url], nil }

	pool := weir.New(20, weir.Rate(50, time.Second, 1), weir.Queue(weir.Unbounded))
	defer pool.Close()
	pages := pool.Group(ctx, weir.KeepGoing(), weir.Retry(weir.RetryPolicy{Tries: 4}))
	var visit func(url string)
	visit = func(url string) {
		if _, known := seen.LoadOrStore(url, true); known {
			return
		}
		pages.Go(func(ctx context.Context) error {
			links, err := fetch(ctx, url)
			for _, link := range links {
				visit(link)
			}
			return err
		})
	}
	visit("/")
	err := pages.Wait() // all errors

	n := 0
	seen.Range(func(_, _ any) bool { n++; return true })
	fmt.Println(n, err)
	// Output: 4 <nil>
}

// each is a schedule of fixed times.
type each time.Duration

func (d each) Next(t time.Time) time.Time { return t.Add(time.Duration(d)) }

func Example_recipeScheduler() {
	schedule := each(time.Millisecond)
	pool := weir.New(2, weir.OnError(func(error) {}), weir.OnPanic(func(*weir.Panic) {}))
	reports := make(chan int)
	n := 0
	report := func(context.Context) {
		if n++; n <= 3 {
			reports <- n
		}
		if n == 2 {
			panic("no paper")
		}
	}

	var plan func()
	run := func(ctx context.Context) {
		defer plan() // also if report panics
		report(ctx)
	}
	plan = func() {
		if next := schedule.Next(time.Now()); !next.IsZero() { // else it comes no more
			pool.At(next, run)
		}
	}
	plan()

	fmt.Println(<-reports, <-reports, <-reports)
	pool.Close()
	// Output: 1 2 3
}

func Example_recipeHedge() {
	ctx := context.Background()
	pool := weir.New(4)
	defer pool.Close()
	from := func(mirror string) func(context.Context) (string, error) {
		return func(ctx context.Context) (string, error) {
			if mirror == "near" { // which hangs today
				<-ctx.Done()
				return "", context.Cause(ctx)
			}
			return "from " + mirror, nil
		}
	}

	page, err := weir.Hedge(ctx, pool, 50*time.Millisecond, from("near"), from("far")) // the slower one is cancelled

	fmt.Println(page, err)
	// Output: from far <nil>
}

func Example_recipeFirst() {
	ctx := context.Background()
	mirrors := []string{"down", "far", "near"}
	takes := map[string]time.Duration{"far": time.Hour, "near": 10 * time.Millisecond}
	fetch := func(ctx context.Context, mirror string) (string, error) {
		if mirror == "down" {
			return "", errors.New("no answer")
		}
		select {
		case <-time.After(takes[mirror]):
			return "from " + mirror, nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}

	pages := weir.NewResults[string](weir.NewGroup(ctx, len(mirrors), weir.KeepGoing())) // one that fails ends no other
	for _, mirror := range mirrors {
		pages.Go(func(ctx context.Context) (string, error) { return fetch(ctx, mirror) })
	}
	page, err := pages.First() // cancels the others, and waits for their end

	fmt.Println(page, err)
	// Output: from near <nil>
}
