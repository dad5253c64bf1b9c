package reuse_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

// These are what GetBuffer says, with room for chance: below 64 KiB 1 return in 16 is looked
// at, so that n of them take 16 n ± 16 √n; here 16 n + 8 · 16 √n.
const (
	returnsFirst     = 10
	returnsUp        = 16*9 + 128*3
	returnsDown      = 16*511 + 128*23
	returnsDownBulky = 512
)

var content = make([]byte, 8<<10)

// returns are ways in which a buffer may have been used when it comes back.
var returns = map[string]func(*bytes.Buffer){
	"as written": func(*bytes.Buffer) {},
	"reset":      func(buffer *bytes.Buffer) { buffer.Reset() },
	"truncated":  func(buffer *bytes.Buffer) { buffer.Truncate(0) },
	"written on": func(buffer *bytes.Buffer) { _, _ = buffer.WriteTo(io.Discard) },
	"read":       func(buffer *bytes.Buffer) { _, _ = io.ReadAll(buffer) },
	"half read":  func(buffer *bytes.Buffer) { buffer.Next(buffer.Len() / 2) },
}

// use takes a buffer, writes to it, and puts it back. It returns what room there was.
func use(b *reuse.Buffers, size int, before func(*bytes.Buffer)) (room int) {
	buffer := b.GetBuffer()
	room = buffer.Cap()
	for rest := size; rest > 0; rest -= min(rest, len(content)) {
		buffer.Write(content[:min(rest, len(content))])
	}
	before(buffer)
	b.PutBuffer(buffer)
	return room
}

func TestGetBufferHasTheRoomThatIsNeeded(t *testing.T) {
	for name, before := range returns {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 64, 65, 128, 1000, 1024, 1025, 4000, 30_000, 100_000} {
				var b reuse.Buffers
				for range 2 * returnsFirst {
					use(&b, size, before)
				}
				for range 100 {
					if room := use(&b, size, before); room < size || room >= 4*roundUp(size) {
						t.Fatalf("for %d bytes there is room for %d", size, room)
					}
				}
			}
		})
	}
}

func TestAFirstUserIsLearnedFromAtOnce(t *testing.T) {
	var b reuse.Buffers
	for range returnsFirst {
		use(&b, 5000, returns["reset"])
	}
	if room := use(&b, 5000, returns["reset"]); room < 5000 {
		t.Errorf("after %d uses there is room for %d, not 5000", returnsFirst, room)
	}
}

func TestAShiftOfSizesIsFollowed(t *testing.T) {
	for name, before := range returns {
		t.Run(name, func(t *testing.T) {
			for _, shift := range []struct{ from, to, within int }{
				{256, 300, returnsUp},
				{256, 60_000, returnsUp},
				{60_000, 70_000, returnsUp},
				{300, 200, returnsDown},
				{60_000, 256, returnsDown},
				{60_000, 20, returnsDown},
				{250_000, 100_000, returnsDownBulky},
				{250_000, 256, returnsDownBulky},
			} {
				if shift.within == returnsDown && name != "as written" && name != "reset" {
					continue // that takes long, and all others are like one of these
				}
				var b reuse.Buffers
				for range 2 * returnsFirst {
					use(&b, shift.from, before)
				}
				for range shift.within {
					use(&b, shift.to, before)
				}
				if room := use(&b, shift.to, before); room < shift.to || room >= 4*roundUp(shift.to) {
					t.Errorf("from %d to %d bytes: after %d returns there is room for %d", shift.from, shift.to, shift.within, room)
				}
			}
		})
	}
}

func TestAFewHugeOnesDoNotMakeAllHuge(t *testing.T) {
	for name, before := range returns {
		t.Run(name, func(t *testing.T) {
			var b reuse.Buffers
			r := rand.New(rand.NewPCG(1, 2))
			total, huge := check.Scale(20_000, 10_000), 0
			for i := range total {
				size := 200
				if r.IntN(400) == 0 {
					size = 100_000
				}
				if use(&b, size, before) > 1024 && i > total/2 {
					huge++
				}
			}
			if huge > total/100 {
				t.Errorf("of %d buffers %d are huge", total/2, huge)
			}
		})
	}
}

