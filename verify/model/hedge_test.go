package model_test

import (
	"context"
	"errors"
	"io"
	"time"

	"pgregory.net/rapid"

	"github.com/64ed045f/weir"
)

// checkHedge compares what Hedge returns, and when.
func checkHedge(t *rapid.T) {
	type call struct {
		lasts  time.Duration
		fails  bool
		begins time.Duration
	}
	begin := time.Now()
	after := time.Duration(tick * rapid.Int64Range(1, 5).Draw(t, "after"))
	calls := make([]*call, rapid.IntRange(1, 4).Draw(t, "calls"))
	fns := make([]func(context.Context) (int, error), len(calls))
	for i := range calls {
		c := &call{time.Duration(tick*rapid.Int64Range(0, 12).Draw(t, "lasts")) + time.Duration(tick/2+i*10), rapid.Bool().Draw(t, "fails"), never}
		calls[i] = c
		fns[i] = func(context.Context) (int, error) {
			time.Sleep(c.lasts)
			if c.fails {
				return 0, io.EOF
			}
			return i, nil
		}
	}
	// The model: at each end of a call and of a time, as long as none has succeeded.
	calls[0].begins = 0
	made, over := 1, map[int]bool{}
	want, at := -1, time.Duration(0)
	for want < 0 && len(over) < len(calls) {
		next, ended := calls[made-1].begins+after, -1
		if made == len(calls) {
			next = never
		}
		for i, c := range calls[:made] {
			if end := c.begins + c.lasts; !over[i] && end < next {
				next, ended = end, i
			}
		}
		at = next
		if ended >= 0 {
			over[ended] = true
			if !calls[ended].fails {
				want = ended
				break
			}
			if len(over) < made || made == len(calls) {
				continue
			}
		}
		calls[made].begins = at
		made++
	}
	p := weir.New(10)
	got, err := weir.Hedge(context.Background(), p, after, fns...)
	d := time.Since(begin)
	p.Close()
	if want < 0 {
		if !errors.Is(err, io.EOF) || d != at {
			t.Fatalf("%v after %v, want all to fail after %v", err, d, at)
		}
		return
	}
	if got != want || err != nil || d != at {
		t.Fatalf("%d, %v after %v; want %d after %v", got, err, d, want, at)
	}
}
