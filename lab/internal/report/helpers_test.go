package report_test

import (
	"fmt"
	"math"
	"strconv"

	"github.com/64ed045f/weir/lab/internal/record"
)

func set(pairs ...string) []record.Setting {
	var list []record.Setting
	for k := 0; k+1 < len(pairs); k += 2 {
		list = append(list, record.Setting{Key: pairs[k], Value: pairs[k+1]})
	}
	return list
}

// A bench collects made-up results: each figure for ten rounds that differ a little.
type bench struct {
	file   record.File
	rounds int
	noise  float64
}

func newBench() *bench {
	return &bench{rounds: 10, noise: 0.01, file: record.File{Settings: set(
		"cpu", "Some CPU @ 3.00GHz", "cores", "2", "memory", "8.0 GiB", "goos", "linux", "goarch", "amd64",
		"go-version", "go1.26.8", "date", "2026-10-01", "command", "go run ./lab -full",
		"left-out", "dispatch: GOMAXPROCS other than the number of cores",
		"version-ants", "github.com/panjf2000/ants/v2 v2.12.1", "version-pond", "github.com/alitto/pond/v2 v2.7.1",
		"file", "2026-10-01.txt",
	)}}
}

// add appends a peer's results in all rounds: pairs of a unit and its median.
func (b *bench) add(id record.ID, pairs ...any) {
	for round := range b.rounds {
		off := 1 + b.noise*(float64(round)-float64(b.rounds-1)/2)/float64(max(1, b.rounds-1))*2
		r := record.Result{ID: id, N: 100}
		for k := 0; k+1 < len(pairs); k += 2 {
			r.Values = append(r.Values, record.Value{Unit: pairs[k].(string), Value: pairs[k+1].(float64) * off})
		}
		b.file.Results = append(b.file.Results, r)
	}
}

func (b *bench) note(id record.ID, verdict, title, detail string) {
	b.file.Results = append(b.file.Results, record.Result{
		ID: id, N: 1, Values: []record.Value{{Unit: "ns/op", Value: 1}},
		Notes: set("verdict", verdict, "title", title, "detail", detail),
	})
}

func id(suite, experiment, peer string, procs int, params ...string) record.ID {
	return record.ID{Suite: suite, Experiment: experiment, Params: set(params...), Peer: peer, Procs: procs}
}

var handOver = []struct {
	peer string
	ns   float64
}{
	{"weir.Pool", 18.2}, {"weir.FuncPool", 16.9}, {"weir.Group", 24.5}, {"go", 243}, {"semaphore", 391},
	{"errgroup", 306}, {"conc", 247}, {"ants", 415}, {"ants.func", 388}, {"pond", 136}, {"workerpool", 610}, {"gopool", 146},
}

