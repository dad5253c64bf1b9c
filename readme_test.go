package weir_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
	"github.com/64ed045f/weir/reuse"
	"github.com/64ed045f/weir/weirhttp"
)

// Every Go snippet of these pages must be, except for its indentation, in an example, which is compiled and run; or it is the program
// in examples/linecount.
func TestSnippetsOfTheReadmeAndTheRecipesAreExamples(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(name)
		check.OK(t, err)
		return string(text)
	}
	examples := dedented(read("readme_test.go") + read("recipes_test.go") + read("weirnats/example_scale_test.go"))
	program := read("examples/linecount/main.go")
	for page, least := range map[string]int{"README.md": 6, "docs/recipes.md": 21, "docs/scale.md": 1} {
		snippets := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(read(page), -1)
		if len(snippets) < least {
			t.Errorf("%s has only %d snippets", page, len(snippets))
		}
		for _, snippet := range snippets {
			if !strings.Contains(examples, dedented(snippet[1])) && !strings.HasSuffix(program, "\n"+snippet[1]) {
				t.Errorf("%s has a snippet that is no example:\n%s", page, snippet[1])
			}
		}
	}
}

func dedented(code string) string {
	lines := strings.Split(code, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimLeft(line, "\t")
	}
	return strings.Join(lines, "\n")
}

func Example() {
	ctx := context.Background()
	task := func(context.Context, int) error { return nil }

	g := weir.NewGroup(ctx, 4, weir.Queue(10))
	for i := range 10 {
		g.Go(func(ctx context.Context) error { return task(ctx, i) })
	}
	err := g.Wait()

	fmt.Println(err)
	// Output: <nil>
}

func Example_errors() {
	ctx := context.Background()
	hosts := []string{"ant", "bee", "cat"}
	ping := func(_ context.Context, host string) error {
		if host != "ant" {
			return errors.New(host + " does not answer")
		}
		return nil
	}

	g := weir.NewGroup(ctx, 4, weir.KeepGoing())
	for _, host := range hosts {
		g.Go(func(ctx context.Context) error { return ping(ctx, host) })
	}
	err := g.Wait()

	if failed, ok := errors.AsType[*weir.TaskError](err); ok {
		fmt.Println("the first of those that failed:", hosts[failed.Index])
	}

	fmt.Println(err)
	// Output:
	// the first of those that failed: bee
	// task 1: bee does not answer
	// task 2: cat does not answer
}

func Example_results() {
	ctx := context.Background()
	urls := []string{"a", "bcd", "ef"}
	size := func(_ context.Context, url string) (int64, error) { return int64(len(url)), nil }
	var total int64

	err := func() error {
		sizes := weir.NewResults[int64](weir.NewGroup(ctx, 8))
		for _, url := range urls {
			sizes.Go(func(ctx context.Context) (int64, error) { return size(ctx, url) })
		}
		for size, err := range sizes.All() {
			if err != nil {
				return err
			}
			total += size
		}
		return nil
	}()

	fmt.Println(total, err)
	// Output: 6 <nil>
}

func Example_sharedPool() {
	ctx := context.Background()
	deliver := func(context.Context) error { fmt.Println("delivered"); return nil }

	err := func() error {
		pool := weir.New(64, weir.Name("mail"))
		defer pool.Close() // runs what was accepted, then returns
		g := pool.Group(ctx, weir.Limit(8))
		g.Go(func(ctx context.Context) error { return deliver(ctx) })
		return g.Wait()
	}()

	fmt.Println(err)
	// Output:
	// delivered
	// <nil>
}

func Example_recursion() {
	site := map[string][]string{"/": {"/a", "/b"}, "/a": {"/a/c"}, "/a/c": {"/a/c/d"}}
	links := func(page string) []string {
		fmt.Println(page)
		return site[page]
	}
	pool := weir.New(1)
	defer pool.Close()

	var visit func(ctx context.Context, page string) error
	visit = func(ctx context.Context, page string) error {
		below := pool.Group(ctx)
		for _, link := range links(page) {
			below.Go(func(ctx context.Context) error { return visit(ctx, link) }) // this ctx, not the outer one
		}
		return below.Wait()
	}

	g := pool.Group(context.Background())
	g.Go(func(ctx context.Context) error { return visit(ctx, "/") })
	fmt.Println(g.Wait())
	// Unordered output:
	// /
	// /a
	// /a/c
	// /a/c/d
	// /b
	// <nil>
}

