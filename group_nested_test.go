package weir_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// everyShape runs a test on pools of all limits and queues that nesting must work on.
func everyShape(t *testing.T, test func(t *testing.T, p *weir.Pool, limit int)) {
	for _, limit := range []int{1, 2, 8} {
		for _, queue := range []int{0, 1, 1024} {
			t.Run(fmt.Sprintf("limit=%d/queue=%d", limit, queue), func(t *testing.T) {
				p := weir.New(limit, weir.Queue(queue))
				test(t, p, limit)
				p.Wait() // a future is there before its worker is free
				s := p.Stats()
				check.Equal(t, "running", s.Running, 0)
				check.Equal(t, "queued", s.Queued, 0)
				check.Equal(t, "accepted", s.Accepted, s.Finished+s.HandedBack)
				p.Close()
				noWorkers(t)
			})
		}
	}
}

// run runs a task on the pool from outside, and waits for it.
func run(p *weir.Pool, task func(ctx context.Context) error) error {
	g := p.Group(context.Background())
	g.Go(task)
	return g.Wait()
}

// busy holds the limit: what runs between two waits of a task is entered and left. It
// counts goroutines, too.
type busy struct {
	check.Gauge
	bound int          // for goroutines
	most  atomic.Int64 // goroutines, if there were more than that
}

func (b *busy) look() {
	if runtime.NumGoroutine() <= b.bound {
		return
	}
	if n := int64(check.Goroutines("")); n > int64(b.bound) {
		b.most.Store(max(n, b.most.Load()))
	}
}

func fibNested(ctx context.Context, p *weir.Pool, b *busy, n int) (sum int, err error) {
	b.Enter()
	defer b.Leave()
	if n < 2 {
		b.look()
		return n, nil
	}
	var x, y int
	g := p.Group(ctx)
	b.Leave() // Go may wait, too
	g.Go(func(ctx context.Context) (err error) {
		x, err = fibNested(ctx, p, b, n-1)
		return err
	})
	g.Go(func(ctx context.Context) (err error) {
		y, err = fibNested(ctx, p, b, n-2)
		return err
	})
	err = g.Wait()
	b.Enter()
	return x + y, err
}

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func TestPromise09RecursionNeedsNoMoreThanTheLimit(t *testing.T) {
	n := check.Scale(18, 12)
	everyShape(t, func(t *testing.T, p *weir.Pool, limit int) {
		// For each place under the limit one chain of tasks that wait, as deep as the
		// recursion; and those whose subtasks were taken over by others.
		b := busy{bound: check.Goroutines("") + 4*limit*(n+2)}
		var sum int
		check.OK(t, run(p, func(ctx context.Context) (err error) {
			sum, err = fibNested(ctx, p, &b, n)
			return err
		}))
		check.Equal(t, "sum", sum, fib(n))
		if peak := b.Peak.Load(); peak > int64(limit) {
			t.Errorf("%d tasks ran at once, the limit is %d", peak, limit)
		}
		if most := b.most.Load(); most > 0 {
			t.Errorf("%d goroutines for limit %d and depth %d; %+v", most, limit, n, p.Stats())
		}
	})
}

func quicksortNested(ctx context.Context, p *weir.Pool, s []int) error {
	if len(s) < 500 {
		slices.Sort(s)
		return ctx.Err()
	}
	pivot := s[rand.IntN(len(s))]
	lo, hi := 0, len(s)-1
	for lo <= hi {
		switch {
		case s[lo] < pivot:
			lo++
		case s[hi] > pivot:
			hi--
		default:
			s[lo], s[hi] = s[hi], s[lo]
			lo++
			hi--
		}
	}
	g := p.Group(ctx)
	g.Go(func(ctx context.Context) error { return quicksortNested(ctx, p, s[:hi+1]) })
	g.Go(func(ctx context.Context) error { return quicksortNested(ctx, p, s[lo:]) })
	return g.Wait()
}

func TestPromise09ANestedQuicksortSorts(t *testing.T) {
	data := rand.Perm(check.Scale(200_000, 20_000))
	everyShape(t, func(t *testing.T, p *weir.Pool, _ int) {
		s := slices.Clone(data)
		check.OK(t, run(p, func(ctx context.Context) error { return quicksortNested(ctx, p, s) }))
		if !slices.IsSorted(s) {
			t.Error("not sorted")
		}
	})
}