func TestFewAreOutgrown(t *testing.T) {
	for name, before := range returns {
		t.Run(name, func(t *testing.T) {
			var b reuse.Buffers
			r := rand.New(rand.NewPCG(1, 2))
			const first, then = 20_000, 10_000
			outgrown := 0
			for i := range first + then {
				size := 200
				if r.IntN(10) == 0 {
					size = 2000
				}
				if use(&b, size, before) < size && i >= first {
					outgrown++
				}
			}
			if outgrown > then/32 {
				t.Errorf("of %d buffers %d are outgrown", then, outgrown)
			}
		})
	}
}

// TestBetweenTheLimitsTheSizeStays has 6 or 7 in a window of 256 that need more: too few for
// a larger size, too many for a smaller one.
func TestBetweenTheLimitsTheSizeStays(t *testing.T) {
	for _, prime := range []int{100_000, 200_000} {
		var b reuse.Buffers
		for range 2 * returnsFirst {
			use(&b, prime, returns["as written"])
		}
		for i := range 10 * 256 {
			size := 100_000
			if i%42 == 0 {
				size = 200_000
			}
			use(&b, size, returns["as written"])
		}
		b.GetBuffer() // may have been outgrown; the next one is new
		check.Equal(t, "room", b.GetBuffer().Cap(), roundUp(prime))
	}
}

func TestOneHugeBufferAloneChangesNothing(t *testing.T) {
	for _, before := range []int{0, 1, 5, 9} { // of those from which the first user is learned from
		var b reuse.Buffers
		for i := range 10 {
			size := 200
			if i == before {
				size = 1 << 20
			}
			use(&b, size, returns["as written"])
		}
		if room := use(&b, 200, returns["as written"]); room > 1024 {
			t.Errorf("one huge buffer, after %d others of 10, makes the next one have room for %d", before, room)
		}
	}
}

func TestBuffersInUseAtOnceAreLearnedFrom(t *testing.T) {
	var b reuse.Buffers
	for range 2 * returnsFirst {
		use(&b, 100_000, returns["reset"])
	}
	out := make([]*bytes.Buffer, returnsDownBulky)
	for i := range out { // all but one are new
		out[i] = b.GetBuffer()
		out[i].Write(content[:200])
		out[i].Reset()
	}
	for _, buffer := range out {
		b.PutBuffer(buffer)
	}
	if room := use(&b, 200, returns["reset"]); room > 1024 {
		t.Errorf("after %d uses for 200 bytes there is room for %d", len(out), room)
	}
}

func TestFarTooLargeBuffersAreNotKept(t *testing.T) {
	var b reuse.Buffers
	for range 2 * returnsFirst {
		use(&b, 200, returns["as written"])
	}
	start := heap(3)
	for range 9 { // as few as can go without being learned from
		b.PutBuffer(bytes.NewBuffer(make([]byte, 0, 1<<20)))
	}
	if left := heap(1); left > start+1<<20 {
		t.Errorf("%d bytes are kept", left-start)
	}
	runtime.KeepAlive(&b)
}

// TestABurstOfHugeBuffersLeavesNothing holds the bound of memory: when as many small ones
// have come back as it takes to learn from them, two collections free all that was huge.
func TestABurstOfHugeBuffersLeavesNothing(t *testing.T) {
	const bound = 256 << 10
	for name, before := range returns {
		t.Run(name, func(t *testing.T) {
			size := largestKept
			if testing.Short() || check.Race || name != "as written" {
				size /= 16 // the race detector has more than this to do for each byte
			}
			kept := 2
			if check.Race {
				kept = 20 // a quarter is lost
			}
			var b reuse.Buffers
			start := heap(3)
			collect := debug.SetGCPercent(-1)
			for range returnsFirst + kept { // the first ones are not kept, for their size is not known
				b.PutBuffer(bytes.NewBuffer(make([]byte, size)))
			}
			for range 2 {
				b.Put(make([]byte, size))
			}
			debug.SetGCPercent(collect)
			if during := heap(1); during < start+2*uint64(size) {
				t.Fatalf("only %d bytes are kept of the burst", during-start)
			}
			for range returnsDownBulky {
				use(&b, 100, before)
				b.Put(b.Get(100))
			}
			if left := heap(2); left > start+bound {
				t.Errorf("%d bytes are left of the burst", left-start)
			}
			for range 10_000 {
				use(&b, 100, before)
			}
			if later := heap(1); later > start+bound {
				t.Errorf("%d bytes are there later", later-start)
			}
			runtime.KeepAlive(&b)
		})
	}
}

// heap returns how many bytes are in use after so many collections.
func heap(collections int) uint64 {
	for range collections {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
