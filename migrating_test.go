package weir_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/errgroup"
)

// Every Go snippet of the page, and every piece of code in the middle column of its
// tables, must stand in one of the examples below, or those for package par beside
// this file, which are compiled and run.
func TestMigrationPageIsExamples(t *testing.T) {
	page, err := os.ReadFile("docs/migrating.md")
	if err != nil {
		t.Fatal(err)
	}
	code := examplesIn(t, "migrating_test.go") + examplesIn(t, "migrating_par_test.go")
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 10 {
		t.Fatalf("found only %d snippets", len(blocks))
	}
	for _, block := range blocks {
		if !strings.Contains(code, dedented(block[1])) {
			t.Errorf("not in an example:\n%s", block[1])
		}
	}
	rows := regexp.MustCompile(`(?m)^\|(.*)\|(.*)\|(.*)\|$`).FindAllStringSubmatch(string(page), -1)
	tables, pieces := 0, 0
	for _, row := range rows {
		if row[2] == "---" {
			tables++
		}
		for _, piece := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(row[2], -1) {
			pieces++
			if !strings.Contains(oneLine(code), oneLine(piece[1])) {
				t.Errorf("not in an example: %s", piece[1])
			}
		}
	}
	if pieces < len(rows)-2*tables || pieces < 90 { // each table has two rows without code
		t.Errorf("found only %d pieces of code in %d rows of tables", pieces, len(rows))
	}
}

// examplesIn returns the imports and the examples of a file.
func examplesIn(t *testing.T, name string) string {
	t.Helper()
	source, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	keep := func(n ast.Node) {
		code.Write(source[files.Position(n.Pos()).Offset:files.Position(n.End()).Offset])
		code.WriteByte('\n')
	}
	for _, imported := range file.Imports {
		keep(imported)
	}
	for _, decl := range file.Decls {
		if f, isFunc := decl.(*ast.FuncDecl); isFunc && strings.HasPrefix(f.Name.Name, "Example") {
			keep(f)
		}
	}
	return dedented(code.String())
}

// oneLine leaves each run of white space as one space.
func oneLine(code string) string { return strings.Join(strings.Fields(code), " ") }

var errTimeout = errors.New("timeout")

// ping is what the examples do with their hosts.
func ping(_ context.Context, host string) error {
	if host == "bee" {
		return fmt.Errorf("%s: %w", host, errTimeout)
	}
	return nil
}

var hosts = []string{"ant", "bee", "cat"}

// lookup finds an address, in part even of a host that does not answer.
func lookup(ctx context.Context, host string) (string, error) {
	return host + ".example", ping(ctx, host)
}

func Example_fromErrgroupByImport() {
	ctx := context.Background()

	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(8)
	for _, host := range hosts {
		g.Go(func() error { return ping(ctx, host) })
	}
	err := g.Wait()

	fmt.Println(err)
	// Output: bee: timeout
}

func Example_fromErrgroup() {
	ctx := context.Background()

	g := weir.NewGroup(ctx, 8, weir.Queue(0))
	for _, host := range hosts {
		g.Go(func(ctx context.Context) error { return ping(ctx, host) })
	}
	err := g.Wait()

	if failed, ok := errors.AsType[*weir.TaskError](err); ok {
		fmt.Println("failed:", hosts[failed.Index])
	}

	fmt.Println(errors.Is(err, errTimeout))

	g = weir.NewGroup(ctx, weir.Unbounded)
	task := func(context.Context) error { return errTimeout }
	fmt.Println(g.TryGo(task))
	fmt.Println(errors.Is(g.Wait(), errTimeout))

	g = weir.NewGroup(ctx, 8, weir.CrashOnPanic())
	g.Go(exitInGroup)
	err = g.Wait()
	fmt.Println(errors.Is(err, weir.ErrGoexit))
	// Output:
	// failed: bee
	// true
	// true
	// true
	// true
}

