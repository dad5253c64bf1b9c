package reuse_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

func newPool() *reuse.Pool[*request] {
	return &reuse.Pool[*request]{New: newRequest, Reset: (*request).reset}
}

func TestCheckReportsADoublePut(t *testing.T) {
	twice(t, "*reuse_test.request", newRequest, nil)
	twice(t, "map[int]int", func() map[int]int { return map[int]int{} }, nil)
	twice(t, "chan int", func() chan int { return make(chan int) }, nil)
	twice(t, "[]int", func() []int { return make([]int, 2) }, nil)
	twice(t, "[]int", func() []int { return make([]int, 2) }, func(s []int) []int { return s[1:] })
	twice(t, "error", func() error { return newRequest() }, nil)
	twice(t, "interface {}", func() any { return newRequest() }, nil)
	twice(t, "interface {}", func() any { return make([]int, 2) }, nil)
}

func twice[T any](t *testing.T, name string, create func() T, change func(T) T) {
	t.Helper()
	for _, used := range []bool{false, true} {
		p := reuse.Pool[T]{New: create}
		if used {
			p.Put(p.Get())
		}
		var got, first, second string
		found := faults(func() {
			got = line(1)
			x := p.Get()
			first = line(1)
			p.Put(x)
			if change != nil {
				x = change(x)
			}
			p.Reset = func(T) { t.Error("what is put twice is reset twice") }
			second = line(1)
			p.Put(x)
		})
		wantFault(t, found, name+" put twice, put", second, first, got)
	}
}

func TestCheckNamesTheCallsThatPutTwiceByUse(t *testing.T) {
	p := newPool()
	var use, inside string
	wantFault(t, faults(func() {
		use = line(1)
		p.Use(func(r *request) {
			inside = line(1)
			p.Put(r)
		})
	}), "*reuse_test.request put twice, put", use, inside)
}

func TestCheckCountsWhatHasNoIdentity(t *testing.T) {
	tooMany(t, "reuse_test.request", request{id: 1})
	tooMany(t, "string", "text")
	tooMany(t, "func()", func() {})
	tooMany(t, "*struct {}", &struct{}{})
}

func tooMany[T any](t *testing.T, name string, x T) {
	t.Helper()
	p := reuse.Pool[T]{New: func() T { return x }}
	var place string
	wantFault(t, faults(func() {
		a, b := p.Get(), p.Get()
		p.Put(a)
		p.Put(b)
		place = line(1)
		p.Put(b)
	}), name+" put without Get, put", place)

	var missing string
	wantFault(t, faults(func() {
		p.Put(p.Get())
		missing = line(1)
		x := p.Get()
		_ = x
	}), name+" not put back, got", missing)
}

func TestCheckReportsWhatComesFromElsewhere(t *testing.T) {
	p, q := newPool(), newPool()
	var got, put string
	wantFault(t, faults(func() {
		got = line(1)
		x := p.Get()
		put = line(1)
		q.Put(x)
	}), "*reuse_test.request put into another pool, put", put, got)

	fresh := newPool()
	wantFault(t, faults(func() {
		put = line(1)
		fresh.Put(&request{})
	}), "*reuse_test.request put without Get, put", put)

	wantFault(t, faults(func() {
		x := fresh.Get()
		fresh.Put(x)
		put = line(1)
		newPool().Put(x) // it is in the quarantine of the other one
	}), "*reuse_test.request put twice, put", put)

	fresh.Put(newRequest())
	wantNone(t, faults(func() { fresh.Put(&request{}) })) // may have been got before
}

func TestCheckLetsPassWhatWasGotBefore(t *testing.T) {
	// From a pool that has never got anything, and from one that has.
	p := newPool()
	before, again := p.Get(), p.Get()
	wantNone(t, faults(func() { p.Put(before) }))
	wantNone(t, faults(func() { p.Put(again) }))

	slices := reuse.Pool[[]int]{New: func() []int { return make([]int, 1) }}
	s := slices.Get()
	wantNone(t, faults(func() { slices.Put(s) }))

	// Got under a check that reports it as missing.
	q := newPool()
	var late *request
	wantFault(t, faults(func() { late = q.Get() }), "*reuse_test.request not put back, got")
	wantNone(t, faults(func() { q.Put(late) }))
}

