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
// tables, must be in one of the examples below, or those for pools and for package
// par in the files next to this one, or those of module weirnats, which are compiled
// and run. So must the outbox, which a test of that module runs.
func TestMigrationPageIsExamples(t *testing.T) {
	page, err := os.ReadFile("docs/migrating.md")
	if err != nil {
		t.Fatal(err)
	}
	code := examplesIn(t, "migrating_test.go") + examplesIn(t, "migrating_pools_test.go") + examplesIn(t, "migrating_queues_test.go") +
		examplesIn(t, "migrating_par_test.go") + examplesIn(t, "weirnats/migrating_test.go")
	outbox, err := os.ReadFile("weirnats/outbox_test.go")
	if err != nil {
		t.Fatal(err)
	}
	code += dedented(string(outbox))
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

	ctx, cancel := context.WithCancel(ctx)
	g = weir.NewGroup(ctx, 8, weir.KeepGoing())
	g.Go(func(context.Context) error { cancel(); return nil })
	err = g.Wait()
	fmt.Println(errors.Is(err, context.Canceled))
	// Output:
	// failed: bee
	// true
	// true
	// true
	// true
	// true
}

func Example_fromSemaphore() {
	ctx := context.Background()
	run := func() error {
		g := weir.NewGroup(ctx, 8, weir.Queue(0))
		for _, host := range hosts {
			g.Go(func(ctx context.Context) error { return ping(ctx, host) }) // waits while 8 run
		}
		err := g.Wait()
		return err
	}
	fmt.Println(run())

	pool := weir.New(8, weir.Queue(0))
	defer pool.Close()
	task := func(context.Context) error { return errTimeout }
	err := pool.Do(ctx, task)
	fmt.Println(err)
	fmt.Println(pool.Go(ctx, func(context.Context) error { return nil }))

	g := pool.Group(ctx)
	g.Go(task)
	err = g.Wait()
	fmt.Println(err)

	work := func() { fmt.Println("worked") }
	err = pool.TrySubmit(work)
	if err == nil {
		err = pool.WaitContext(ctx)
	}
	fmt.Println(err)
	// Output:
	// task 1: bee: timeout
	// timeout
	// <nil>
	// task 0: timeout
	// worked
	// <nil>
}

func Example_fromRate() {
	ctx := context.Background()
	limit := weir.Rate(10, time.Second, 5)
	err := limit.Wait(ctx)
	limit.Set(20, time.Second, 5)
	fmt.Println(err)
	// Output: <nil>
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