// forest is a file system of folders in folders.
func forest(depth, width int) fstest.MapFS {
	files := fstest.MapFS{}
	var grow func(dir string, depth int)
	grow = func(dir string, depth int) {
		for i := range width {
			files[path.Join(dir, fmt.Sprintf("file%d", i))] = &fstest.MapFile{Data: []byte(dir)}
			if depth > 0 {
				grow(path.Join(dir, fmt.Sprintf("dir%d", i)), depth-1)
			}
		}
	}
	grow(".", depth)
	return files
}

func walkNested(ctx context.Context, p *weir.Pool, files fs.FS, dir string, found func(name string)) error {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return err
	}
	g := p.Group(ctx)
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		if !entry.IsDir() {
			found(name)
			continue
		}
		g.Go(func(ctx context.Context) error { return walkNested(ctx, p, files, name, found) })
	}
	return g.Wait()
}

func TestPromise09ANestedWalkFindsAllFiles(t *testing.T) {
	files := forest(3, 4)
	var want []string
	check.OK(t, fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if !entry.IsDir() {
			want = append(want, name)
		}
		return err
	}))
	everyShape(t, func(t *testing.T, p *weir.Pool, _ int) {
		var mu sync.Mutex
		var got []string
		check.OK(t, run(p, func(ctx context.Context) error {
			return walkNested(ctx, p, files, ".", func(name string) {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, name)
			})
		}))
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("found %d files, want %d", len(got), len(want))
		}
	})
}

// fanOut calls leaf at the bottom of a tree of groups, from width^depth tasks.
func fanOut(ctx context.Context, p *weir.Pool, depth, width int, opts []weir.GroupOption, leaf func(ctx context.Context) error) error {
	if depth == 0 {
		return leaf(ctx)
	}
	g := p.Group(ctx, opts...)
	for range width {
		g.Go(func(ctx context.Context) error { return fanOut(ctx, p, depth-1, width, opts, leaf) })
	}
	return g.Wait()
}

func TestPromise09GroupsNestOnThreeLevelsOfManyTasks(t *testing.T) {
	everyShape(t, func(t *testing.T, p *weir.Pool, limit int) {
		for _, opts := range [][]weir.GroupOption{nil, {weir.Limit(1)}, {weir.Limit(3)}} {
			var leaves atomic.Int64
			var b busy
			width := check.Scale(7, 3)
			var clients sync.WaitGroup
			for range 4 { // from outside, at once, with plain tasks in between
				clients.Go(func() {
					check.OK(t, run(p, func(ctx context.Context) error {
						return fanOut(ctx, p, 3, width, opts, func(context.Context) error {
							b.Enter()
							defer b.Leave()
							leaves.Add(1)
							return nil
						})
					}))
				})
				clients.Go(func() {
					for range 100 {
						check.OK(t, p.Submit(nothing))
					}
				})
			}
			clients.Wait()
			p.Wait()
			check.Equal(t, "leaves", leaves.Load(), int64(4*width*width*width))
			if peak := b.Peak.Load(); peak > int64(limit) {
				t.Errorf("%d tasks ran at once, the limit is %d", peak, limit)
			}
		}
	})
}

func TestPromise09AnErrorOfTheDeepestTaskReachesTheFirst(t *testing.T) {
	everyShape(t, func(t *testing.T, p *weir.Pool, _ int) {
		var leaves atomic.Int64
		err := run(p, func(ctx context.Context) error {
			return fanOut(ctx, p, 4, 3, nil, func(context.Context) error {
				if leaves.Add(1) == 5 {
					return errBoom
				}
				return nil
			})
		})
		check.Error(t, err, errBoom)
		for range 5 { // of the one task from outside, and of one at each level
			failure, found := errors.AsType[*weir.TaskError](err)
			if !found {
				t.Fatalf("%v does not say which task failed", err)
			}
			err = failure.Err
		}
		check.Equal(t, "cause", err, errBoom)
	})
}

func TestPromise09APanicOfTheDeepestTaskReachesTheFirst(t *testing.T) {
	everyShape(t, func(t *testing.T, p *weir.Pool, _ int) {
		for _, end := range []func(){explode, runtime.Goexit} {
			var leaves atomic.Int64
			g := p.Group(context.Background(), weir.PanicsAsErrors())
			g.Go(func(ctx context.Context) error {
				return fanOut(ctx, p, 4, 3, nil, func(context.Context) error {
					if leaves.Add(1) == 5 {
						end()
					}
					return nil
				})
			})
			err := g.Wait()
			if !errors.Is(err, errBoom) && !errors.Is(err, weir.ErrGoexit) {
				t.Errorf("got %v", err)
			}
		}
	})
}