func Example_fromConc() {
	ctx := context.Background()
	ping := func(ctx context.Context, host string) error {
		if host == "cat" {
			panic("no such host")
		}
		return ping(ctx, host)
	}

	g := weir.NewGroup(ctx, 8, weir.KeepGoing(), weir.PanicsAsErrors())
	for _, host := range hosts {
		g.Go(func(ctx context.Context) error { return ping(ctx, host) })
	}
	err := g.Wait() // all errors, in the order of the hosts

	if p, ok := errors.AsType[*weir.Panic](err); ok {
		fmt.Println("a panic:", p.Value) // p.Stack says where
	}

	for _, g := range []*weir.Group{
		weir.NewGroup(ctx, 8, weir.Queue(0)),
		weir.NewGroup(ctx, 8, weir.Queue(0), weir.KeepGoing()),
		weir.NewGroup(ctx, weir.Unbounded),
	} {
		g.Go(func(context.Context) error { return errTimeout })
		fmt.Println(g.Wait())
	}
	var wg sync.WaitGroup
	wg.Go(func() { fmt.Println("done") })
	wg.Wait()
	// Output:
	// a panic: no such host
	// task 0: timeout
	// task 0: timeout
	// task 0: timeout
	// done
}

func Example_fromConcResults() {
	ctx := context.Background()

	addresses := weir.NewResults[string](weir.NewGroup(ctx, 8, weir.KeepGoing()))
	for _, host := range hosts {
		addresses.Go(func(ctx context.Context) (string, error) { return lookup(ctx, host) })
	}
	found, err := addresses.Wait() // one for each host

	fmt.Println(found, err)
	if failed, ok := errors.AsType[*weir.TaskError](err); ok {
		fmt.Println("in part:", found[failed.Index])
	}

	addresses = weir.NewResults[string](weir.NewGroup(ctx, 8, weir.Queue(0)))
	for _, host := range hosts[:1] {
		addresses.Go(func(ctx context.Context) (string, error) { return lookup(ctx, host) })
	}
	for address, err := range addresses.All() {
		fmt.Println(address, err)
	}
	for _, host := range []string{"cat", "ant"} {
		addresses.Go(func(ctx context.Context) (string, error) { return lookup(ctx, host) })
	}
	for address, err := range addresses.Ordered() {
		fmt.Println(address, err)
	}

	addresses = weir.NewResults[string](weir.NewGroup(ctx, 8, weir.KeepGoing()))
	for _, host := range hosts[:2] {
		addresses.Go(func(ctx context.Context) (string, error) { return lookup(ctx, host) })
	}
	address, err := addresses.First()
	fmt.Println(address, err)
	// Output:
	// [ant.example bee.example cat.example] task 1: bee: timeout
	// in part: bee.example
	// ant.example <nil>
	// cat.example <nil>
	// ant.example <nil>
	// ant.example <nil>
}

func Example_fromAnts() {
	ctx := context.Background()
	handle := func(p *weir.Panic) { fmt.Println("a panic:", p.Value) }
	tasks := []func(){
		func() { fmt.Println("one") },
		func() { panic("two") },
	}
	run := func() error {
		pool := weir.New(64, weir.Queue(0), weir.OnPanic(handle))
		defer pool.Close()
		for _, task := range tasks {
			if err := pool.Submit(task); err != nil {
				return err // weir.ErrClosed
			}
		}
		pool.Wait() // the pool stays open
		return nil
	}
	fmt.Println(run())

	task := func() { fmt.Println("three") }
	pool := weir.New(64, weir.Queue(0))
	fmt.Println(pool.SubmitContext(ctx, task), pool.TrySubmit(task))
	pool.Resize(16)
	pool.Wait()
	fmt.Println(pool.Stats().Limit, pool.Group(ctx).Wait())
	unrun, err := pool.Shutdown(ctx)
	fmt.Println(len(unrun), err)

	pool = weir.New(weir.Unbounded)
	pool.Close()
	pool = weir.New(1, weir.MaxWaiting(10), weir.IdleTimeout(time.Minute))
	pool.Close()

	thumbnail := func(path string) { fmt.Println(path) }
	thumbnails := weir.NewFunc(8, thumbnail)
	path := "a.png"
	fmt.Println(thumbnails.Invoke(path))
	thumbnails.Close()

	pool = weir.New(8)
	fetch := func(context.Context) (string, error) { return "a page", nil }
	f := weir.Async(ctx, pool, fetch)
	page, err := f.Get(ctx)
	fmt.Println(page, err)
	pool.Close()

	done := make(chan struct{})
	task = func() { close(done) }
	fmt.Println(weir.Default().Submit(task))
	<-done
	// Unordered output:
	// one
	// a panic: two
	// <nil>
	// three
	// three
	// <nil> <nil>
	// 16 <nil>
	// 0 <nil>
	// a.png
	// <nil>
	// a page <nil>
	// <nil>
}

