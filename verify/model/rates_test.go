package model_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/64ed045f/weir"
)

// checkRates draws pools and lanes that share rates, and checks that no task starts without a token, and that no task
// waits that has a token and a place: whatever is paused or resized meanwhile, and in whatever order all comes.

// slack is how long a token and a place may be there at least before a task must have started.
const slack = time.Microsecond

// turnstile is a naive token bucket; nil is one that always has tokens.
type turnstile struct {
	limit        *weir.RateLimit
	every, ahead time.Duration // from one token to the next; how far full may be ahead while there is a token
	full         time.Duration // when all tokens are there
}

func newTurnstile(every time.Duration, burst int) *turnstile {
	return &turnstile{weir.Rate(1, every, burst), every, every * time.Duration(burst-1), 0}
}

// next returns when there is a token, from now on.
func (r *turnstile) next(now time.Duration) time.Duration {
	if r == nil {
		return now
	}
	return max(now, r.full-r.ahead)
}

// take takes a token.
func (r *turnstile) take(now time.Duration) {
	if r != nil {
		r.full = max(r.full, now) + r.every
	}
}

// has reports whether a token has been there for some time.
func (r *turnstile) has(now time.Duration) bool { return r.next(now-slack) == now-slack }

// hall is a pool or a lane, next to what is known of it.
type hall struct {
	name     string
	pool     *weir.Pool
	parent   *hall
	rate     *turnstile // nil for none
	priority int
	limit    int
	paused   bool
	closed   bool // or about to be: submitters that wait for room go
	queued   int
	running  int           // also of lanes
	changed  time.Duration // when a task last started or ended
}

// district is all halls of a run.
type district struct {
	*rapid.T
	begin time.Time
	halls []*hall

	mu     sync.Mutex
	wrong  string
	passed map[*hall]passing
}

// passing is that a task of lower priority has passed those of a hall.
type passing struct {
	at   time.Duration
	text string
}

func checkRates(t *rapid.T) {
	d := &district{T: t, begin: time.Now(), passed: map[*hall]passing{}}
	shared := d.turnstile()
	defer func() {
		for _, h := range d.halls {
			h.pool.Close()
		}
	}()
	for i := range rapid.IntRange(1, 6).Draw(t, "halls") {
		d.opens(i, shared)
	}
	t.Repeat(map[string]func(*rapid.T){
		"": func(*rapid.T) { d.look() },
		"submit": func(t *rapid.T) {
			d.submits(d.one(), rapid.IntRange(1, 10).Draw(t, "tasks"), rapid.SampledFrom([]time.Duration{0, 50 * time.Microsecond, 1500 * time.Microsecond, 20 * time.Millisecond}).Draw(t, "last"))
		},
		"pass": func(t *rapid.T) {
			time.Sleep(rapid.SampledFrom([]time.Duration{10 * time.Microsecond, 700 * time.Microsecond, 3 * time.Millisecond, 40 * time.Millisecond, time.Second}).Draw(t, "time"))
		},
		"pause": func(*rapid.T) {
			h := d.one()
			h.paused = true
			h.pool.Pause()
		},
		"resume": func(*rapid.T) {
			h := d.one()
			h.paused = false
			h.pool.Resume()
		},
		"resize": func(t *rapid.T) {
			h, limit := d.one(), rapid.IntRange(1, 4).Draw(t, "limit")
			d.mu.Lock()
			h.limit = limit
			d.mu.Unlock()
			h.pool.Resize(limit)
		},
		"shut a lane down": func(*rapid.T) {
			if h := d.one(); h.parent != nil {
				d.shuts(h)
			}
		},
	})
	for _, h := range d.halls {
		d.closes(h)
	}
	for _, h := range d.halls {
		h.pool.Close()
		synctest.Wait()
		if h.queued > 0 {
			t.Fatalf("%s is closed, and %d tasks have not started", h.name, h.queued)
		}
	}
	d.look()
}

// turnstile draws a rate.
func (d *district) turnstile() *turnstile {
	every := rapid.SampledFrom([]time.Duration{100 * time.Microsecond, time.Millisecond, 10 * time.Millisecond}).Draw(d.T, "every")
	burst := rapid.IntRange(1, 4).Draw(d.T, "burst")
	return newTurnstile(every, burst)
}

