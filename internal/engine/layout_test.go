package engine_test

import (
	"strconv"
	"testing"

	"github.com/64ed045f/weir/internal/engine"
)

// Producers write the tail of a ring, consumers its head, all of them the
// permits. With two of them on a pair of cache lines each write would take the
// line from the others.
func TestHotWordsAreACacheLineApart(t *testing.T) {
	tail, head, end, permits, mutex, size := engine.Layout()
	for name, distance := range map[string]uintptr{
		"ring: tail from the fields that all read": tail,
		"ring: head from tail":                     head,
		"ring: head from what lies behind":         end,
		"engine: permits from what all read":       permits,
		"engine: mutex from permits":               mutex,
	} {
		if distance < engine.CacheLine {
			t.Errorf("%s: %d bytes, want at least %d", name, distance, engine.CacheLine)
		}
	}
	if size > 736 { // with the 8 bytes that the allocator adds, a size class
		t.Errorf("an engine takes %d bytes, which leaves a pool too little of its 1 KiB", size)
	}
}

func TestAWorkerSharesNoCacheLine(t *testing.T) {
	if size := engine.WorkerSize(); strconv.IntSize == 64 && (size <= 176 || size > 192) { // size classes of the allocator
		t.Errorf("it takes %d bytes, and so shares a cache line with another object, or takes a fourth line", size)
	}
}