// complete has every experiment, with figures like those of a machine with 2 cores.
func complete() record.File {
	b := newBench()
	for _, procs := range []int{1, 2, 4, 8} {
		for _, producers := range []string{"1", "all"} {
			for k, limit := range []string{"2", "64", "50000"} {
				if procs == 1 && producers == "all" {
					continue
				}
				for i, p := range handOver {
					factor := 1 + 0.1*float64(k) + 0.05*float64(procs) + 0.03*float64(i)
					b.add(id("dispatch", "empty", p.peer, procs, "limit", limit, "producers", producers),
						"ns/op", p.ns*factor, "B/op", float64(i/4*8), "allocs/op", float64(i/4))
				}
			}
		}
	}
	for _, pause := range []string{"0s", "1ms"} {
		for _, p := range handOver {
			ns := 900 + p.ns
			b.add(id("dispatch", "lone", p.peer, 2, "pause", pause), "ns/op", ns, "p99-ns", 7*ns, "p99.9-ns", 40*ns)
		}
	}
	for _, p := range handOver[2:6] {
		b.add(id("dispatch", "group", p.peer, 2, "limit", "64", "producers", "1", "closure", "none"),
			"ns/op", p.ns*1.3, "B/op", 0.0, "allocs/op", 0.0)
	}
	b.add(id("dispatch", "loop", "weir.Range", 2, "items", "1000000"), "ns/op", 1.21e6)
	b.add(id("dispatch", "loop", "go", 2, "items", "1000000"), "ns/op", 1.19e6)
	b.add(id("dispatch", "loop", "conc.iter", 2, "items", "1000000"), "ns/op", 24e6)
	b.add(id("dispatch", "loop", "inplace", 2, "items", "1000000"), "ns/op", 2.3e6)
	b.add(id("dispatch", "loop", "weir.Each", 2, "items", "1000000"), "ns/op", 2.4e6)
	for k, peer := range []string{"weir.Range", "weir.Each", "go", "conc.iter", "inplace"} {
		b.add(id("dispatch", "skewed", peer, 2, "items", "10000"), "ns/op", 7e6+float64(k)*1e6)
	}
	for k, peer := range []string{"weir.Results", "go", "errgroup", "conc.result", "pond.result"} {
		b.add(id("dispatch", "results", peer, 2, "tasks", "10000", "limit", "64"), "ns/op", 100+float64(k)*200)
	}
	for k, peer := range []string{"weir.Stream", "go", "conc.stream"} {
		b.add(id("dispatch", "stream", peer, 2, "items", "100000"), "ns/op", 60+float64(k)*200)
	}
	for k, peer := range []string{"weir.Group", "weir.Sort", "go", "errgroup", "inplace"} {
		b.add(id("dispatch", "sort", peer, 2, "items", "10000000"), "ns/op", 4.2e8+float64(k)*1e8, "peak-B", 1e8)
	}
	for k, peer := range []string{"inplace", "go", "weir.Group", "errgroup"} {
		b.add(id("dispatch", "nested", peer, 2, "fibonacci", "27"), "ns/op", 2e6+float64(k)*3e8, "peak-B", 1e8)
	}
	for k, p := range handOver {
		b.add(id("dispatch", "forkjoin", p.peer, 2, "tasks", "10"), "ns/op", 7000+p.ns*12, "B/op", float64(k*12), "allocs/op", float64(k))
		b.add(id("dispatch", "newclose", p.peer, 2, "limit", "64"), "ns/op", p.ns*30, "B/op", 300+float64(k)*700, "allocs/op", float64(k+2))
		b.add(id("dispatch", "idlepools", p.peer, 2, "pools", "10000"), "B/pool", 500+float64(k)*1700, "goroutines/pool", float64(k/3))
	}
	b.add(id("dispatch", "forkjoin", "inplace", 2, "tasks", "10"), "ns/op", 7400.0, "B/op", 0.0, "allocs/op", 0.0)
	sleepers := func(suite, experiment string, procs int, scale float64, params ...string) {
		for k, p := range handOver {
			memory := []float64{9e6, 8.4e6, 9.1e6, 640e6, 120e6, 104e6, 8.7e6, 29e6, 28e6, 61e6, 19e6, 24e6}[k]
			b.add(id(suite, experiment, p.peer, procs, params...), "ns/op", scale*(7e8+p.ns*1.4e6), "B/op", memory/3*scale,
				"allocs/op", 1e6*scale*float64(k)/5, "peak-B", memory*scale, "peak-goroutines", 50_000.0)
		}
	}
	sleepers("seeds", "sleep", 2, 1, "tasks", "1000000", "limit", "50000")
	sleepers("seeds", "sleep", 2, 10, "tasks", "10000000", "limit", "50000")
	sleepers("seeds", "throughput", 2, 0.1, "tasks", "100000", "limit", "50000")
	sleepers("survey", "sleep", 1, 1.4, "tasks", "1000000", "limit", "50000")
	sleepers("survey", "sleep", 2, 1, "tasks", "1000000", "limit", "50000")
	for _, p := range handOver[:8] {
		b.add(id("survey", "md5", p.peer, 2), "ns/op", 2e8+p.ns*1e5)
	}
	for _, column := range []string{"reuse", "context", "wait", "errors", "resize"} {
		for k, library := range []string{"weir", "errgroup", "conc", "ants", "pond"} {
			verdict := "pass"
			if (k+len(column))%3 == 0 && library != "weir" {
				verdict = "fails"
			}
			b.note(id("survey", "feature", library, 2, "column", column), verdict, column, "as measured by a program")
		}
	}
	costs(b)
	for _, procs := range []int{1, 2} {
		b.add(id("reuse", "context", "new", procs), "ns/op", 285/float64(procs), "B/op", 1024.0, "allocs/op", 1.0, "gc/Mop", 220.0, "pause-ns/op", 12.0)
		b.add(id("reuse", "context", "sync.Pool", procs), "ns/op", 96/float64(procs), "B/op", 0.08, "allocs/op", 7e-5, "gc/Mop", 1.0, "pause-ns/op", 0.3)
		b.add(id("reuse", "context", "weir.reuse.Pool", procs), "ns/op", 99/float64(procs), "B/op", 0.08, "allocs/op", 7e-5, "gc/Mop", 1.0, "pause-ns/op", 0.3)
	}
	for _, load := range []string{"log-normal", "shift"} {
		for k, peer := range []string{"weir.reuse.Buffers", "new", "sync.Pool", "bytebufferpool"} {
			b.add(id("reuse", "sizes", peer, 2, "load", load), "ns/op", []float64{1500, 13_000, 600, 700}[k], "B/op", 4e3, "allocs/op", 1.0,
				"heap-B", []float64{33e6, 8e6, 99e6, 110e6}[k])
		}
	}
	for _, goroutines := range []string{"1", "64"} {
		b.add(id("reuse", "keeper", "weir.reuse.Keeper", 2, "goroutines", goroutines, "capacity", "8"), "ns/op", 53.0, "B/op", 0.0, "allocs/op", 0.0)
		b.add(id("reuse", "keeper", "puddle", 2, "goroutines", goroutines, "capacity", "8"), "ns/op", 116.0, "B/op", 0.0, "allocs/op", 0.0)
	}
	scenarios(b)
	return b.file
}