// opens makes a pool, or a lane of any hall.
func (d *district) opens(i int, shared *turnstile) {
	h := &hall{name: fmt.Sprint("hall ", i), limit: rapid.IntRange(1, 3).Draw(d.T, "limit")}
	opts := []weir.Option{weir.Queue(rapid.SampledFrom([]int{0, 1, weir.Unbounded}).Draw(d.T, "queue"))}
	switch rapid.IntRange(0, 3).Draw(d.T, "rate") {
	case 0:
		h.rate = shared
	case 1:
		h.rate = d.turnstile()
	}
	if h.rate != nil {
		opts = append(opts, h.rate.limit)
	}
	if i > 0 && rapid.IntRange(0, 5).Draw(d.T, "lane") > 0 {
		h.parent = d.one()
		if h.rate == nil {
			h.rate = h.parent.rate
		}
		h.priority = rapid.IntRange(-1, 1).Draw(d.T, "priority")
		h.pool = h.parent.pool.Lane(h.limit, append(opts, weir.Priority(h.priority))...)
	} else {
		h.pool = weir.New(h.limit, opts...)
	}
	d.halls = append(d.halls, h)
}

func (d *district) one() *hall { return rapid.SampledFrom(d.halls).Draw(d.T, "hall") }

// submits hands tasks to h that last so long.
func (d *district) submits(h *hall, n int, last time.Duration) {
	for range n {
		go func() {
			d.mu.Lock()
			h.queued++
			d.mu.Unlock()
			if err := h.pool.Submit(func() {
				d.starts(h)
				time.Sleep(last)
				d.ends(h)
			}); err != nil {
				d.mu.Lock()
				h.queued--
				d.mu.Unlock()
			}
		}()
	}
	synctest.Wait()
}

// starts notes that a task of h starts, and whether it may.
func (d *district) starts(h *hall) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Since(d.begin)
	for _, other := range d.halls {
		siblings := other.parent != nil && other.parent == h.parent && other.priority > h.priority
		if siblings && d.waits(other, now) && (other.rate == h.rate && h.rate == h.parent.rate || other.rate.has(now) && !h.races(other)) {
			d.passed[other] = passing{now, fmt.Sprintf("a task of %s starts at %v, and %s has a higher priority", h.name, now, other.name)}
		}
	}
	if d.passed[h].at == now {
		delete(d.passed, h) // there are two places: either task may be the first to get here
	}
	if next := h.rate.next(now); next > now {
		d.errs("a task of %s starts at %v, without a token until %v", h.name, now, next)
	}
	h.rate.take(now)
	h.queued--
	for x := h; x != nil; x = x.parent {
		x.running++
		x.changed = now
	}
}

// races reports whether a task of h and one of other, each in a place of its own, may be after the same token, which is not their parent's.
func (h *hall) races(other *hall) bool {
	free := h.parent.limit - h.parent.running
	for x := h.parent.parent; x != nil; x = x.parent {
		free = min(free, x.limit-x.running)
	}
	return h.rate != nil && other.rate == h.rate && free > 1
}

// waits reports whether a task of h has waited for nothing but a token and a place of the parent for some time.
func (d *district) waits(h *hall, now time.Duration) bool {
	return h.queued > 0 && !h.paused && !h.closed && h.running < h.limit && now-h.changed > slack
}

func (d *district) ends(h *hall) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for ; h != nil; h = h.parent {
		h.running--
		h.changed = time.Since(d.begin)
	}
}

func (d *district) errs(format string, args ...any) {
	if d.wrong == "" {
		d.wrong = fmt.Sprintf(format, args...)
	}
}

// look checks that no task waits which could have started a moment ago.
func (d *district) look() {
	time.Sleep(2 * slack)
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Since(d.begin)
	for _, h := range d.halls {
		free := h.queued > 0 && h.rate.has(now)
		for x := h; x != nil; x = x.parent {
			free = free && !x.paused && x.running < x.limit && now-x.changed > slack
		}
		if free {
			d.errs("%d tasks of %s wait at %v, though there is a token and a place", h.queued, h.name, now)
		}
	}
	for _, p := range d.passed {
		d.errs("%s", p.text)
	}
	if d.wrong != "" {
		d.Fatal(d.wrong)
	}
}

// closes notes that h and its lanes are about to be closed. It returns the others.
func (d *district) closes(h *hall) (others []*hall) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, x := range d.halls {
		y := x
		for y != nil && y != h {
			y = y.parent
		}
		if y == h {
			x.closed = true
		} else {
			others = append(others, x)
		}
	}
	return others
}

// shuts hands the tasks of h and of its lanes back, and leaves them closed.
func (d *district) shuts(h *hall) {
	others := d.closes(h)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	unrun, _ := h.pool.Shutdown(ctx)
	synctest.Wait() // those that wait for room have their answers
	d.mu.Lock()
	defer d.mu.Unlock()
	queued := 0
	for _, x := range d.halls {
		if !slices.Contains(others, x) {
			queued += x.queued
		}
	}
	d.halls = others
	if len(unrun) != queued {
		d.Fatalf("Shutdown returns %d tasks, and %d were queued", len(unrun), queued)
	}
}
