package reuse_test

import (
	"bytes"
	"errors"
	"math"
	"math/cmplx"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

// everything has a field of each kind, none of them exported.
type everything struct {
	flag     bool
	small    int8
	number   int
	unsigned uint16
	address  uintptr
	float    float32
	complex  complex128
	text     string
	bytes    []byte
	table    map[int]int
	link     *everything
	channel  chan int
	function func()
	value    any
	err      error
	array    [3]struct{ a, b int }
	inner    struct{ deep struct{ bits uint32 } }
	mu       sync.Mutex
	counter  atomic.Int64
	when     time.Time
	_        int
	_        [0]func()
}

func TestWhatWasPutIsOverwrittenByPoison(t *testing.T) {
	p := reuse.Pool[*everything]{New: func() *everything { return new(everything) }}
	wantNone(t, faults(func() {
		x := p.Get()
		x.link, x.bytes, x.value, x.err = x, []byte{1}, 1, errors.New("")
		p.Put(x)
		check.Equal(t, "bool", x.flag, true)
		check.Equal(t, "int8", x.small, -0x25)
		check.Equal(t, "int", uint(x.number), math.MaxUint/0xFF*0xDB)
		check.Equal(t, "uint16", x.unsigned, 0xDBDB)
		check.Equal(t, "uintptr", x.address, math.MaxUint/0xFF*0xDB)
		check.Equal(t, "float is NaN", math.IsNaN(float64(x.float)), true)
		check.Equal(t, "complex is NaN", cmplx.IsNaN(x.complex), true)
		check.Equal(t, "string", x.text, "reuse: used after Put")
		check.Equal(t, "slice is nil", x.bytes == nil, true)
		check.Equal(t, "map is nil", x.table == nil, true)
		check.Equal(t, "pointer", x.link, nil)
		check.Equal(t, "channel", x.channel, nil)
		check.Equal(t, "function is nil", x.function == nil, true)
		check.Equal(t, "any", x.value, nil)
		check.Equal(t, "error", x.err, nil)
		check.Equal(t, "array", uint(x.array[2].b), math.MaxUint/0xFF*0xDB)
		check.Equal(t, "inner struct", x.inner.deep.bits, 0xDBDBDBDB)
		check.Equal(t, "mutex can be locked", x.mu.TryLock(), true)
		x.mu.Unlock()
		check.Equal(t, "counter", x.counter.Load(), 0)
	}))
}

func TestCheckReportsWhatIsWrittenAfterPut(t *testing.T) {
	for where, write := range map[string]func(x *everything){
		"flag":            func(x *everything) { x.flag = false },
		"small":           func(x *everything) { x.small++ },
		"number":          func(x *everything) { x.number = 0 },
		"unsigned":        func(x *everything) { x.unsigned |= 0xFF },
		"address":         func(x *everything) { x.address = 1 },
		"float":           func(x *everything) { x.float = 0 },
		"complex":         func(x *everything) { x.complex = 0 },
		"text":            func(x *everything) { x.text = "" },
		"bytes":           func(x *everything) { x.bytes = append(x.bytes, 1) },
		"table":           func(x *everything) { x.table = map[int]int{} },
		"link":            func(x *everything) { x.link = x },
		"channel":         func(x *everything) { x.channel = make(chan int) },
		"function":        func(x *everything) { x.function = func() {} },
		"value":           func(x *everything) { x.value = 1 },
		"err":             func(x *everything) { x.err = errors.New("") },
		"array[2].b":      func(x *everything) { x.array[2].b = 0 },
		"inner.deep.bits": func(x *everything) { x.inner.deep.bits = 1 },
		"mu.":             func(x *everything) { x.mu.Lock() },
		"counter.":        func(x *everything) { x.counter.Add(1) },
		"when.":           func(x *everything) { x.when = time.Time{} },
	} {
		written(t, "*reuse_test.everything", "reuse_test.everything."+where, func() *everything { return new(everything) }, write)
	}
	written(t, "[]int", "[2]", func() []int { return make([]int, 4) }, func(s []int) { s[2] = 1 })
	written(t, "[]int", "[3]", func() []int { return make([]int, 0, 4) }, func(s []int) { s[:4][3] = 1 })
	written(t, "[]bool", "[1]", func() []bool { return make([]bool, 4) }, func(s []bool) { s[1] = false })
	written(t, "[]reuse_test.request", "[1].body", func() []request { return make([]request, 3) }, func(s []request) { s[1].body = []byte{} })
	written(t, "*[]string", "[0]", func() *[]string { return &[]string{"a", "b"} }, nil)
	written(t, "*[4]int", "[4]int[3]", func() *[4]int { return new([4]int) }, func(a *[4]int) { a[3] = 0 })
	written(t, "*bytes.Buffer", "bytes.Buffer", func() *bytes.Buffer { return new(bytes.Buffer) }, func(b *bytes.Buffer) { b.WriteByte('x') })
	written(t, "map[int]int", "an entry", func() map[int]int { return map[int]int{} }, func(m map[int]int) { m[1] = 1 })
	written(t, "error", "reuse_test.request.id", func() error { return newRequest() }, func(e error) { e.(*request).id = 0 }) //nolint:errorlint // no error
	written(t, "interface {}", "[1]", func() any { return make([]int, 2) }, func(x any) { x.([]int)[1] = 1 })
}

func written[T any](t *testing.T, name, where string, create func() T, write func(T)) {
	t.Helper()
	p := reuse.Pool[T]{New: create}
	var got, put string
	found := faults(func() {
		got = line(1)
		x := p.Get()
		inner := func() {}
		if s, ok := any(x).(*[]string); ok { // whose array a user has taken out of it before
			array := *s
			inner = func() { array[0] = "x" }
		}
		put = line(1)
		p.Put(x)
		if write != nil {
			write(x)
		}
		inner()
	})
	wantFault(t, found, name+" used after Put: "+where, put, got)
}

func TestAMapIsEmptied(t *testing.T) {
	p := reuse.Pool[map[float64]int]{New: func() map[float64]int { return map[float64]int{1: 1, math.NaN(): 2} }}
	wantNone(t, faults(func() {
		m := p.Get()
		p.Put(m)
		check.Equal(t, "entries", len(m), 0)
	}))
}

func TestTheArrayOfABufferIsWatched(t *testing.T) {
	p := reuse.Pool[*bytes.Buffer]{New: func() *bytes.Buffer { return new(bytes.Buffer) }, Reset: (*bytes.Buffer).Reset}
	var put string
	wantFault(t, faults(func() {
		b := p.Get()
		b.WriteString("hello")
		text := b.Bytes()
		put = line(1)
		p.Put(b)
		check.Equal(t, "text", string(text), strings.Repeat("\xDB", 5))
		text[1] = 'x'
	}), "*bytes.Buffer used after Put: [1] was written, put", put)
}

func TestWhatWasReadOfABufferIsOverwrittenAndWatchedToo(t *testing.T) {
	var b reuse.Buffers
	p := reuse.Pool[*bytes.Buffer]{New: func() *bytes.Buffer { return new(bytes.Buffer) }}
	for name, get := range map[string]func() (*bytes.Buffer, func(*bytes.Buffer)){
		"Pool":    func() (*bytes.Buffer, func(*bytes.Buffer)) { return p.Get(), p.Put },
		"Buffers": func() (*bytes.Buffer, func(*bytes.Buffer)) { return b.GetBuffer(), b.PutBuffer },
	} {
		t.Run(name, func(t *testing.T) {
			var at string
			wantFault(t, faults(func() {
				buffer, put := get()
				buffer.WriteString("hello")
				text := buffer.Next(3)
				at = line(1)
				put(buffer)
				check.Equal(t, "text", string(text), strings.Repeat("\xDB", 3))
				text[1] = 'x'
			}), "*bytes.Buffer used after Put: [1] was written, put", at)
		})
	}
}

func TestAWriteIsFoundAFewOperationsLater(t *testing.T) {
	r := &recorder{}
	reuse.Check(r)
	defer r.end()
	p, q := newPool(), newPool()
	for range 50 {
		p.Put(p.Get())
	}
	x := p.Get()
	p.Put(x)
	wantNone(t, r.found())
	x.id = 1
	for range 10 {
		q.Put(q.Get())
	}
	wantFault(t, r.found(), "*reuse_test.request used after Put: reuse_test.request.id was written, put")
	x.id = 2 // reported already
	for range 100 {
		q.Put(q.Get())
	}
	wantNone(t, r.found())
	p.Put(x)
	wantFault(t, r.found(), "*reuse_test.request put twice, put")
}

func TestTheQuarantineIsBounded(t *testing.T) {
	// By the number of objects, and by their size; the one it lets go is looked at.
	small := reuse.Pool[*request]{New: newRequest}
	large := reuse.Pool[[]int64]{New: func() []int64 { return make([]int64, 1<<17) }} // 1 MiB
	first := func() (*request, weak.Pointer[int64]) {
		x, y := small.Get(), large.Get()
		small.Put(x)
		large.Put(y)
		return x, weak.Make(&y[0])
	}
	r := &recorder{}
	reuse.Check(r)
	defer r.end()
	x, y := first()
	for range 17 {
		large.Put(large.Get())
	}
	runtime.GC()
	if y.Value() != nil {
		t.Error("more than 16 MiB are held")
	}
	z := large.Get()
	large.Put(z)
	for range 10 {
		large.Put(large.Get())
	}
	z[5]++ // it must be there still
	small.Put(small.Get())
	for range 10 {
		large.Put(large.Get())
	}
	wantFault(t, r.found(), "[]int64 used after Put: [5] was written, put")
	small.Put(small.Get())
	_, _ = x, y
	held := weak.Make(small.Get())
	small.Put(held.Value())
	for range 1030 {
		small.Put(small.Get())
	}
	runtime.GC()
	if held.Value() != nil {
		t.Error("more than about 1000 objects are held")
	}
	wantNone(t, r.found())
}

func TestWhatLeavesTheQuarantineIsLookedAt(t *testing.T) {
	p := newPool()
	r := &recorder{}
	reuse.Check(r)
	defer r.end()
	var held []*request // about what the quarantine holds
	writes := 0
	for i := range 1500 {
		x := p.Get()
		if i >= 1200 { // it is full, and the next Put drives the oldest out
			held[0].id = 0
			writes++
		}
		p.Put(x)
		held = append(held, x)
		if len(held) > 1024 {
			held = held[1:]
		}
	}
	check.Equal(t, "faults", len(r.found()), writes)
}

func TestPoisonOfAPoolReplacesThePoison(t *testing.T) {
	var poisoned []*request
	p := reuse.Pool[*request]{New: newRequest, Poison: func(r *request) { poisoned = append(poisoned, r) }}
	found := faults(func() {
		x := p.Get()
		x.id = 3
		p.Put(x)
		check.Equal(t, "id", x.id, 3)
		check.Equal(t, "poisoned", len(poisoned) == 1 && poisoned[0] == x, true)
		x.id = 4 // no check looks
		p.Put(x) // but this is a fault all the same
	})
	wantFault(t, found, "*reuse_test.request put twice, put")
	p.Put(p.Get())
	check.Equal(t, "calls of Poison", len(poisoned), 1)
}

func TestPoisonDoesNotTroubleTheCollector(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	p := reuse.Pool[*everything]{New: func() *everything {
		return &everything{bytes: make([]byte, 100), link: &everything{text: strings.Repeat("x", 50)}, table: map[int]int{1: 1}}
	}}
	s := reuse.Pool[[]everything]{New: func() []everything { return make([]everything, 3) }}
	wantNone(t, faults(func() {
		for range check.Scale(3000, 300) {
			p.Use(func(x *everything) { x.number++ })
			s.Use(func(x []everything) { x[1].link = new(everything) })
		}
		runtime.GC()
	}))
}
