package peer_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/64ed045f/weir/lab/internal/peer"
)

// groupAsRunner lets a group pass the checks of a runner. Its tasks must get a
// context that is alive and made from the parent.
func groupAsRunner(open groupOpener) opener {
	return func(limit int, work peer.Work) peer.Runner {
		r := new(asRunner)
		task := func(ctx context.Context, i int) error {
			if ctx.Value(parentKey{}) != true {
				r.complain(errors.New("the context is not made from the parent"))
			}
			if err := ctx.Err(); err != nil {
				r.complain(fmt.Errorf("the context of a task: %w", err))
			}
			if work.Same != nil {
				work.Same()
			} else {
				work.Each(i)
			}
			return nil
		}
		parent := context.WithValue(context.Background(), parentKey{}, true)
		r.Group = open(parent, limit, setting{same: work.Same != nil}.groupWork(task))
		return r
	}
}

type parentKey struct{}

type asRunner struct {
	peer.Group
	complaint atomic.Pointer[error]
}

func (r *asRunner) complain(err error) { r.complaint.CompareAndSwap(nil, &err) }

func (r *asRunner) Wait() {
	if err := r.Group.Wait(); err != nil {
		r.complain(fmt.Errorf("the group's Wait: %w", err))
	}
}

// checkGroupOnce is checkOnce, and what only groups can do wrong.
func checkGroupOnce(open groupOpener, s setting) error {
	var r *asRunner
	err := checkOnce(func(limit int, work peer.Work) peer.Runner {
		r = groupAsRunner(open)(limit, work).(*asRunner)
		return r
	}, s)
	if complaint := r.complaint.Load(); complaint != nil {
		err = errors.Join(err, *complaint)
	}
	return err
}

// checkGroupError proves that the first error cancels the context of all others, and
// comes out of Wait.
func checkGroupError(open groupOpener, s setting) error {
	wrong := errors.New("the first error")
	return checkGroupEnds(context.Background(), open, s, func() error { return wrong }, wrong)
}

// checkGroupParent proves that the end of the parent reaches the tasks, and that Wait says so.
func checkGroupParent(open groupOpener, s setting) error {
	parent, cancel := context.WithCancel(context.Background())
	defer cancel()
	return checkGroupEnds(parent, open, s, func() error { cancel(); return nil }, context.Canceled)
}

// checkGroupEnds has the last of s.limit tasks end the group by what it does or returns, when all
// others run.
func checkGroupEnds(parent context.Context, open groupOpener, s setting, end func() error, want error) error {
	before := runtime.NumGoroutine()
	s.producers = s.together
	giveUp := make(chan struct{})
	var begun, running atomic.Int64
	g := open(parent, s.limit, s.groupWork(func(ctx context.Context, _ int) error {
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
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.submit(g, 0, s.limit)
		got = g.Wait()
		g.Close()
	}()
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
