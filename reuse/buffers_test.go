package reuse_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"unsafe"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

const (
	smallestKept = 64
	largestKept  = 64 << 20
)

// again is how often a test puts something and looks for it: a sync.Pool may lose things,
// and under the race detector loses one in four.
const again = 64

// roundUp returns the power of two that has room for n, of at least the smallest size.
func roundUp(n int) int {
	size := smallestKept
	for size < n {
		size *= 2
	}
	return size
}

// first tells where an array is.
func first(s []byte) *byte { return unsafe.SliceData(s) }

func TestGetHasTheLengthThatIsAskedForAndRoomForAPowerOfTwo(t *testing.T) {
	var b reuse.Buffers
	sizes := []int{0, 1, 2, 63, 64, 65, 100, 127, 128, 129, 1000, 1024, 1025, 32 << 10, 32<<10 + 1, 1<<20 - 1, 1 << 20, 1<<20 + 1}
	if !testing.Short() {
		sizes = append(sizes, largestKept-1, largestKept)
	}
	for range 2 { // of new ones, and of those that were put
		for _, n := range sizes {
			s := b.Get(n)
			check.Equal(t, "length", len(s), n)
			check.Equal(t, "room", cap(s), roundUp(n))
			if s == nil {
				t.Errorf("Get(%d) is nil", n)
			}
			b.Put(s)
		}
	}
}

func TestBeyondTheLargestSizeNothingIsKept(t *testing.T) {
	var b reuse.Buffers
	huge := b.Get(largestKept + 1)
	check.Equal(t, "length", len(huge), largestKept+1)
	for range again {
		b.Put(huge) // more than once, since it is not kept
		b.PutBuffer(bytes.NewBuffer(huge[:0]))
	}
	for _, n := range []int{largestKept, largestKept + 1} {
		if first(b.Get(n)) == first(huge) {
			t.Errorf("Get(%d) returns a slice of %d bytes that was put", n, len(huge))
		}
	}
}

func TestASliceFromAnywhereIsKeptForWhatItHasRoomFor(t *testing.T) {
	var b reuse.Buffers
	for _, room := range []int{64, 65, 127, 128, 1000, 1023, 1024, 1500, 4097, 100_000, 1<<20 + 8191} {
		for _, length := range []int{0, 1, room} {
			fits := roundUp(room)
			if fits > room {
				fits /= 2
			}
			found, put := false, map[*byte]bool{} // where another core gets the one put last, this one gets one of those before
			for range again {
				s := make([]byte, length, room)
				if !found {
					put[first(s)] = true
				}
				b.Put(s)
				if room < largestKept && first(b.Get(fits+1)) == first(s) {
					t.Fatalf("a slice with room for %d is handed out for %d", room, fits+1)
				}
				got := b.Get(fits - 1)
				check.Equal(t, "length", len(got), fits-1)
				check.Equal(t, "room", cap(got), fits)
				found = found || put[first(got)]
			}
			if !found {
				t.Errorf("a slice with room for %d, and length %d, is not kept", room, length)
			}
		}
	}
}

func TestBuffersOfAnyRoomMayBePut(t *testing.T) {
	var b reuse.Buffers
	for _, n := range []int{0, 64, 128, 1024, 64 << 10, 1 << 20} {
		for more := range 33 {
			for _, length := range []int{0, n, n + more} {
				for range 2 {
					b.PutBuffer(bytes.NewBuffer(make([]byte, length, n+more)))
					buffer := b.GetBuffer()
					check.Equal(t, "length", buffer.Len(), 0)
					if buffer.Cap() < smallestKept {
						t.Errorf("there is room for %d", buffer.Cap())
					}
				}
			}
		}
	}
}

func TestSlicesThatAreTooSmallAreNotKept(t *testing.T) {
	var b reuse.Buffers
	b.Put(nil)
	for _, room := range []int{0, 1, 63} {
		s := make([]byte, room)
		for range again {
			b.Put(s)
			b.PutBuffer(bytes.NewBuffer(s))
			if room > 0 && (first(b.Get(room)) == first(s) || first(b.GetBuffer().AvailableBuffer()) == first(s)) {
				t.Fatalf("a slice of %d bytes is kept", room)
			}
		}
	}
	if b.Get(0) == nil {
		t.Error("nil is kept")
	}
}

