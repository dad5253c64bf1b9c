package weir

import (
	"math/bits"
	"testing"
	"unsafe"

	"github.com/64ed045f/weir/internal/race"
)

// The runtime gives larger objects with pointers a header. The code for that would run for little else in a
// program whose groups are small: after a pause, it would have to come from memory.
func TestABatchHasNoHeaderInMemory(t *testing.T) {
	if size := unsafe.Sizeof(batch{}); bits.UintSize == 64 && !race.Enabled && size > 512 {
		t.Errorf("%d bytes", size)
	}
}
