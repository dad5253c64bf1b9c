package weir_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// What docs/recipes.md does by lanes, keys and Go, as programs do it by hand, on goroutines and a mutex. Panics, limits that change and statistics are left
// out. The page says how many lines each takes.

// urgentFirst runs tasks on four goroutines: urgent ones first, and never more than two of the others at once.
func urgentFirst(ctx context.Context) (submit func(isUrgent bool, task func())) {
	var mu sync.Mutex
	var urgent, others []func()
	running := 0
	wake := sync.NewCond(&mu)
	next := func() (task func(), isUrgent bool) {
		mu.Lock()
		defer mu.Unlock()
		for ctx.Err() == nil {
			switch {
			case len(urgent) > 0:
				task, urgent = urgent[0], urgent[1:]
				return task, true
			case len(others) > 0 && running < 2:
				task, others = others[0], others[1:]
				running++
				return task, false
			}
			wake.Wait()
		}
		return nil, false
	}
	for range 4 {
		go func() {
			for task, isUrgent := next(); task != nil; task, isUrgent = next() {
				task()
				if !isUrgent {
					mu.Lock()
					running--
					mu.Unlock()
					wake.Signal()
				}
			}
		}()
	}
	context.AfterFunc(ctx, wake.Broadcast)
	return func(isUrgent bool, task func()) {
		mu.Lock()
		if isUrgent {
			urgent = append(urgent, task)
		} else {
			others = append(others, task)
		}
		mu.Unlock()
		wake.Signal()
	}
}

// tenantsInTurn runs tasks on four goroutines, one of each tenant after the other: tenants with longer tasks still get more of the time.
func tenantsInTurn(ctx context.Context) (submit func(tenant string, task func())) {
	var mu sync.Mutex
	queues := map[string][]func(){}
	var turn []string // tenants with tasks
	ready := make(chan struct{}, 1)
	signal := func() {
		select {
		case ready <- struct{}{}:
		default:
		}
	}
	for range 4 {
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-ready:
				}
				mu.Lock()
				var task func()
				if len(turn) > 0 {
					tenant := turn[0]
					turn, task = turn[1:], queues[tenant][0]
					if queues[tenant] = queues[tenant][1:]; len(queues[tenant]) > 0 {
						turn = append(turn, tenant)
					} else {
						delete(queues, tenant)
					}
				}
				if len(turn) > 0 {
					signal()
				}
				mu.Unlock()
				if task != nil {
					task()
				}
			}
		}()
	}
	return func(tenant string, task func()) {
		mu.Lock()
		defer mu.Unlock()
		if len(queues[tenant]) == 0 {
			turn = append(turn, tenant)
		}
		queues[tenant] = append(queues[tenant], task)
		signal()
	}
}

// inOrder runs tasks of one key one after the other. One that has many keeps its place until all have run.
func inOrder(pool *weir.Pool) (submit func(key string, task func()) error) {
	var mu sync.Mutex
	queues := map[string][]func(){}
	drain := func(key string) {
		for {
			mu.Lock()
			if len(queues[key]) == 0 {
				delete(queues, key)
				mu.Unlock()
				return
			}
			task := queues[key][0]
			queues[key] = queues[key][1:]
			mu.Unlock()
			task()
		}
	}
	return func(key string, task func()) error {
		mu.Lock()
		queue, isRunning := queues[key]
		queues[key] = append(queue, task)
		mu.Unlock()
		if isRunning {
			return nil
		}
		return pool.Submit(func() { drain(key) })
	}
}

// service runs jobs until ctx is done; their contexts end when the time for the end is over.
func service(ctx context.Context, jobs <-chan int, run func(ctx context.Context, job int) error, report func(error)) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var workers sync.WaitGroup
	for range 100 {
		workers.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case job, ok := <-jobs:
					if !ok {
						return
					}
					if err := run(running, job); err != nil {
						report(err)
					}
				}
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		workers.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Millisecond):
	}
}

