package reuse_test

import (
	"bytes"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

func TestCheckFindsBuffersThatArePutTwice(t *testing.T) {
	var b reuse.Buffers
	var got, put, again string
	found := faults(func() {
		got = line(1)
		s := b.Get(100)
		put = line(1)
		b.Put(s)
		again = line(1)
		b.Put(s)
	})
	wantFault(t, found, "[]uint8 put twice", again, put, got)
	found = faults(func() {
		got = line(1)
		buffer := b.GetBuffer()
		put = line(1)
		b.PutBuffer(buffer)
		again = line(1)
		b.PutBuffer(buffer)
	})
	wantFault(t, found, "*bytes.Buffer put twice", again, put, got)
}

func TestCheckFindsBuffersThatAreUsedAfterPut(t *testing.T) {
	var b reuse.Buffers
	var put string
	found := faults(func() {
		s := b.Get(100)
		put = line(1)
		b.Put(s)
		check.Equal(t, "what is read", s[99], 0xDB)
		s[99] = 0
	})
	wantFault(t, found, "[]uint8 used after Put: [99] was written", put)
	found = faults(func() {
		buffer := b.GetBuffer()
		buffer.WriteString("text")
		s := buffer.Bytes()
		put = line(1)
		b.PutBuffer(buffer)
		s[3]++
	})
	wantFault(t, found, "*bytes.Buffer used after Put: [3] was written", put)
}

func TestCheckFindsASliceThatSharesItsMemoryWithABufferWhenBothArePut(t *testing.T) {
	var b reuse.Buffers
	for name, fill := range map[string]func(buffer *bytes.Buffer) (s []byte){
		"nothing read": func(buffer *bytes.Buffer) []byte {
			buffer.WriteString("text")
			return buffer.Bytes()
		},
		"all read": func(buffer *bytes.Buffer) []byte {
			buffer.WriteString("text")
			defer buffer.Next(4)
			return buffer.Bytes()
		},
		"full, and all read": func(buffer *bytes.Buffer) []byte {
			buffer.Grow(64)
			buffer.Write(make([]byte, buffer.Available()))
			defer buffer.Next(buffer.Len())
			return buffer.Bytes()
		},
	} {
		t.Run(name, func(t *testing.T) {
			var put, again string
			found := faults(func() {
				buffer := b.GetBuffer()
				s := fill(buffer)
				put = line(1)
				b.PutBuffer(buffer)
				again = line(1)
				b.Put(s)
			})
			wantFault(t, found, "[]uint8 put twice", again, put)
			found = faults(func() {
				buffer := b.GetBuffer()
				s := fill(buffer)
				put = line(1)
				b.Put(s)
				again = line(1)
				b.PutBuffer(buffer)
			})
			wantFault(t, found, "*bytes.Buffer put twice", again, put)
		})
	}
	var put, again string
	found := faults(func() {
		s := b.Get(100)
		put = line(1)
		b.PutBuffer(bytes.NewBuffer(s[:0]))
		again = line(1)
		b.Put(s)
	})
	wantFault(t, found, "[]uint8 put twice", again, put)
	wantNone(t, faults(func() {
		b.PutBuffer(bytes.NewBuffer(b.Get(100)[:0]))
		buffer := b.GetBuffer()
		s := buffer.AvailableBuffer()
		buffer.Write(make([]byte, 1<<10)) // which moves it
		b.Put(s)
		b.PutBuffer(buffer)
		b.PutBuffer(bytes.NewBuffer(make([]byte, 100)))
	}))
}

func TestCheckFindsBuffersThatAreNotPutBack(t *testing.T) {
	var b reuse.Buffers
	var got string
	wantFault(t, faults(func() {
		got = line(1)
		b.Get(100)
		b.Put(nil)
	}), "[]uint8 not put back", got)
	wantFault(t, faults(func() {
		got = line(1)
		b.GetBuffer()
	}), "*bytes.Buffer not put back", got)
}

func TestCheckFindsNothingWrongWithBuffersThatAreUsedWell(t *testing.T) {
	var b reuse.Buffers
	early, earlyBuffer := b.Get(100), b.GetBuffer()
	var late []byte
	var lateBuffer *bytes.Buffer
	wantNone(t, faults(func() {
		b.Put(nil)
		b.PutBuffer(nil)
		b.Put(early)
		b.PutBuffer(earlyBuffer)
		b.Put(make([]byte, 10))
		b.Put(make([]byte, 1000))
		b.PutBuffer(new(bytes.Buffer))
		b.PutBuffer(bytes.NewBufferString("text"))
		sizes := []int{0, 1, 100, 10_000, 2<<20 + 1}
		if !check.Race { // which takes seconds to watch the poisoning of so much
			sizes = append(sizes, largestKept+1)
		}
		for _, n := range sizes {
			s := b.Get(n)
			check.Equal(t, "length", len(s), n)
			if n <= largestKept {
				check.Equal(t, "room", cap(s), roundUp(n))
			}
			b.Put(append(s, 1))
			buffer := b.GetBuffer()
			buffer.Grow(n)
			b.PutBuffer(buffer)
		}
	}))
	for range 2 { // what was put under checks is not kept
		s := b.Get(100)
		for i := range s {
			if s[i] == 0xDB {
				t.Fatal("a slice that was put under checks is handed out")
			}
		}
	}
	r := &recorder{}
	reuse.Check(r)
	late, lateBuffer = b.Get(100), b.GetBuffer()
	r.end()
	check.Equal(t, "faults", len(r.found()), 2)
	b.Put(late)
	b.PutBuffer(lateBuffer)
}

func TestBuffersLearnUnderChecks(t *testing.T) {
	var b reuse.Buffers
	wantNone(t, faults(func() {
		for range 20 {
			use(&b, 5000, returns["reset"])
		}
		if room := use(&b, 5000, returns["reset"]); room < 5000 {
			t.Errorf("after 20 uses there is room for %d, not 5000", room)
		}
	}))
}