func TestCheckLetsPassWhatAPoolWithoutNewIsFor(t *testing.T) {
	var p reuse.Pool[*request]
	var s reuse.Pool[[]int]
	wantNone(t, faults(func() {
		for range 3 {
			x := p.Get()
			if x == nil {
				x = newRequest()
			}
			p.Put(x)
			p.Put(p.Get()) // nil
			s.Put(append(s.Get(), 1, 2, 3))
			s.Put(s.Get())
		}
	}))
}

func TestNilInAnInterfaceIsNotNil(t *testing.T) {
	resets := 0
	p := reuse.Pool[error]{New: func() error { return (*request)(nil) }, Reset: func(error) { resets++ }}
	p.Put(p.Get())
	p.Put(p.Get())
	wantNone(t, faults(func() { p.Put(p.Get()) }))
	check.Equal(t, "resets", resets, 3)
}

func TestCheckReportsWhatIsNotPutBack(t *testing.T) {
	p := newPool()
	var first, second string
	found := faults(func() {
		p.Put(p.Get())
		first = line(1)
		x := p.Get()
		for range 3 {
			second = line(1)
			_ = p.Get()
		}
		runtime.KeepAlive(x)
	})
	wantFault(t, found, "*reuse_test.request not put back, got", first, second)
	if !strings.Contains(found[0], "\n3 × got:\n") {
		t.Errorf("the report does not say how many:\n%s", found[0])
	}
}

func TestCheckReportsAnOldObjectReturnedByNew(t *testing.T) {
	one := newRequest()
	p := reuse.Pool[*request]{New: func() *request { return one }}
	var first, second string
	found := faults(func() {
		first = line(1)
		p.Put(p.Get())
		second = line(1)
		_ = p.Get()
	})
	wantFault(t, found, "*reuse_test.request returned by New is not new, got", second, first)
	s := []int{1}
	q := reuse.Pool[[]int]{New: func() []int { return s }}
	wantFault(t, faults(func() {
		q.Put(q.Get())
		_ = q.Get()
	}), "[]int returned by New is not new, got")
}

func TestCheckedPoolsUseNothingTwice(t *testing.T) {
	p := newPool()
	old := newRequest()
	p.Put(old)
	seen := map[*request]bool{old: true} // an earlier user may still hold it
	wantNone(t, faults(func() {
		for range 5000 {
			x := p.Get()
			if seen[x] {
				t.Fatal("got twice")
			}
			seen[x] = true
			p.Put(x)
		}
	}))
}

func TestWhatKeepRefusesIsLeftAlone(t *testing.T) {
	p := reuse.Pool[*request]{New: newRequest, Keep: func(r *request) bool { return false }}
	used := func() {
		x := p.Get()
		x.id = 5
		p.Put(x)
		check.Equal(t, "id", x.id, 5)
		x.id = 6
	}
	wantNone(t, faults(used))

	// It is not known any more, and in a pool that was used before may come from there.
	p.Put(p.Get())
	wantNone(t, faults(func() {
		x := p.Get()
		p.Put(x)
		p.Put(x)
	}))
}

func TestTheFunctionsOfACheckedPoolMayUsePools(t *testing.T) {
	parts := newPool()
	var whole *reuse.Pool[*[1]*request]
	use := func(*[1]*request) { parts.Put(parts.Get()) }
	whole = &reuse.Pool[*[1]*request]{
		New:    func() *[1]*request { return &[1]*request{parts.Get()} },
		Keep:   func(x *[1]*request) bool { use(x); return true },
		Reset:  func(x *[1]*request) { parts.Put(x[0]) },
		Poison: use,
	}
	wantNone(t, faults(func() { whole.Put(whole.Get()) }))
}

func TestAReportGivesWholeStacks(t *testing.T) {
	p := newPool()
	found := faults(func() {
		x := getDeeply(p, 3)
		p.Put(x)
		p.Put(x)
	})
	wantFault(t, found, "*reuse_test.request put twice, put")
	if n := strings.Count(found[0], "reuse_test.getDeeply"); n != 4 {
		t.Errorf("%d frames of a function that called itself 3 times:\n%s", n, found[0])
	}
	if strings.Contains(found[0], "weir/reuse.") {
		t.Errorf("the stacks begin in the package itself:\n%s", found[0])
	}
}

func getDeeply(p *reuse.Pool[*request], n int) *request {
	if n == 0 {
		return p.Get()
	}
	return getDeeply(p, n-1)
}