func TestPromise09CancellingFromOutsideEndsAllLevels(t *testing.T) {
	everyShape(t, func(t *testing.T, p *weir.Pool, limit int) {
		ctx, cancel := context.WithCancelCause(context.Background())
		var leaves, before atomic.Int64
		g := p.Group(ctx)
		g.Go(func(ctx context.Context) error {
			return fanOut(ctx, p, 4, 6, nil, func(ctx context.Context) error {
				if leaves.Add(1) == 20 {
					cancel(errBoom)
					before.Store(leaves.Load())
				}
				return nil
			})
		})
		check.Error(t, g.Wait(), errBoom)
		if n := leaves.Load() - before.Load(); n > int64(limit) {
			t.Errorf("%d tasks began after the cancellation", n)
		}
	})
}

// A task that waits has given its place up, and has it again before those that
// are queued.
func TestPromise09ATaskThatComesBackIsServedBeforeTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		var order []string
		child := check.NewValve()
		g := p.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			inner := p.Group(ctx)
			inner.Go(child.Member)
			err := inner.Wait()
			order = append(order, "parent")
			return err
		})
		synctest.Wait()
		check.Equal(t, "children", child.Running(), 1)
		for _, name := range []string{"a", "b"} {
			check.OK(t, p.Submit(func() { order = append(order, name) }))
		}
		synctest.Wait()
		s := p.Stats()
		check.Equal(t, "running", s.Running, 1)
		check.Equal(t, "queued", s.Queued, 2)
		check.Equal(t, "workers", s.Workers, 2)
		child.Open()
		check.OK(t, g.Wait())
		p.Wait()
		if want := []string{"parent", "a", "b"}; !slices.Equal(order, want) {
			t.Errorf("order: got %v, want %v", order, want)
		}
	})
}

// Also while the task that handed them over does not wait yet, subtasks come before
// what is queued: a worker that is done with another task takes them first.
func TestPromise09SubtasksComeBeforeTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		var mu sync.Mutex
		var order []string
		note := func(name string) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, name)
		}
		other, parent := check.NewValve(), check.NewValve()
		g := p.Group(t.Context())
		check.OK(t, p.Submit(other.Hold))
		g.Go(func(ctx context.Context) error {
			inner := p.Group(ctx)
			for range 2 {
				inner.Go(func(context.Context) error { note("subtask"); return nil })
			}
			parent.Hold()
			return inner.Wait()
		})
		synctest.Wait()
		for range 2 {
			check.OK(t, p.Submit(func() { note("queued") }))
		}
		other.Open()
		synctest.Wait()
		if want := []string{"subtask", "subtask", "queued", "queued"}; !slices.Equal(order, want) {
			t.Errorf("order: got %v, want %v", order, want)
		}
		parent.Open()
		check.OK(t, g.Wait())
	})
}

// While its tasks run elsewhere, the place of a task that waits serves others.
func TestPromise09TheWaitingTasksPlaceServesOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		child, other := check.NewValve(), check.NewValve()
		first := block(t, p, 1) // or the child might start in the other place
		g := p.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			inner := p.Group(ctx)
			inner.Go(child.Member)
			return inner.Wait()
		})
		synctest.Wait()
		first.Open()
		for range 3 {
			check.OK(t, p.Submit(other.Hold))
		}
		synctest.Wait()
		check.Equal(t, "children", child.Running(), 1)
		check.Equal(t, "others", other.Running(), 1)
		child.Open()
		check.OK(t, g.Wait())
		synctest.Wait()
		check.Equal(t, "others", other.Running(), 2)
		other.Open()
		p.Wait()
	})
}

func TestPromise09AGoThatWaitsForRoomLendsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2, weir.Queue(0))
		defer p.Close()
		first, second := check.NewValve(), check.NewValve()
		g := p.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			inner := p.Group(ctx)
			inner.Go(first.Member)
			inner.Go(second.Member) // the limit is reached: by the first, and by the caller
			return inner.Wait()
		})
		synctest.Wait()
		check.Equal(t, "first", first.Running(), 1)
		check.Equal(t, "second", second.Running(), 1)
		second.Open()
		first.Open()
		check.OK(t, g.Wait())
	})
}

