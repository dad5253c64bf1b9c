package exporter_test

import (
	"fmt"
	"strings"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/exporter"
)

// begin makes a pool that has had a task.
func begin(name string) *weir.Pool {
	p := weir.New(2, weir.Name(name), weir.Measure(1))
	if err := p.Submit(func() {}); err != nil {
		panic(err)
	}
	p.Wait()
	return p
}

// An exporter for StatsD, whose counters are differences.
func Example() {
	pools := exporter.NewPools()
	finished := make(map[string]uint64)
	export := func() {
		for _, t := range pools.Look() {
			fmt.Printf("weir.limit:%d|g|#pool:%s\n", t.Limit, t.Name)
			fmt.Printf("weir.finished:%d|c|#pool:%s\n", t.Finished-finished[t.Name], t.Name)
			finished[t.Name] = t.Finished
		}
	}

	mail := begin("mail")
	export()
	mail.Close()
	export()
	// Output:
	// weir.limit:2|g|#pool:mail
	// weir.finished:1|c|#pool:mail
	// weir.limit:0|g|#pool:mail
	// weir.finished:0|c|#pool:mail
}

func ExampleNewPools() {
	pools := exporter.NewPools()
	for _, name := range []string{"mail", "", "thumbnails", "mail"} {
		defer begin(name).Close()
	}
	for _, t := range pools.Look() {
		fmt.Println(t.Name, t.Pools, t.Accepted)
	}
	// Output:
	// mail 2 2
	// unnamed 1 1
	// thumbnails 1 1
}

// Each job has a pool of its own.
func ExamplePools_Look() {
	pools := exporter.NewPools()
	for range 3 {
		p := begin("job")
		t := pools.Look()[0]
		fmt.Println(t.Name, t.Pools, t.Finished)
		p.Close()
	}
	t := pools.Look()[0]
	fmt.Println(t.Name, t.Pools, t.Finished)
	// Output:
	// job 1 1
	// job 1 2
	// job 1 3
	// job 0 3
}

func ExampleOnly() {
	for _, name := range []string{"mail", "scratch"} {
		defer begin(name).Close()
	}
	pools := exporter.NewPools(exporter.Only(func(p weir.PoolInfo) bool { return p.Name != "scratch" }))
	for _, t := range pools.Look() {
		fmt.Println(t.Name)
	}
	// Output: mail
}

func ExampleMaxNames() {
	for i := range 5 {
		defer begin(fmt.Sprint("tenant ", i)).Close()
	}
	for _, t := range exporter.NewPools(exporter.MaxNames(2)).Look() {
		fmt.Println(t.Name, t.Pools)
	}
	// Output:
	// tenant 0 1
	// tenant 1 1
	// other 3
}

func ExampleClean() {
	for i := range 3 {
		defer begin(fmt.Sprint("shard-", i)).Close()
	}
	kind := func(name string) string { return strings.TrimRight(name, "-0123456789") }
	for _, t := range exporter.NewPools(exporter.Clean(kind)).Look() {
		fmt.Println(t.Name, t.Pools)
	}
	// Output: shard 3
}

// Some systems want to know how many durations do not exceed each of a few bounds.
func ExampleHistogram() {
	for range 3 {
		defer begin("measured").Close()
	}
	run := exporter.NewPools().Look()[0].Run
	var upTo4s uint64
	for i, n := range run.Buckets() {
		if i <= 8 { // bucket 8 ends at 2^(8/4) s
			upTo4s += n
		}
	}
	fmt.Println(upTo4s, "of", run.Count(), "tasks")
	fmt.Println("all took less than 4 s:", run.Sum() < 4)
	// Output:
	// 3 of 3 tasks
	// all took less than 4 s: true
}
