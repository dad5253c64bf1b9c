//go:build (amd64 || arm64) && !race

package weir

import (
	"testing"
	"unsafe"

	"github.com/64ed045f/weir/internal/check"
)

// The runtime gives larger objects with pointers a header. The code for that would run for little else in a
// program whose groups are small: after a pause, it would have to come from memory. Nor would a batch begin on a
// cache line then. So the words that callers of Go write for each task stand in no two lines, which the processor
// fetches together, with those that workers read or write for each. Under the race detector a batch has more fields.
func TestABatchHasNoHeaderAndKeepsWordsOfDifferentCoresApart(t *testing.T) {
	var b batch
	check.Equal(t, "size", unsafe.Sizeof(b), 512)
	const lines = 128
	written := unsafe.Offsetof(b.intake)
	check.Equal(t, "the last line", (written+unsafe.Sizeof(b.intake)-1)/lines, written/lines)
	for what, at := range map[string]uintptr{
		"group":  unsafe.Offsetof(b.group),
		"ctx":    unsafe.Offsetof(b.ctx),
		"ending": unsafe.Offsetof(b.scope) + unsafe.Offsetof(b.scope.ending),
		"lasts":  unsafe.Offsetof(b.scope) + unsafe.Offsetof(b.scope.lasts),
		"tally":  unsafe.Offsetof(b.tally),
	} {
		if at/lines == written/lines {
			t.Errorf("%s is at %d, and the count of tasks that begin at %d", what, at, written)
		}
	}
}
