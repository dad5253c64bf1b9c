package reuse_test

import (
	"testing"

	"github.com/64ed045f/weir/reuse"
)

func TestCheckLetsPassSlicesThatGrow(t *testing.T) {
	p := reuse.Pool[[]int]{New: func() []int { return make([]int, 0, 1) }}
	wantNone(t, faults(func() {
		for i := range 100 {
			a, b := p.Get(), p.Get()
			a = append(a, 1, 2, 3)
			if i%2 == 0 {
				b = append(b, 1, 2, 3)
			}
			p.Put(a)
			p.Put(b)
		}
	}))
	var first, second string
	found := faults(func() {
		first = line(1)
		a := p.Get()
		second = line(1)
		_ = p.Get()
		p.Put(append(a, 1, 2, 3))
	})
	// Which of the two it is cannot be known.
	wantFault(t, found, "[]int not put back, of 2 × got here, got", first, second)

	wantFault(t, faults(func() {
		a, b := p.Get(), p.Get()
		p.Put(append(a, 1, 2, 3))
		p.Put(b)
		_ = p.Get() // all are back but this one
	}), "[]int not put back, got", line(-1))
}

func TestASliceThatAnotherPoolHandedOutMayBeANewOne(t *testing.T) {
	// Its array may have become garbage, and then another one of the same place be put.
	var made []int
	p := reuse.Pool[[]int]{New: func() []int { return make([]int, 1) }}
	q := reuse.Pool[[]int]{New: func() []int { return made }}
	var got string
	found := faults(func() {
		_ = q.Get() // nil, which is to grow
		got = line(1)
		made = p.Get()
		q.Put(made)
	})
	wantFault(t, found, "[]int not put back, got", got)

	wantFault(t, faults(func() {
		got = line(1)
		made = p.Get()
		q.Put(q.Get())
	}), "[]int not put back, got", got)

	wantFault(t, faults(func() {
		_ = q.Get()
		made = nil
		made = p.Get()
		q.Put(made)
		p.Put(make([]int, 2)) // as if it were what the first has become
		q.Put(made)
	}), "[]int put twice, put")
}

func TestASliceThatNewReturnsAgainMayBeANewOne(t *testing.T) {
	s := []int{1}
	p := reuse.Pool[[]int]{New: func() []int { return s }}
	wantFault(t, faults(func() {
		_ = p.Get()
		p.Put(p.Get())
	}), "[]int not put back, got")
}