// Two pools whose tasks wait for each other's, and a group with workers of its own
// in between.
func TestPromise09GroupsNestAcrossPools(t *testing.T) {
	everyShape(t, func(t *testing.T, p *weir.Pool, _ int) {
		q := weir.New(1, weir.Queue(0))
		defer q.Close()
		var leaves atomic.Int64
		var down func(ctx context.Context, depth int) error
		down = func(ctx context.Context, depth int) error {
			if depth == 0 {
				leaves.Add(1)
				return nil
			}
			g := []*weir.Group{p.Group(ctx), q.Group(ctx), weir.NewGroup(ctx, 1)}[depth%3]
			for range 2 {
				g.Go(func(ctx context.Context) error { return down(ctx, depth-1) })
			}
			return g.Wait()
		}
		check.OK(t, run(p, func(ctx context.Context) error { return down(ctx, 7) }))
		check.Equal(t, "leaves", leaves.Load(), 1<<7)
		check.Equal(t, "running on the other", q.Stats().Running, 0)
	})
}

// Close lets a task that has begun finish with all it hands over; a Shutdown whose
// time is over does not.
func TestCloseLetsATaskFinishWithItsSubtasksAndShutdownDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, shutdown := range []bool{false, true} {
			p := weir.New(1)
			v := check.NewValve()
			var leaves atomic.Int64
			var inside error
			g := p.Group(t.Context())
			g.Go(func(ctx context.Context) error {
				v.Hold()
				inside = fanOut(ctx, p, 3, 3, nil, func(context.Context) error {
					leaves.Add(1)
					return nil
				})
				return nil
			})
			synctest.Wait()
			closed := make(chan struct{})
			go func() {
				defer close(closed)
				if !shutdown {
					p.Close()
					return
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				unrun, err := p.Shutdown(ctx)
				check.Equal(t, "handed back", len(unrun), 0)
				check.Error(t, err, context.Canceled)
			}()
			synctest.Wait()
			v.Open()
			err := g.Wait()
			<-closed
			if shutdown {
				check.Error(t, err, weir.ErrClosed)
				check.Error(t, inside, weir.ErrClosed)
				check.Equal(t, "leaves", leaves.Load(), 0)
			} else {
				check.OK(t, err)
				check.OK(t, inside)
				check.Equal(t, "leaves", leaves.Load(), 27)
			}
			p.Close()
		}
	})
}

// Subtasks that have not started when Shutdown's time is over fail with ErrClosed.
func TestShutdownHandsSubtasksBackToTheirGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		v := check.NewValve()
		var inside error
		g := p.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			inner := p.Group(ctx, weir.KeepGoing())
			for range 3 {
				inner.Go(v.Member)
			}
			inside = inner.Wait()
			return nil
		})
		synctest.Wait()
		check.Equal(t, "running", v.Running(), 1)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		unrun, err := p.Shutdown(ctx)
		check.Equal(t, "handed back", len(unrun), 0)
		check.Error(t, err, context.Canceled)
		v.Open()
		check.Error(t, g.Wait(), weir.ErrClosed)
		check.Error(t, inside, weir.ErrClosed)
		check.Equal(t, "ended", v.Ended.Load(), 1)
		p.Close()
		check.Equal(t, "handed back in all", p.Stats().HandedBack, 2)
	})
}

// TryGo of a nested group takes a task if it finds room, or a worker that is free.
func TestANestedTryGoFindsRoomOrAFreeWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, queue := range []int{0, 2} {
			p := weir.New(2, weir.Queue(queue))
			v := check.NewValve()
			taken := 0
			check.OK(t, run(p, func(ctx context.Context) error {
				g := p.Group(ctx)
				for range 10 {
					if g.TryGo(v.Member) {
						taken++
					}
					synctest.Wait()
				}
				check.Equal(t, "running", v.Running(), 1)
				v.Open()
				return g.Wait()
			}))
			check.Equal(t, "taken", taken, 1+queue)
			p.Close()
		}
	})
}