// crawl fetches a page and all that it leads to, 20 at once, 50 a second, each up to four times. It returns all errors.
func crawl(ctx context.Context, start string, fetch func(ctx context.Context, url string) (links []string, err error)) error {
	var (
		mu     sync.Mutex
		seen   = map[string]bool{}
		errs   []error
		all    sync.WaitGroup
		places = make(chan struct{}, 20)
		turns  = time.NewTicker(time.Second / 50)
	)
	defer turns.Stop()
	try := func(url string) ([]string, error) {
		select {
		case <-turns.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		defer func() { <-places }()
		return fetch(ctx, url)
	}
	tries := func(url string) (links []string, err error) {
		for n := range 4 {
			if n > 0 {
				pause := time.NewTimer(rand.N(100 * time.Millisecond << (n - 1)))
				select {
				case <-pause.C:
				case <-ctx.Done():
					pause.Stop()
					return nil, err
				}
			}
			if links, err = try(url); err == nil || ctx.Err() != nil {
				break
			}
		}
		return links, err
	}
	var visit func(url string)
	visit = func(url string) {
		mu.Lock()
		known := seen[url]
		seen[url] = true
		mu.Unlock()
		if known {
			return
		}
		all.Go(func() { // a goroutine for each page that waits
			links, err := tries(url)
			if err != nil {
				mu.Lock()
				errs = append(errs, err)
				mu.Unlock()
			}
			for _, link := range links {
				visit(link)
			}
		})
	}
	visit(start)
	all.Wait()
	return errors.Join(errs...)
}

// runAt runs a function at the times of a schedule, never twice at once, until ctx is done. wait waits for the end.
func runAt(ctx context.Context, next func(time.Time) time.Time, run func(ctx context.Context)) (wait func()) {
	ended := make(chan struct{})
	once := func() {
		defer func() {
			if p := recover(); p != nil {
				fmt.Println(p)
			}
		}()
		run(ctx)
	}
	go func() {
		defer close(ended)
		for {
			at := next(time.Now())
			if at.IsZero() {
				return
			}
			timer := time.NewTimer(time.Until(at))
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return
			}
			if ctx.Err() != nil {
				return
			}
			once()
		}
	}()
	return func() { <-ended }
}

// hedged makes the next call when the last has taken as long as after, or all have failed. At most as many as there are places run at once.
func hedged(ctx context.Context, places chan struct{}, after time.Duration, calls ...func(context.Context) (string, error)) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		page string
		err  error
	}
	results := make(chan result, len(calls)) // the losers must not block
	var errs []error
	made := 0
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-timer.C:
			if made == len(calls) {
				continue
			}
			call := calls[made]
			made++
			go func() {
				places <- struct{}{}
				defer func() { <-places }()
				page, err := call(ctx)
				results <- result{page, err}
			}()
			timer.Reset(after)
		case r := <-results:
			if r.err == nil {
				return r.page, nil
			}
			if errs = append(errs, r.err); len(errs) == len(calls) {
				return "", errors.Join(errs...)
			}
			if len(errs) == made {
				timer.Reset(0)
			}
		}
	}
}

func TestWhatRecipesDoByHandAtTimesWorks(t *testing.T) {
	check.Bubble(t, "crawl, runAt and hedged", func(t *testing.T) {
		var fetched atomic.Int32
		check.OK(t, crawl(t.Context(), "/", func(_ context.Context, url string) ([]string, error) {
			if fetched.Add(1)%2 == 1 {
				return nil, errBoom
			}
			return []string{"/", "/a", "/b"}, nil
		}))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		runs := 0
		runAt(ctx, each(time.Second*3).Next, func(context.Context) { runs++ })()
		check.Equal(t, "runs", runs, 3)
		page, err := hedged(t.Context(), make(chan struct{}, 2), time.Second,
			func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() },
			func(context.Context) (string, error) { return "page", nil })
		check.OK(t, err)
		check.Equal(t, "page", page, "page")
	})
}

func TestWhatRecipesDoByHandWorks(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var ran sync.WaitGroup
	ran.Add(5)
	urgent := urgentFirst(ctx)
	urgent(true, ran.Done)
	urgent(false, ran.Done)
	tenantsInTurn(ctx)("a", ran.Done)
	p := weir.New(1)
	defer p.Close()
	check.OK(t, inOrder(p)("a", ran.Done))
	jobs := make(chan int, 1)
	jobs <- 1
	go service(ctx, jobs, func(context.Context, int) error { return errBoom }, func(error) { ran.Done() })
	ran.Wait()
}

// The page says for each of these recipes how long it is, and how long that by hand.
func TestRecipesSayHowMuchShorterTheyAre(t *testing.T) {
	const name = "recipes_by_hand_test.go"
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, nil, 0)
	check.OK(t, err)
	page, err := os.ReadFile("docs/recipes.md")
	check.OK(t, err)
	lines := map[string]int{}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			lines[f.Name.Name] = set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1
		}
	}
	said := regexp.MustCompile("\\[By hand\\]\\(\\.\\./recipes_by_hand_test\\.go\\) \\(`(\\w+)`\\) that takes (\\d+) lines in place of (\\d+)")
	found := 0
	for section := range strings.SplitSeq(string(page), "\n## ") {
		m := said.FindStringSubmatch(section)
		if m == nil {
			continue
		}
		found++
		_, code, _ := strings.Cut(section, "```go\n")
		code, _, _ = strings.Cut(code, "```")
		blank := regexp.MustCompile(`(?m)^\s*\n`)
		if byHand, ours := strconv.Itoa(lines[m[1]]), strconv.Itoa(strings.Count(blank.ReplaceAllString(code, ""), "\n")); byHand != m[2] || ours != m[3] {
			t.Errorf("%s takes %s lines by hand, not %s; ours %s, not %s", m[1], byHand, m[2], ours, m[3])
		}
	}
	check.Equal(t, "recipes that say so", fmt.Sprint(found), "7")
}