func Example_oneFunction() {
	thumbnail := func(path string) { fmt.Println(path) }
	paths := []string{"a.png", "b.png"}

	err := func() error {
		thumbnails := weir.NewFunc(8, func(path string) { thumbnail(path) })
		defer thumbnails.Close()
		for _, path := range paths {
			if err := thumbnails.Invoke(path); err != nil {
				return err // the pool is closed
			}
		}
		return nil
	}()

	fmt.Println(err)
	// Unordered output:
	// a.png
	// b.png
	// <nil>
}

func Example_stateful() {
	type Frame struct{ number int }
	type encoder struct{ name string }
	openEncoder := func() (*encoder, error) { return &encoder{"a new encoder"}, nil }
	encode := func(e *encoder, frame *Frame) { fmt.Println(e.name, "encodes", frame.number) }
	closeEncoder := func(e *encoder) { fmt.Println(e.name, "is closed") }
	ctx, frame := context.Background(), &Frame{number: 7}

	err := func() error {
		encoders := weir.NewStateful(4, openEncoder, encode, closeEncoder)
		defer encoders.Close()
		if err := encoders.Call(ctx, frame); err != nil {
			return err // frame is not encoded: no encoder could be opened, encode panicked, or ctx was done first
		}
		return nil
	}()

	fmt.Println(err)
	// Output:
	// a new encoder encodes 7
	// a new encoder is closed
	// <nil>
}

func Example_requests() {
	mux := http.NewServeMux()
	clientOf := func(r *http.Request) string {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		return host
	}

	handler := weirhttp.Limit(mux, 100,
		weirhttp.Queue(200), weirhttp.MaxWait(500*time.Millisecond),
		weirhttp.PerKey(10, clientOf)) // no client takes more than 10 of the 100

	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", nil))
	fmt.Println(answer.Code, handler.Stats().Served)
	// Output: 404 1
}

type Request struct{ path []byte }

func newRequest() *Request { return &Request{make([]byte, 0, 1024)} }

func (r *Request) reset() { r.path = r.path[:0] }

func Example_objects() {
	requests := reuse.Pool[*Request]{New: newRequest, Reset: (*Request).reset}
	r := requests.Get()
	defer requests.Put(r)

	r.path = append(r.path, "/index"...)
	fmt.Printf("%s\n", r.path)
	// Output: /index
}

func Example_connections() {
	ctx := context.Background()
	dial := func(context.Context) (net.Conn, error) {
		fmt.Println("dialled")
		connection, _ := net.Pipe()
		return connection, nil
	}
	hangUp := func(c net.Conn) { fmt.Println("hung up:", c.Close()) }
	ask := func(net.Conn) error { return io.ErrUnexpectedEOF }

	func() {
		connections := reuse.NewKeeper(reuse.KeeperConfig[net.Conn]{
			Capacity: 8, Open: dial, Close: hangUp, IdleTimeout: time.Minute,
		})
		defer connections.Close()

		err := connections.Use(ctx, func(c net.Conn) error {
			if err := ask(c); err != nil {
				return reuse.Broken(err) // this one is closed, and the next user gets another
			}
			return nil
		})

		fmt.Println(err)
	}()
	// Unordered output:
	// dialled
	// unexpected EOF
	// hung up: <nil>
}

func Example_loop() {
	ctx := context.Background()
	urls := []string{"a", "bcd", "ef"}
	size := func(_ context.Context, url string) (int64, error) { return int64(len(url)), nil }

	sizes, err := par.Map(ctx, urls, size, par.Limit(8))

	fmt.Println(sizes, err)
	// Output: [1 3 2] <nil>
}

func Example_stream() {
	ctx := context.Background()
	urls := []string{"a", "b"}
	fetch := func(_ context.Context, url string) (string, error) { return url + "1 " + url + "2", nil }
	parse := func(_ context.Context, page string) ([]string, error) { return strings.Fields(page), nil }
	var table []string

	err := func() error {
		pages := par.Pipe(urls, fetch, par.Limit(8))
		for rows, err := range par.Stream(ctx, pages, parse) {
			if err != nil {
				return err
			}
			table = append(table, rows...)
		}
		return nil
	}()

	fmt.Println(table, err)
	// Output: [a1 a2 b1 b2] <nil>
}

func Example_computation() {
	pixels := []int{1, 2, 3}
	brighten := func(pixel int) int { return pixel + 10 }

	par.Range(len(pixels), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			pixels[i] = brighten(pixels[i])
		}
	})

	fmt.Println(pixels)
	// Output: [11 12 13]
}
