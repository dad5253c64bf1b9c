package reuse_test

import (
	"sync"
	"testing"

	"github.com/64ed045f/weir/reuse"
)

// The benchmarks compare a Pool with a sync.Pool used by hand, as the last part of their names
// says, for benchstat -col /by. The loops are written out: a function call in them would cost
// as much as what is measured.

func BenchmarkPointer(b *testing.B) {
	raw := &sync.Pool{New: func() any { return newRequest() }}
	p := &reuse.Pool[*request]{New: newRequest}
	b.Run("by=hand", func(b *testing.B) {
		for b.Loop() {
			r := raw.Get().(*request)
			r.id++
			raw.Put(r)
		}
	})
	b.Run("by=pool", func(b *testing.B) {
		for b.Loop() {
			r := p.Get()
			r.id++
			p.Put(r)
		}
	})
}

func BenchmarkPointerReset(b *testing.B) {
	raw := &sync.Pool{New: func() any { return newRequest() }}
	p := &reuse.Pool[*request]{New: newRequest, Reset: (*request).reset}
	b.Run("by=hand", func(b *testing.B) {
		for b.Loop() {
			r := raw.Get().(*request)
			r.id++
			r.reset()
			raw.Put(r)
		}
	})
	b.Run("by=pool", func(b *testing.B) {
		for b.Loop() {
			r := p.Get()
			r.id++
			p.Put(r)
		}
	})
}

// BenchmarkRequest does with the object what makes a pool worthwhile: fills 1 KiB of it.
func BenchmarkRequest(b *testing.B) {
	raw := &sync.Pool{New: func() any { return newRequest() }}
	p := &reuse.Pool[*request]{New: newRequest, Reset: (*request).reset, Keep: func(r *request) bool { return cap(r.body) <= 64<<10 }}
	payload := make([]byte, 1<<10)
	b.Run("by=none", func(b *testing.B) {
		for b.Loop() {
			r := newRequest()
			r.body = append(r.body, payload...)
		}
	})
	b.Run("by=hand", func(b *testing.B) {
		for b.Loop() {
			r := raw.Get().(*request)
			r.body = append(r.body, payload...)
			if cap(r.body) <= 64<<10 {
				r.reset()
				raw.Put(r)
			}
		}
	})
	b.Run("by=pool", func(b *testing.B) {
		for b.Loop() {
			r := p.Get()
			r.body = append(r.body, payload...)
			p.Put(r)
		}
	})
}

func BenchmarkSlice(b *testing.B) {
	raw := &sync.Pool{New: func() any { s := make([]byte, 0, 64); return &s }}
	p := &reuse.Pool[[]byte]{New: func() []byte { return make([]byte, 0, 64) }}
	b.Run("by=hand", func(b *testing.B) {
		for b.Loop() {
			s := raw.Get().(*[]byte)
			*s = append(*s, 1)[:0]
			raw.Put(s)
		}
	})
	b.Run("by=pool", func(b *testing.B) {
		for b.Loop() {
			s := p.Get()
			s = append(s, 1)[:0]
			p.Put(s)
		}
	})
	b.Run("by=boxing", func(b *testing.B) { // by hand, but without the pointer
		raw := &sync.Pool{New: func() any { return make([]byte, 0, 64) }}
		for b.Loop() {
			s := raw.Get().([]byte)
			s = append(s, 1)[:0]
			raw.Put(s) //nolint:staticcheck // SA6002 is what is measured
		}
	})
}

func BenchmarkPointerParallel(b *testing.B) {
	raw := &sync.Pool{New: func() any { return newRequest() }}
	p := &reuse.Pool[*request]{New: newRequest, Reset: (*request).reset}
	b.Run("by=hand", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				r := raw.Get().(*request)
				r.id++
				r.reset()
				raw.Put(r)
			}
		})
	})
	b.Run("by=pool", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				r := p.Get()
				r.id++
				p.Put(r)
			}
		})
	})
}

func BenchmarkSliceParallel(b *testing.B) {
	raw := &sync.Pool{New: func() any { s := make([]byte, 0, 64); return &s }}
	p := &reuse.Pool[[]byte]{New: func() []byte { return make([]byte, 0, 64) }}
	b.Run("by=hand", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				s := raw.Get().(*[]byte)
				*s = append(*s, 1)[:0]
				raw.Put(s)
			}
		})
	})
	b.Run("by=pool", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				s := p.Get()
				s = append(s, 1)[:0]
				p.Put(s)
			}
		})
	})
}

func BenchmarkUse(b *testing.B) {
	p := &reuse.Pool[*request]{New: newRequest}
	f := func(r *request) { r.id++ }
	for b.Loop() {
		p.Use(f)
	}
}

// BenchmarkChecked is what a test pays.
func BenchmarkChecked(b *testing.B) {
	p := &reuse.Pool[*request]{New: newRequest, Reset: (*request).reset}
	reuse.Check(b)
	for b.Loop() {
		r := p.Get()
		r.id++
		p.Put(r)
	}
}
