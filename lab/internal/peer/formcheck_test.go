package peer_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/64ed045f/weir/lab/internal/peer"
)

// What only one form of a peer does.

// checkGroupError proves that the first error cancels the context of all others, and
// comes out of Wait.
func checkGroupError(p peer.Peer, s setting) error {
	wrong := errors.New("the first error")
	return checkGroupEnds(context.Background(), p, s, func() error { return wrong }, wrong)
}

// checkGroupParent proves that the end of the parent reaches the tasks, and that Wait says so.
func checkGroupParent(p peer.Peer, s setting) error {
	parent, cancel := context.WithCancel(context.Background())
	defer cancel()
	return checkGroupEnds(parent, p, s, func() error { cancel(); return nil }, context.Canceled)
}

// checkGroupEnds has the last of s.limit tasks end the group by what it does or returns, when all
// others run.
func checkGroupEnds(parent context.Context, p peer.Peer, s setting, end func() error, want error) error {
	before := runtime.NumGoroutine()
	s.producers = s.together
	giveUp := make(chan struct{})
	var begun, running atomic.Int64
	g := p.Group(parent, s.limit, s.groupWork(func(ctx context.Context, _ int) error {
		running.Add(1)
		if int(begun.Add(1)) == s.limit {
			if err := end(); err != nil {
				running.Add(-1)
				return err
			}
		}
		select {
		case <-ctx.Done():
			running.Add(-1)
			return fmt.Errorf("stopped: %w", ctx.Err())
		case <-giveUp:
			return nil
		}
	}))
	var got error
	ended := begin(func() {
		s.submit(g, 0, s.limit)
		got = g.Wait()
		g.Close()
	})
	failed := s.receive("end of the group", ended)
	close(giveUp)
	if failed != nil {
		return errors.Join(failed, s.receive("end of a group given up", ended))
	}
	if !errors.Is(got, want) {
		return errors.Join(errors.New("the group's Wait returned another error than it should, or none"), got)
	}
	if begun.Load() != int64(s.limit) || running.Load() != 0 {
		return fmt.Errorf("%d tasks began, want %d, and %d went on", begun.Load(), s.limit, running.Load())
	}
	return checkGoroutines(before, s.patience)
}

// checkCollectError proves that the error of a task comes out.
func checkCollectError(p peer.Peer, s setting) error {
	wrong := errors.New("the last task failed")
	var failed error
	err := s.await("collect, with an error", func() {
		_, failed = p.Collect(s.limit, s.tasks, func(i int) (int, error) {
			if i == s.tasks-1 {
				return 0, wrong
			}
			return valueOf(i), nil
		})
	})
	if err == nil && !errors.Is(failed, wrong) {
		err = errors.Join(errors.New("another error than the task's, or none"), failed)
	}
	return err
}

// checkFlow proves that a stream hands over its first value before its last task has
// ended: it could have no last one.
func checkFlow(p peer.Peer, s setting) error {
	consumed := make(chan struct{})
	giveUp := make(chan struct{})
	last := s.tasks - 1
	first := true
	ended := begin(func() {
		p.Stream(s.limit, s.tasks, func(i int) int {
			if i == last {
				select {
				case <-consumed:
				case <-giveUp:
				}
			}
			return i
		}, func(int) {
			if first {
				first = false
				close(consumed)
			}
		})
	})
	err := s.receive("first value of a stream whose last task waits for it", consumed)
	close(giveUp)
	return errors.Join(err, s.receive("end of the stream", ended))
}

// unsorted are items to sort, from what is as good as nothing to what is divided often.
func unsorted(n int) map[string][]int {
	all := map[string][]int{"none": {}, "one": {7}}
	for _, name := range []string{"mixed", "ascending", "descending", "equal", "of two kinds"} {
		items := make([]int, n)
		for i := range items {
			switch name {
			case "mixed":
				items[i] = i * 7919 % 100_003
			case "ascending":
				items[i] = i
			case "descending":
				items[i] = n - i
			case "of two kinds":
				items[i] = i * 7919 % 2
			}
		}
		all[name] = items
	}
	return all
}

// checkSort proves that items are sorted where they are, and none is lost.
func checkSort(p peer.Peer, s setting) error {
	before := runtime.NumGoroutine()
	for name, items := range unsorted(s.tasks) {
		want := slices.Sorted(slices.Values(items))
		if err := s.await("sort", func() { p.Sort(s.limit, items) }); err != nil {
			return fmt.Errorf("items %s: %w", name, err)
		}
		if !slices.Equal(items, want) {
			return fmt.Errorf("items %s are not sorted, or not the same", name)
		}
	}
	return checkGoroutines(before, s.patience)
}

func checkFibonacci(p peer.Peer, s setting) error {
	if got := p.Fibonacci(s.limit, 15); got != 610 {
		return fmt.Errorf("%d, want 610", got)
	}
	return nil
}
