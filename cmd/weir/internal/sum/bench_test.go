package sum_test

import (
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/64ed045f/weir/cmd/weir/internal/sum"
)

func BenchmarkSmallFiles(b *testing.B) {
	const files = 1000
	b.Chdir(b.TempDir())
	content := make([]byte, 4096)
	for i := range files {
		if err := os.WriteFile(fmt.Sprint(i), content, 0o666); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	b.SetBytes(files * int64(len(content)))
	for b.Loop() {
		benchmarkDigest(b)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/files, "ns/file")
}

func BenchmarkBigFiles(b *testing.B) {
	const files, size = 4, 32 << 20
	b.Chdir(b.TempDir())
	for i := range files {
		if err := os.WriteFile(fmt.Sprint(i), make([]byte, size), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	b.SetBytes(files * size)
	for b.Loop() {
		benchmarkDigest(b)
	}
}

func benchmarkDigest(b *testing.B) {
	b.Helper()
	if err := sum.Digest(b.Context(), defaults, sum.Streams{Out: io.Discard, Err: io.Discard}, []string{"."}); err != nil {
		b.Fatal(err)
	}
}
