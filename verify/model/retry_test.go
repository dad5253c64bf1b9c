package model_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"pgregory.net/rapid"

	"github.com/64ed045f/weir"
)

// checkRetries compares the times of all tries of some tasks on one place, which those that retry a call themselves keep.
func checkRetries(t *rapid.T) {
	begin := time.Now()
	p := weir.New(1)
	defer p.Close()
	policy := weir.RetryPolicy{Tries: rapid.IntRange(0, 6).Draw(t, "tries"), Time: time.Duration(tick * rapid.Int64Range(0, 40).Draw(t, "time"))}
	if policy.Tries == 0 && policy.Time == 0 {
		policy.Tries = 1
	}
	retry := weir.Retry(policy)
	own := rapid.Bool().Draw(t, "own")
	opts := []weir.GroupOption{weir.KeepGoing()}
	if !own {
		opts = append(opts, retry)
	}
	g := p.Group(context.Background(), opts...)
	n := rapid.IntRange(1, 4).Draw(t, "tasks")
	var mu sync.Mutex
	start := time.Duration(0)
	got, want, tries := make([][]time.Duration, n), make([][]time.Duration, n), make([]int, n)
	for i := range n {
		waits := rapid.SliceOfN(rapid.Int64Range(1, 15), 0, 8).Draw(t, fmt.Sprintf("waits of %d", i))
		lasts := rapid.Bool().Draw(t, "lasts")
		at := time.Duration(0)
		want[i] = []time.Duration{start}
		for k, wait := range waits {
			d := time.Duration(wait*tick) + time.Duration(i) + 1
			if policy.Tries > 0 && k+1 >= policy.Tries || policy.Time > 0 && at+d > policy.Time {
				tries[i] = k + 1 // fails for good
				break
			}
			at += d
			want[i] = append(want[i], start+at)
		}
		if own {
			start += at
		}
		if tries[i] == 0 && lasts { // the last try fails for good
			tries[i] = len(want[i])
		}
		calls := 0
		call := func(context.Context) error {
			mu.Lock()
			got[i] = append(got[i], time.Since(begin))
			mu.Unlock()
			if calls++; calls <= len(waits) {
				return weir.RetryAfter(io.EOF, time.Duration(waits[calls-1]*tick)+time.Duration(i)+1)
			}
			if lasts {
				return weir.Permanent(io.EOF)
			}
			return nil
		}
		if own {
			g.Go(func(ctx context.Context) error { return retry.Do(ctx, call) })
		} else {
			g.Go(call)
		}
	}
	failed := map[int]int{}
	for e := range weir.Failures(g.Wait()) {
		if r, ok := errors.AsType[*weir.RetryError](e.Err); ok {
			failed[e.Index] = r.Tries
		}
	}
	for i := range n {
		if !slices.Equal(got[i], want[i]) || failed[i] != tries[i] {
			t.Fatalf("task %d: calls at %v, fails after %d; want %v, %d", i, got[i], failed[i], want[i], tries[i])
		}
	}
}
