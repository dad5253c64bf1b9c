package reuse_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/64ed045f/weir/reuse"
)

// buffers keeps none that has grown beyond 64 KiB.
var buffers = reuse.Pool[*bytes.Buffer]{
	New:   func() *bytes.Buffer { return new(bytes.Buffer) },
	Reset: (*bytes.Buffer).Reset,
	Keep:  func(b *bytes.Buffer) bool { return b.Cap() <= 64<<10 },
}

func ExamplePool() {
	greet := func(name string) string {
		b := buffers.Get()
		defer buffers.Put(b)
		fmt.Fprintf(b, "hello, %s", name)
		return b.String() // a copy, which may outlive the buffer
	}
	fmt.Println(greet("weir"))
	fmt.Println(greet("river"))
	// Output:
	// hello, weir
	// hello, river
}

func ExamplePool_Get() {
	// What is not a pointer is kept without an allocation, too.
	points := reuse.Pool[[]float64]{New: func() []float64 { return make([]float64, 0, 100) }}

	p := points.Get()
	p = append(p, 1, 2, 3)
	fmt.Println(len(p), cap(p))
	points.Put(p[:0])
	// Output: 3 100
}

func ExamplePool_Put() {
	b := buffers.Get()
	b.WriteString("some text")
	fmt.Println(b.Len())
	buffers.Put(b) // calls Reset
	fmt.Println(b.Len())
	// Output:
	// 9
	// 0
}

func ExamplePool_Use() {
	parse := func(text string) (number int, err error) {
		buffers.Use(func(b *bytes.Buffer) {
			b.WriteString(strings.TrimSpace(text))
			_, err = fmt.Fscan(b, &number)
		})
		return number, err
	}
	fmt.Println(parse(" 42 "))
	// Output: 42 <nil>
}

// printer stands for the *testing.T of a test.
type printer struct{ end func() }

func (p *printer) Helper()          {}
func (p *printer) Cleanup(f func()) { p.end = f }

func (p *printer) Errorf(format string, args ...any) {
	title, _, _ := strings.Cut(fmt.Sprintf(format, args...), ", ")
	fmt.Println(title) // stacks follow
}

func ExampleCheck() {
	var t printer // in a test: func TestServer(t *testing.T)
	reuse.Check(&t)

	b := buffers.Get()
	b.WriteString("some text")
	text := b.Bytes() // not a copy
	buffers.Put(b)
	text[0] = 'S'

	buffers.Get().Reset() // not put back

	t.end()
	// Output:
	// reuse: *bytes.Buffer used after Put: [0] was written
	// reuse: *bytes.Buffer not put back
}
