package suite

import (
	"bytes"
	"context"
	"sync"

	"github.com/valyala/bytebufferpool"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/reuse"
)

var reuseSuite = Suite{
	Name:  "reuse",
	Title: "Reuse of objects",
	About: "A request's context with a buffer of 1 KB, a service that fills a bytes.Buffer, buffers of many sizes: made anew each time, " +
		"or taken from a pool. And objects that are costly to open, leased to one user at a time.",
	Experiments: func(s Scale) []Experiment {
		var list []Experiment
		for _, procs := range s.procs() {
			list = append(list, serving(s, procs, "context", contexts), serving(s, procs, "buffer", buffers))
		}
		list = append(list, sizes(s)...)
		return append(list, keeper(s)...)
	},
}

var contexts = []strategy{
	{"weir.reuse.Pool", func(int) server {
		pool := &reuse.Pool[*request]{New: newRequest, Reset: (*request).reset}
		return server{serve: func() {
			r := pool.Get()
			r.serve()
			pool.Put(r)
		}}
	}},
	{"weir.Stateful", func(limit int) server {
		return workers(limit, newRequest, func(r *request) {
			r.serve()
			r.reset()
		})
	}},
	{peer.Made, func(int) server {
		return server{serve: func() { newRequest().serve() }}
	}},
	{"sync.Pool", func(int) server {
		pool := sync.Pool{New: func() any { return newRequest() }}
		return server{serve: func() {
			r := pool.Get().(*request)
			r.serve()
			r.reset()
			pool.Put(r)
		}}
	}},
}

var buffers = []strategy{
	{"weir.reuse.Pool", func(int) server {
		pool := &reuse.Pool[*bytes.Buffer]{New: newBuffer, Reset: (*bytes.Buffer).Reset}
		return server{serve: func() {
			b := pool.Get()
			fill(b)
			pool.Put(b)
		}}
	}},
	{"weir.reuse.Buffers", func(int) server {
		var pool reuse.Buffers
		return server{serve: func() {
			b := pool.GetBuffer()
			fill(b)
			pool.PutBuffer(b)
		}}
	}},
	{"weir.Stateful", func(limit int) server {
		return workers(limit, newBuffer, func(b *bytes.Buffer) {
			fill(b)
			b.Reset()
		})
	}},
	{peer.Made, func(int) server {
		return server{serve: func() { fill(newBuffer()) }}
	}},
	{"sync.Pool", func(int) server {
		pool := sync.Pool{New: func() any { return newBuffer() }}
		return server{serve: func() {
			b := pool.Get().(*bytes.Buffer)
			fill(b)
			b.Reset()
			pool.Put(b)
		}}
	}},
	{"bytebufferpool", func(int) server {
		var pool bytebufferpool.Pool
		return server{serve: func() {
			b := pool.Get()
			fillTheirs(b)
			pool.Put(b)
		}}
	}},
}

// workers returns a server whose workers each keep an object of their own.
func workers[S any](limit int, open func() S, serve func(S)) server {
	pool := weir.NewStateful(limit,
		func() (S, error) { return open(), nil },
		func(own S, _ struct{}) { serve(own) },
		nil)
	return server{
		serve: func() { must(pool.Call(context.Background(), struct{}{})) },
		all: func(n int) {
			for range n {
				must(pool.Invoke(struct{}{}))
			}
			pool.Wait()
		},
		close: pool.Close,
	}
}

// A request is the object that a server needs for each call: a few fields, and 1024 bytes of working memory,
// which must be clean.
type request struct {
	id     int
	header map[string]string
	body   []byte
}

func newRequest() *request {
	return &request{header: make(map[string]string, 4), body: make([]byte, 0, 1024)}
}

func (r *request) serve() {
	r.id++
	r.header["host"] = "example.org"
	r.body = append(r.body, message...)
	sink(r.body)
}

func (r *request) reset() {
	r.id = 0
	clear(r.header)
	r.body = r.body[:0]
}

var message = bytes.Repeat([]byte("a line of text\n"), 60)

func newBuffer() *bytes.Buffer { return new(bytes.Buffer) }

func fill(b *bytes.Buffer) {
	for line := range bytes.Lines(message) {
		b.Write(line)
	}
	sink(b.Bytes())
}

// fillTheirs is a copy of fill: an interface would slow down both.
func fillTheirs(b *bytebufferpool.ByteBuffer) {
	for line := range bytes.Lines(message) {
		_, err := b.Write(line)
		must(err)
	}
	sink(b.Bytes())
}

// sink makes the compiler believe that the program reads the bytes.
//
//go:noinline
func sink([]byte) {}