func Example_fromPond() {
	ctx := context.Background()
	run := func() error {
		pool := weir.New(64, weir.Queue(weir.Unbounded))
		defer pool.Close()

		g := pool.Group(ctx, weir.Limit(8))
		for _, host := range hosts {
			g.Go(func(ctx context.Context) error { return ping(ctx, host) })
		}
		return g.Wait()
	}
	fmt.Println(run())

	pool := weir.New(8, weir.Queue(1000), weir.CrashOnPanic())
	g := pool.Group(ctx)
	task := func(context.Context) error { return errTimeout }
	g.Go(task)
	fmt.Println(g.Wait())
	pool.Close()

	pool = weir.New(8)
	g = pool.Group(ctx, weir.PanicsAsErrors())
	g.Go(func(context.Context) error { panic(errTimeout) })
	fmt.Println(errors.Is(g.Wait(), errTimeout))

	fetch := func(context.Context) (string, error) { return "a page", nil }
	f := weir.Async(ctx, pool, fetch)
	<-f.Done()
	page, err := f.Get(ctx)
	fmt.Println(page, err)

	pages := weir.NewResults[string](pool.Group(ctx))
	pages.Go(fetch)
	found, err := pages.Wait()
	fmt.Println(found, err)
	pages.Go(fetch)
	for page, err := range pages.All() {
		fmt.Println(page, err)
	}
	pages.Go(fetch)
	for page, err := range pages.Ordered() {
		fmt.Println(page, err)
	}
	pages.Go(fetch)
	fmt.Println(pages.First())
	pool.Close()
	// Output:
	// task 1: bee: timeout
	// task 0: timeout
	// true
	// a page <nil>
	// [a page] <nil>
	// a page <nil>
	// a page <nil>
	// a page <nil>
}

func Example_fromWorkerpool() {
	ctx := context.Background()
	tasks := []func(){
		func() { fmt.Println("one") },
		func() { fmt.Println("two") },
	}
	run := func() error {
		pool := weir.New(8, weir.Queue(weir.Unbounded), weir.CrashOnPanic())
		for _, task := range tasks {
			if err := pool.Submit(task); err != nil {
				return err // weir.ErrClosed
			}
		}
		pool.Close() // when all have run
		return nil
	}
	fmt.Println(run())

	pool := weir.New(8, weir.Queue(weir.Unbounded))
	pool.Pause()
	for _, task := range tasks {
		if err := pool.Submit(task); err != nil {
			panic(err)
		}
	}
	fmt.Println(pool.Stats().Queued, "wait")
	pool.Resume()
	pool.Close()

	pool = weir.New(1, weir.Queue(weir.Unbounded))
	busy, started := make(chan struct{}), make(chan struct{})
	tasks = append([]func(){func() { close(started); <-busy }}, tasks...)
	for _, task := range tasks {
		if err := pool.Submit(task); err != nil {
			panic(err)
		}
	}
	<-started
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	unrun, err := pool.Shutdown(ctx)
	fmt.Println(len(unrun), "handed back:", err)
	close(busy)
	pool.Close()
	// Unordered output:
	// one
	// two
	// <nil>
	// 2 wait
	// one
	// two
	// 2 handed back: context canceled
}

func Example_fromTunny() {
	type Frame struct {
		Number  int
		Encoded string
	}
	type encoder struct{ encoded int }
	openEncoder := func() (*encoder, error) { return new(encoder), nil }
	encode := func(e *encoder, frame *Frame) {
		e.encoded++
		frame.Encoded = fmt.Sprint("frame ", frame.Number)
	}
	closeEncoder := func(e *encoder) { fmt.Println("encoded", e.encoded) }
	ctx := context.Background()

	encodeAlone := func(frame *Frame) { encode(new(encoder), frame) }
	pool := weir.NewFunc(8, encodeAlone)
	fmt.Println(pool.Invoke(&Frame{Number: 1}))
	pool.Close()

	run := func() error {
		encoders := weir.NewStateful(8, openEncoder, encode, closeEncoder)
		defer encoders.Close()

		frame := Frame{Number: 7}
		if err := encoders.Call(ctx, &frame); err != nil {
			return err
		}
		fmt.Println(frame.Encoded)

		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		encoders.Resize(4)
		fmt.Println(encoders.Call(ctx, &frame), encoders.Stats().Queued)
		return nil
	}
	fmt.Println(run())
	// Output:
	// <nil>
	// frame 7
	// <nil> 0
	// encoded 2
	// <nil>
}
