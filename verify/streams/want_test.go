package streams_test

import (
	"fmt"
	"slices"

	"github.com/64ed045f/weir"
)

// entry is what a stage gets or gives: items, or an error in their place.
type entry struct {
	items []int
	err   error
}

// want is what a plain loop gives.
type want struct {
	entries []entry
	final   bool // the last of them is an error that ends the stream
	cut     bool // what follows the last of them is a panic
}

// want runs the plan as nested loops would. If every is set errors end nothing, and
// panics are left out: that is all that may come out of an unordered stream.
func (p *plan) want(every bool) want {
	w := want{entries: p.source.entries()}
	for i := range p.stages {
		s := &p.stages[i]
		if s.batch > 0 {
			w.entries = batches(w.entries, s.batch)
		}
		if i == 0 {
			switch p.source.ending() {
			case panics:
				w.cut = true
			case exits:
				if n := len(w.entries); s.batch > 0 && n > 0 && w.entries[n-1].err == nil && len(w.entries[n-1].items) < s.batch {
					w.entries = w.entries[:n-1] // the batch begun is lost
				}
				w.entries = append(w.entries, entry{err: &weir.TaskError{Index: len(w.entries), Err: weir.ErrGoexit}})
			case well, fails:
			}
		}
		s.loop(i, &w, every)
	}
	return w
}

// ending is how the source ends: only those that are functions can end badly.
func (s *source) ending() ending {
	if s.kind == slice || s.kind == channel {
		return well
	}
	return s.ends
}

func (s *source) entries() []entry {
	var all []entry
	for i := range s.delays {
		e := entry{items: []int{i}}
		if s.fails[i] {
			e = entry{err: fmt.Errorf("source, item %d", i)}
		}
		all = append(all, e)
	}
	return all
}

func batches(in []entry, size int) (out []entry) {
	var items []int
	n := 0
	flush := func() {
		if n > 0 {
			out = append(out, entry{items: items})
			items, n = nil, 0
		}
	}
	for _, e := range in {
		if e.err != nil {
			flush()
			out = append(out, entry{err: e.err})
			continue
		}
		items = append(items, e.items...)
		if n++; n == size {
			flush()
		}
	}
	flush()
	return out
}

// loop runs one stage.
func (s *stage) loop(number int, w *want, every bool) {
	var out []entry
	for i, e := range w.entries {
		if e.err != nil {
			e.items = nil // they were what the stage before returned
		} else {
			switch s.calls[e.items[0]].ends {
			case fails:
				e = entry{items: e.items, err: &weir.TaskError{Index: i, Err: callError{number, e.items[0]}}}
			case exits:
				e = entry{err: &weir.TaskError{Index: i, Err: weir.ErrGoexit}}
			case panics:
				if every {
					continue
				}
				*w = want{entries: out, cut: true}
				return
			case well:
			}
		}
		out = append(out, e)
		if e.err != nil && !s.keepGoing && !every {
			*w = want{entries: out, final: true}
			return
		}
	}
	w.entries = out
	w.final = false // the stage goes on after errors, and ends as the one before it did
}

func (e entry) String() string { return handed{e.items, e.err, 0}.String() }

// same reports whether a result is what was wanted in its place.
func (e entry) same(h handed) bool {
	return e.String() == h.String() && slices.Equal(e.items, h.value)
}
