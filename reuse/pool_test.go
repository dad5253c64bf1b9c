package reuse_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"weak"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

func TestWithoutNewGetMakesTheZeroValue(t *testing.T) {
	var pointers reuse.Pool[*request]
	var numbers reuse.Pool[[]int]
	var structs reuse.Pool[request]
	var errs reuse.Pool[error]
	check.Equal(t, "pointer", pointers.Get(), nil)
	check.Equal(t, "slice is nil", numbers.Get() == nil, true)
	check.Equal(t, "struct", structs.Get().body == nil, true)
	check.Equal(t, "interface", errs.Get(), nil)
}

func TestGetReturnsWhatWasPut(t *testing.T) {
	comesBack(t, "pointer", &request{})
	comesBack(t, "channel", make(chan int))
	comesBack(t, "interface", error(&request{}))
	comesBack[any](t, "empty interface", 7)
	comesBack(t, "string", "text")
	comesBack(t, "number", 7)
	comesBack(t, "number of one byte", uint8(7))
	comesBack(t, "struct", struct{ a, b int }{1, 2})
	comesBack(t, "struct of one pointer", struct{ p *request }{&request{}})
	comesBack(t, "array of one pointer", [1]*request{{}})
	comesBack(t, "nothing", struct{}{})

	// What cannot be compared.
	slicesPool := reuse.Pool[[]int]{}
	check.Equal(t, "slice", slices.Equal(eventuallyGot(t, &slicesPool, []int{1, 2}, func(x []int) bool { return x != nil }), []int{1, 2}), true)
	maps := reuse.Pool[map[int]int]{}
	check.Equal(t, "map", eventuallyGot(t, &maps, map[int]int{1: 2}, func(x map[int]int) bool { return x != nil })[1], 2)
	funcs := reuse.Pool[func() int]{}
	check.Equal(t, "function", eventuallyGot(t, &funcs, func() int { return 3 }, func(x func() int) bool { return x != nil })(), 3)
}

func (r *request) Error() string { return fmt.Sprint(r.id) }

func comesBack[T comparable](t *testing.T, what string, x T) {
	t.Helper()
	var p reuse.Pool[T]
	if !hit(&p, x) {
		t.Errorf("%s: what was put never comes back", what)
	}
}

func eventuallyGot[T any](t *testing.T, p *reuse.Pool[T], x T, good func(T) bool) T {
	t.Helper()
	for range 1000 {
		p.Put(x)
		if got := p.Get(); good(got) {
			return got
		}
	}
	t.Fatal("what was put never comes back")
	return x
}

func TestPutAsksKeepAndThenResets(t *testing.T) {
	var calls []string
	p := reuse.Pool[*request]{
		New:   func() *request { calls = append(calls, "new"); return newRequest() },
		Keep:  func(r *request) bool { calls = append(calls, fmt.Sprint("keep ", r.id)); return r.id < 10 },
		Reset: func(r *request) { calls = append(calls, fmt.Sprint("reset ", r.id)); r.reset() },
	}
	for _, checked := range []bool{false, true} {
		for range 2 { // the very first Put takes a path of its own
			calls = nil
			use := func() {
				x := p.Get()
				calls = nil // it may be new or not
				x.id = 7
				p.Put(x)
				y := &request{id: 12}
				p.Put(y)
				check.Equal(t, "the refused object was reset", y.id, 12)
			}
			if checked {
				wantNone(t, faults(use))
			} else {
				use()
			}
			check.Equal(t, "calls", fmt.Sprint(calls), "[keep 7 reset 7 keep 12]")
		}
	}
	for range 100 {
		if x := p.Get(); x.id != 0 {
			t.Fatalf("got an object that was refused or not reset: %d", x.id)
		}
	}
}

func TestWhatKeepOrResetDoNotSurviveIsNotKept(t *testing.T) {
	for _, checked := range []bool{false, true} {
		for _, first := range []bool{true, false} {
			for _, where := range []string{"Keep", "Reset"} {
				for _, how := range []string{"panic", "Goexit"} {
					t.Run(fmt.Sprint(where, how, " checked ", checked, " first ", first), func(t *testing.T) {
						ends := func(r *request) {
							if r.id == 0 {
								return
							}
							if how == "panic" {
								panic("no")
							}
							runtime.Goexit()
						}
						p := reuse.Pool[*request]{}
						if where == "Keep" {
							p.Keep = func(r *request) bool { ends(r); return true }
						} else {
							p.Reset = ends
						}
						if !first {
							p.Put(&request{})
						}
						bad := &request{id: 1}
						put := func() {
							if how == "panic" {
								check.Equal(t, "panic", check.Caught(func() { p.Put(bad) }), any("no"))
							} else if !check.Exits(func() { p.Put(bad) }) {
								t.Error("Put has returned")
							}
						}
						if checked {
							p.New = newRequest
							p.Put(p.Get()) // it is in use before the checks, so that they let unknown objects pass
							wantNone(t, faults(put))
						} else {
							put()
						}
						check.Equal(t, "the object was reset or overwritten", bad.id, 1)
						for range 100 {
							if p.Get() == bad {
								t.Fatal("the object is kept")
							}
						}
					})
				}
			}
		}
	}
}

func TestNilIsNeverKept(t *testing.T) {
	neverKept(t, "pointer", &request{}, func(x *request) bool { return x == nil })
	neverKept(t, "slice", []int{}, func(x []int) bool { return x == nil })
	neverKept(t, "map", map[int]int{}, func(x map[int]int) bool { return x == nil })
	neverKept(t, "channel", make(chan int), func(x chan int) bool { return x == nil })
	neverKept(t, "function", func() {}, func(x func()) bool { return x == nil })
	neverKept(t, "interface", error(&request{}), func(x error) bool { return x == nil })
	neverKept[any](t, "empty interface", 1, func(x any) bool { return x == nil })
}

