package reuse_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/64ed045f/weir/reuse"
)

// One for the program, or for a kind of work.
var memory reuse.Buffers

func ExampleBuffers() {
	// The size is known: a slice.
	block := memory.Get(5)
	defer func() { memory.Put(block) }()
	if _, err := io.ReadFull(strings.NewReader("Hello, world"), block); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%s\n", block)

	// The size is not known: a buffer.
	text := memory.GetBuffer()
	defer memory.PutBuffer(text)
	for i := range 3 {
		fmt.Fprintf(text, "line %d\n", i)
	}
	if _, err := text.WriteTo(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Hello
	// line 0
	// line 1
	// line 2
}

func ExampleBuffers_Get() {
	s := memory.Get(1000)
	fmt.Println(len(s), cap(s))
	memory.Put(s)

	// To append from the start:
	s = memory.Get(10)[:0]
	s = fmt.Appendf(s, "%d%%", 42)
	fmt.Printf("%s\n", s)
	memory.Put(s)
	// Output:
	// 1000 1024
	// 42%
}

func ExampleBuffers_Put() {
	s := memory.Get(100)
	s = append(s, make([]byte, 1000)...) // may be another array now
	memory.Put(s)

	// Slices from elsewhere are welcome.
	memory.Put(make([]byte, 5000))

	s = memory.Get(4096)
	fmt.Println(len(s), cap(s))
	memory.Put(s)
	// Output: 4096 4096
}

func ExampleBuffers_GetBuffer() {
	greet := func(name string) string {
		b := memory.GetBuffer()
		defer memory.PutBuffer(b)
		b.WriteString("Hello, ")
		b.WriteString(name)
		return b.String() // copies: what Bytes returns must not outlive PutBuffer
	}
	fmt.Println(greet("weir"))
	// Output: Hello, weir
}

func ExampleBuffers_PutBuffer() {
	var pages reuse.Buffers
	for range 20 {
		b := pages.GetBuffer()
		b.Write(bytes.Repeat([]byte("x"), 3000))
		pages.PutBuffer(b)
	}
	b := pages.GetBuffer()
	fmt.Println(b.Len(), b.Cap() >= 3000) // the size is learned
	pages.PutBuffer(b)
	// Output: 0 true
}