// Pausing holds tasks of tasks like others, and lets those that have begun go on.
func TestPauseAndResizeHoldSubtasksAsTheyHoldTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		begun, rest := check.NewValve(), check.NewValve()
		g := p.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			inner := p.Group(ctx)
			for range 2 {
				inner.Go(begun.Member)
			}
			for range 4 {
				inner.Go(rest.Member)
			}
			return inner.Wait()
		})
		synctest.Wait()
		check.Equal(t, "begun", begun.Running(), 2)
		p.Pause()
		begun.Open()
		synctest.Wait()
		check.Equal(t, "ended", begun.Ended.Load(), 2)
		check.Equal(t, "begun during the pause", rest.Running(), 0)
		p.Resize(1)
		p.Resume()
		synctest.Wait()
		check.Equal(t, "begun after it", rest.Running(), 1)
		p.Resize(3)
		synctest.Wait()
		check.Equal(t, "begun at limit 3", rest.Running(), 3)
		rest.Open()
		check.OK(t, g.Wait())
		synctest.Wait()
		check.Equal(t, "running", p.Stats().Running, 0)
	})
}

// A wait for the pool covers tasks of tasks, as it covers their parents.
func TestWaitCoversSubtasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		v := check.NewValve()
		g := p.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			inner := p.Group(ctx)
			for range 5 {
				inner.Go(v.Member)
			}
			return inner.Wait()
		})
		waited := false
		go func() {
			p.Wait()
			waited = true
		}()
		for range 5 {
			synctest.Wait()
			check.Equal(t, "waited", waited, false)
			v.LetOne()
		}
		synctest.Wait()
		check.Equal(t, "waited", waited, true)
		check.OK(t, g.Wait())
	})
}

// The workers that nesting needed beyond the limit end when they have been idle
// for long enough.
func TestWorkersBeyondTheLimitExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		var b busy
		check.OK(t, run(p, func(ctx context.Context) error {
			_, err := fibNested(ctx, p, &b, 10)
			return err
		}))
		synctest.Wait()
		if n := p.Stats().Workers; n < 5 || n > 20 {
			t.Errorf("%d workers after a recursion 10 deep", n)
		}
		p.Resize(1)
		synctest.Wait()
		check.Equal(t, "workers after Resize", p.Stats().Workers, 1)
	})
}

func fibFutures(ctx context.Context, p *weir.Pool, n int) (int, error) {
	if n < 2 {
		return n, nil
	}
	var below [2]*weir.Future[int]
	for i := range below {
		below[i] = weir.Async(ctx, p, func(ctx context.Context) (int, error) { return fibFutures(ctx, p, n-1-i) })
	}
	sum := 0
	for _, f := range below {
		x, err := f.Get(ctx)
		if err != nil {
			return 0, err
		}
		sum += x
	}
	return sum, nil
}

// A task that waits for a future with its own context gives its place up, too.
func TestPromise09FuturesNest(t *testing.T) {
	n := check.Scale(16, 10)
	everyShape(t, func(t *testing.T, p *weir.Pool, _ int) {
		sum, err := weir.Async(t.Context(), p, func(ctx context.Context) (int, error) {
			return fibFutures(ctx, p, n)
		}).Get(t.Context())
		check.OK(t, err)
		check.Equal(t, "sum", sum, fib(n))
	})
}

// And so does one that ranges over results.
func TestPromise09ResultsNest(t *testing.T) {
	everyShape(t, func(t *testing.T, p *weir.Pool, limit int) {
		var b busy
		var down func(ctx context.Context, depth int) (int, error)
		down = func(ctx context.Context, depth int) (int, error) {
			if depth == 0 {
				b.Enter()
				defer b.Leave()
				return 1, nil
			}
			r := weir.NewResults[int](p.Group(ctx))
			for range 3 {
				r.Go(func(ctx context.Context) (int, error) { return down(ctx, depth-1) })
			}
			sum := 0
			if depth%2 == 0 {
				values, err := r.Wait()
				for _, x := range values {
					sum += x
				}
				return sum, err
			}
			for x, err := range r.All() {
				if err != nil {
					return 0, err
				}
				sum += x
			}
			return sum, nil
		}
		r := weir.NewResults[int](p.Group(t.Context()))
		r.Go(func(ctx context.Context) (int, error) { return down(ctx, 5) })
		values, err := r.Wait()
		check.OK(t, err)
		check.Equal(t, "sum", values[0], 3*3*3*3*3)
		if peak := b.Peak.Load(); peak > int64(limit) {
			t.Errorf("%d tasks ran at once, the limit is %d", peak, limit)
		}
	})
}