func neverKept[T any](t *testing.T, what string, x T, isNil func(T) bool) {
	t.Helper()
	p := reuse.Pool[T]{New: func() T { return x }}
	called := 0
	p.Keep = func(T) bool { called++; return true }
	p.Reset = func(T) { called++ }
	var none T
	wantNone(t, faults(func() { p.Put(none) }))
	for _, known := range []bool{false, true} {
		p.Put(none)
		wantNone(t, faults(func() { p.Put(none) }))
		check.Equal(t, what+": calls for nil", called, 0)
		if got := p.Get(); isNil(got) {
			t.Errorf("%s: got nil; the pool was used before: %t", what, known)
		}
		p.Put(x)
		called = 0
	}
}

func TestUsePutsTheObjectBackHoweverItEnds(t *testing.T) {
	var back []int
	p := reuse.Pool[*request]{New: newRequest, Reset: func(r *request) { back = append(back, r.id); r.reset() }}
	for _, checked := range []bool{false, true} {
		back = nil
		use := func() {
			p.Use(func(r *request) { r.id = 1 })
			check.Equal(t, "panic", check.Caught(func() {
				p.Use(func(r *request) { r.id = 2; panic("boom") })
			}), any("boom"))
			if !check.Exits(func() { p.Use(func(r *request) { r.id = 3; runtime.Goexit() }) }) {
				t.Error("Use has returned")
			}
		}
		if checked {
			wantNone(t, faults(use)) // among them: not put back
		} else {
			use()
		}
		check.Equal(t, "put back", fmt.Sprint(back), "[1 2 3]")
	}
	got := map[*request]bool{}
	for range 1000 {
		p.Use(func(r *request) { got[r] = true })
	}
	if len(got) > 900 {
		t.Errorf("%d objects for 1000 uses", len(got))
	}
}

func TestUseWithoutFunctionPanics(t *testing.T) {
	var p reuse.Pool[int]
	check.Panics(t, "reuse: function must not be nil, got nil", func() { p.Use(nil) })
}

func TestNoUserGetsAnObjectThatAnotherHas(t *testing.T) {
	type owned struct {
		users atomic.Int64
		plain int // for the race detector: it must see what orders a Put and the Get after it
	}
	values := reuse.Pool[[]*owned]{New: func() []*owned { return []*owned{{}} }}
	pointers := reuse.Pool[*owned]{New: func() *owned { return new(owned) }, Reset: func(o *owned) { o.plain++ }}
	use := func(o *owned) {
		if n := o.users.Add(1); n != 1 {
			t.Errorf("%d users at once", n)
		}
		o.plain++
		o.users.Add(-1)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range check.Scale(20_000, 2_000) {
				x, y := pointers.Get(), values.Get()
				use(x)
				use(y[0])
				if i%16 == 0 {
					runtime.Gosched()
				}
				pointers.Put(x)
				values.Put(y)
				pointers.Use(use)
			}
		})
	}
	wg.Wait()
}

func TestThePoolDoesNotHoldWhatItHasHandedOut(t *testing.T) {
	// The collector takes what a sync.Pool holds at the second collection only, so that
	// after one it would still be there.
	p := reuse.Pool[[]*request]{}
	var out weak.Pointer[request]
	for range 100 {
		x := &request{}
		out = weak.Make(x)
		p.Put([]*request{x})
		if got := p.Get(); got != nil {
			break
		}
	}
	runtime.GC()
	if out.Value() != nil {
		t.Error("what was handed out is held")
	}
	runtime.KeepAlive(&p)
}

func TestTheCollectorTakesWhatIsNotUsed(t *testing.T) {
	pointers, values := reuse.Pool[*request]{}, reuse.Pool[[]*request]{}
	x, y := &request{}, &request{}
	a, b := weak.Make(x), weak.Make(y)
	pointers.Put(x)
	values.Put([]*request{y})
	for range 3 {
		runtime.GC()
	}
	if a.Value() != nil || b.Value() != nil {
		t.Error("an object without a user is held")
	}
	runtime.KeepAlive(&pointers)
	runtime.KeepAlive(&values)
}

func TestGetAndPutAllocateNothing(t *testing.T) {
	x := &request{}
	allocatesNothing(t, "pointer", x)
	allocatesNothing(t, "map", map[int]int{})
	allocatesNothing(t, "channel", make(chan int))
	allocatesNothing(t, "function", func() { x.id++ })
	allocatesNothing(t, "interface", error(x))
	allocatesNothing(t, "slice", make([]byte, 100))
	allocatesNothing(t, "string", fmt.Sprint("some", 1000))
	allocatesNothing(t, "number", int64(1)<<40)
	allocatesNothing(t, "struct", request{id: 1})
	allocatesNothing(t, "large struct", [100]int{})
}

func allocatesNothing[T any](t *testing.T, what string, x T) {
	t.Helper()
	for _, p := range []*reuse.Pool[T]{
		{New: func() T { return x }},
		{New: func() T { return x }, Keep: func(T) bool { return true }, Reset: func(T) {}},
	} {
		f := func(T) {}
		for name, op := range map[string]func(){
			"Get and Put": func() { p.Put(p.Get()) },
			"Use":         func() { p.Use(f) },
		} {
			op()
			// The average is rounded down: a collection that empties the pool is no matter.
			if got := testing.AllocsPerRun(1000, op); got > 0 && !check.Race {
				t.Errorf("%s of a %s: %g allocations", name, what, got)
			}
		}
	}
}