func TestPartsOfAnArrayMayBePutOneByOne(t *testing.T) {
	var b reuse.Buffers
	array := make([]byte, 1000)
	const border = 301
	for range again {
		b.Put(array[:border:border])
		b.Put(array[border:])
		low, high := b.Get(256), b.Get(512)
		clear(array)
		for i := range low[:cap(low)] {
			low[:cap(low)][i] = 1
		}
		for i := range high[:cap(high)] {
			high[:cap(high)][i] = 2
		}
		if bytes.Contains(array[:border], []byte{2}) || bytes.Contains(array[border:], []byte{1}) {
			t.Fatal("a part reaches into the other one")
		}
	}
}

func TestMemoryInUseHasOneUser(t *testing.T) {
	var b reuse.Buffers
	var users sync.WaitGroup
	for user := range 8 {
		users.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(user)))
			mine := byte(user + 1)
			text := bytes.Repeat([]byte{mine}, 5000)
			for range check.Scale(2_000, 500) {
				s := b.Get(r.IntN(3000))
				buffer := b.GetBuffer()
				check.Equal(t, "length", buffer.Len(), 0)
				copy(s, text)
				buffer.Write(text[:r.IntN(len(text))])
				for _, held := range [][]byte{s, buffer.Bytes()} {
					if bytes.Count(held, []byte{mine}) != len(held) {
						t.Error("another user has written to it")
						return
					}
				}
				if r.IntN(2) == 0 {
					buffer.Reset()
				}
				b.Put(s)
				b.PutBuffer(buffer)
			}
		})
	}
	users.Wait()
}

func TestBuffersAllocateNothingInTheSteadyState(t *testing.T) {
	if check.Race {
		t.Skip("the race detector loses objects on purpose")
	}
	var b reuse.Buffers
	content := make([]byte, 100_000)
	for _, size := range []int{0, 1, 64, 1000, 1024, 5000, 100_000} {
		for name, op := range map[string]func(){
			"slice": func() { b.Put(b.Get(size)) },
			"grown": func() { b.Put(append(b.Get(size), 1)) },
			"buffer": func() {
				buffer := b.GetBuffer()
				buffer.Write(content[:size])
				b.PutBuffer(buffer)
			},
			"buffer that is reset": func() {
				buffer := b.GetBuffer()
				buffer.Write(content[:size])
				buffer.Reset()
				b.PutBuffer(buffer)
			},
		} {
			for range 20_000 { // until the size is learned
				op()
			}
			const ops = 1000
			got := testing.AllocsPerRun(10, func() {
				for range ops {
					op()
				}
			}) / ops
			full := name == "grown" && cap(b.Get(size)) == size // append must allocate
			if got > 0.02 && !full {
				t.Errorf("%s of %d bytes: %.3f allocations", name, size, got)
			}
		}
	}
}

func TestBuffersThatAreOutgrownByALittleAreUsedAgain(t *testing.T) {
	if check.Race {
		t.Skip("the race detector loses objects on purpose")
	}
	var b reuse.Buffers
	uses := 0
	op := func() {
		size := 200
		if uses++; uses%50 == 0 {
			size = 400
		}
		use(&b, size, returns["as written"])
	}
	for range 20_000 {
		op()
	}
	const ops = 1000
	got := testing.AllocsPerRun(10, func() {
		for range ops {
			op()
		}
	}) / ops
	if got > 0.01 {
		t.Errorf("%.3f allocations, of 0.02 that outgrow their buffer", got)
	}
}

func TestBuffersTake2KiB(t *testing.T) {
	if size := unsafe.Sizeof(reuse.Buffers{}); size > 2304 {
		t.Errorf("they take %d bytes", size)
	}
}

func TestBuffersWorkInBubbles(t *testing.T) {
	var b reuse.Buffers
	for range 2 {
		synctest.Test(t, func(*testing.T) {
			var users sync.WaitGroup
			for range 4 {
				users.Go(func() {
					for size := range 1000 {
						b.Put(b.Get(size))
						buffer := b.GetBuffer()
						buffer.Write(make([]byte, size))
						b.PutBuffer(buffer)
					}
				})
			}
			users.Wait()
		})
	}
}

func TestSizesBelowZeroPanic(t *testing.T) {
	var b reuse.Buffers
	check.Panics(t, "reuse: size must be at least 0, got -1", func() { b.Get(-1) })
	check.Panics(t, "reuse: size must be at least 0, got -64", func() { b.Get(-64) })
}

func TestASizeThatNoMachineHasPanicsAsMakeDoes(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("a machine may well have 2 GiB")
	}
	var b reuse.Buffers
	if check.Caught(func() { b.Get(math.MaxInt) }) == nil {
		t.Error("Get returns")
	}
}
