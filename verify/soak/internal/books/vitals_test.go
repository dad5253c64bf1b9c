package books_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/64ed045f/weir/verify/soak/internal/books"
)

func TestGrowthIsABreachAndNoiseIsNot(t *testing.T) {
	const mib = 1 << 20
	series := func(n int, at func(i int) books.Vitals) []books.Vitals {
		var s []books.Vitals
		for i := range n {
			s = append(s, at(i))
		}
		return s
	}
	for name, c := range map[string]struct {
		series []books.Vitals
		want   string
	}{
		"flat":         {series(20, func(int) books.Vitals { return books.Vitals{Goroutines: 5, Heap: mib, Timers: 3} }), ""},
		"falling":      {series(20, func(i int) books.Vitals { return books.Vitals{Goroutines: 50 - i, Heap: uint64(30-i) * mib} }), ""},
		"one high":     {series(20, func(i int) books.Vitals { return books.Vitals{Goroutines: 5 + i/19, Heap: uint64(1+i/19*100) * mib} }), ""},
		"too few":      {series(5, func(i int) books.Vitals { return books.Vitals{Heap: uint64(i) * 100 * mib} }), ""},
		"memory":       {series(6, func(i int) books.Vitals { return books.Vitals{Heap: uint64(1+i) * 4 * mib} }), "bytes on the heap grow"},
		"timers":       {series(6, func(i int) books.Vitals { return books.Vitals{Timers: i * 300} }), "timers grow"},
		"a goroutine":  {series(6, func(i int) books.Vitals { return books.Vitals{Goroutines: 5 + i/3} }), "goroutines grow"},
		"no goroutine": {series(6, func(i int) books.Vitals { return books.Vitals{Goroutines: 5} }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			j := books.NewJournal()
			books.New("load", j).Flat(c.series)
			if c.want == "" {
				fine(t, j)
			} else {
				wantBreach(t, j, c.want)
			}
		})
	}
}

func TestMeasureSeesMemoryGoroutinesAndTimers(t *testing.T) {
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	runtime.MemProfileRate = books.ProfileRate
	before := books.Measure()
	const n, size = 20_000, 8 << 20
	timers := make([]*time.Timer, n)
	for i := range timers {
		timers[i] = time.AfterFunc(time.Hour, func() {})
	}
	memory := make([]byte, size)
	stop := make(chan struct{})
	for range 10 {
		go func() { <-stop }()
	}
	during := books.Measure()
	close(stop)
	for _, timer := range timers {
		timer.Stop()
	}
	runtime.KeepAlive(memory)
	if got := during.Goroutines - before.Goroutines; got != 10 {
		t.Errorf("%d goroutines more are seen, want 10", got)
	}
	if got := during.Heap - before.Heap; got < size {
		t.Errorf("%d bytes more are seen, want %d", got, size)
	}
	// Some 500 of them are in the profile: a tenth is more than two standard deviations, half is out of reach of chance.
	if got := during.Timers - before.Timers; got < n/2 || got > n*3/2 {
		t.Errorf("%d timers more are seen, want about %d", got, n)
	}
}