func costs(b *bench) {
	for _, procs := range []int{1, 2} {
		for _, roots := range []int{1, 10, 100, 1000, 5000} {
			for _, tasks := range []int{1000, 10_000, 100_000, 700_000} {
				params := []string{"roots", strconv.Itoa(roots), "tasks", strconv.Itoa(tasks)}
				length := 5.1 * float64(roots)
				share := length / float64(procs)
				start := 1 + 300/float64(tasks)
				b.add(id("cost", "curve", "inplace", procs, params...), "ns/op", length)
				b.add(id("cost", "curve", "go", procs, params...), "ns/op", (share+230+20*math.Log10(float64(tasks)))*start)
				b.add(id("cost", "curve", "weir.Pool", procs, params...), "ns/op", (share+18)*start)
				b.add(id("cost", "curve", "weir.FuncPool", procs, params...), "ns/op", (share+16)*start)
				b.add(id("cost", "curve", "ants", procs, params...), "ns/op", (share+400)*start)
			}
		}
	}
}

func scenarios(b *bench) {
	titles := []string{"limit 1 and tasks that call Goexit", "shrink from 4 idle workers to 1, then submit 4", "a nil task"}
	for k := range 23 {
		title := titles[k%len(titles)]
		for i, library := range []string{"weir", "errgroup", "conc", "ants", "pond", "workerpool", "gopool"} {
			verdict, detail := "pass", ""
			switch {
			case i == 0:
			case (k+i)%5 == 0:
				verdict, detail = "hangs", "stood still after 1 204 331 tasks, with 1 task in the queue and no worker awake"
			case (k+i)%4 == 0:
				verdict, detail = "fails", "4 tasks ran at once under a limit of 1"
			case (k+i)%7 == 0:
				verdict, detail = "crashes", "panic: send on closed channel"
			case (k+i)%3 == 0:
				verdict = "not offered"
			}
			b.note(id("behaviour", fmt.Sprintf("%02d", k+1), library, 2), verdict, title, detail)
		}
	}
}

// unmeasured has a scenario and a feature of which measurements came to no end.
func unmeasured() *bench {
	b := newBench()
	b.note(id("behaviour", "01", "weir", 2), "pass", "one", "")
	b.note(id("survey", "feature", "weir", 2, "column", "reuse"), "pass", "reuse", "")
	b.file.Results = append(b.file.Results,
		record.Failed(id("behaviour", "01", "ants", 2), "no end after 20s"),
		record.Failed(id("survey", "feature", "conc", 2, "column", "reuse"), "it was killed"))
	return b
}
