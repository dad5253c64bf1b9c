package weirprom_test

import (
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/64ed045f/weir"
)

// BenchmarkScrape measures what a registry takes to gather the metrics of pools, of as many names or of one.
func BenchmarkScrape(b *testing.B) {
	for _, names := range []string{"own", "shared"} {
		for _, n := range []int{1, 10, 100, 1000} {
			b.Run(fmt.Sprintf("names=%s/pools=%d", names, n), func(b *testing.B) {
				s := register(prometheus.NewRegistry(), named(b.Name()))
				for i := range n {
					name := b.Name()
					if names == "own" {
						name += fmt.Sprint(" ", i)
					}
					p := weir.New(4, weir.Name(name), weir.Measure(1))
					b.Cleanup(p.Close)
					run(b, p, 100)
				}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := s.Gather(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/pool")
			})
		}
	}
}
