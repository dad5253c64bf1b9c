package suite

import (
	"bytes"
	"runtime"
	"sync"
	"time"

	"github.com/64ed045f/weir/lab/internal/record"
)

var reuseSuite = Suite{
	Name:    "reuse",
	Title:   "Reuse of objects (document 002)",
	About:   "A request's context with a buffer of 1 KB, and a service that fills a bytes.Buffer: made anew each time, or taken from a pool.",
	LeftOut: "GOMAXPROCS other than the number of cores",
	Experiments: func(s Scale) []Experiment {
		var list []Experiment
		for _, procs := range s.procs() {
			list = append(list, reuse(s, procs, "context", []strategy{
				{"new", func() func() { return func() { newRequest().serve() } }},
				{"sync.Pool", func() func() {
					pool := sync.Pool{New: func() any { return newRequest() }}
					return func() {
						r := pool.Get().(*request)
						r.serve()
						r.reset()
						pool.Put(r)
					}
				}},
			}), reuse(s, procs, "buffer", []strategy{
				{"new", func() func() { return func() { fill(new(bytes.Buffer)) } }},
				{"sync.Pool", func() func() {
					pool := sync.Pool{New: func() any { return new(bytes.Buffer) }}
					return func() {
						b := pool.Get().(*bytes.Buffer)
						fill(b)
						b.Reset()
						pool.Put(b)
					}
				}},
			}))
		}
		return list
	},
}

// A strategy is a way to come by an object: open makes what it needs, and returns
// what serves one request.
type strategy struct {
	name string
	open func() (serve func())
}

func reuse(s Scale, procs int, experiment string, strategies []strategy) Experiment {
	e := Experiment{
		ID:     record.ID{Experiment: experiment, Procs: procs},
		About:  "one request, served by as many goroutines as there are processors",
		Rounds: s.rounds(shortTurn), Turn: shortTurn,
	}
	for _, way := range strategies {
		e.Contenders = append(e.Contenders, Contender{Name: way.name, Measure: func(m *Meter) error {
			serve := way.open()
			var before, after runtime.MemStats
			m.throughput(func(n int) {
				runtime.ReadMemStats(&before)
				var live sync.WaitGroup
				workers := runtime.GOMAXPROCS(0)
				for k := range workers {
					live.Go(func() {
						for range (k+1)*n/workers - k*n/workers {
							serve()
						}
					})
				}
				live.Wait()
				runtime.ReadMemStats(&after)
			})
			m.set("gc/Mop", float64(after.NumGC-before.NumGC)/float64(m.N)*1e6)
			m.set("pause-ns/op", float64(time.Duration(after.PauseTotalNs-before.PauseTotalNs))/float64(m.N))
			return nil
		}})
	}
	return e
}

// A request is what a server makes of each call: a few fields, and 1024 bytes to
// work in, which it must not find dirty.
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

func fill(b *bytes.Buffer) {
	for line := range bytes.Lines(message) {
		b.Write(line)
	}
	sink(b.Bytes())
}

// sink makes the compiler believe that somebody reads the bytes.
//
//go:noinline
func sink([]byte) {}
