package peer_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/lab/internal/peer"
)

type (
	collector func(limit, n int, fn func(i int) (int, error)) ([]int, error)
	streamer  func(limit, n int, fn func(i int) int, consume func(value int))
	sorter    func(limit int, items []int)
)

// overtaken lets task 1 end before task 0, where both may run at once: a library that
// takes values as they come would otherwise have them in order by chance.
func (s setting) overtaken(task func(i int)) func(i int) {
	if s.limit < 2 || s.tasks < 2 {
		return task
	}
	ended := make(chan struct{})
	end := sync.OnceFunc(func() { close(ended) })
	return func(i int) {
		if i == 0 {
			<-ended
		}
		task(i)
		if i == 1 {
			end()
		}
	}
}

// valueOf is what task i returns: never the zero value of an empty place.
func valueOf(i int) int { return 3*i + 1 }

func checkValues(values []int, n int) error {
	if len(values) != n {
		return fmt.Errorf("%d values, want %d", len(values), n)
	}
	for i, value := range values {
		if value != valueOf(i) {
			return fmt.Errorf("value %d is %d, want %d", i, value, valueOf(i))
		}
	}
	return nil
}

// checkCollect proves that each task ran exactly once, and that the values are there, in
// order; and that an error comes out.
func checkCollect(collect collector, s setting) error {
	before := runtime.NumGoroutine()
	for round := range s.rounds {
		t := tally{ran: make([]atomic.Int32, s.tasks)}
		task := s.overtaken(t.run)
		var values []int
		var failed error
		err := s.await("collect", func() {
			values, failed = collect(s.limit, s.tasks, func(i int) (int, error) {
				task(i)
				return valueOf(i), nil
			})
		})
		if err != nil {
			return err
		}
		if err := errors.Join(failed, t.check(1, false), checkValues(values, s.tasks)); err != nil {
			return fmt.Errorf("after round %d: %w", round, err)
		}
	}
	if s.tasks > 0 {
		wrong := errors.New("the last task failed")
		var failed error
		err := s.await("collect, with an error", func() {
			_, failed = collect(s.limit, s.tasks, func(i int) (int, error) {
				if i == s.tasks-1 {
					return 0, wrong
				}
				return valueOf(i), nil
			})
		})
		if err != nil {
			return err
		}
		if !errors.Is(failed, wrong) {
			return errors.Join(errors.New("another error than the task's, or none"), failed)
		}
	}
	return checkGoroutines(before, s.patience)
}

// collectAsRunner lets a collector pass the check of the limit, with one producer.
func collectAsRunner(collect collector) opener {
	return func(limit int, work peer.Work) peer.Runner {
		return inOneGo(func(lo, hi int) {
			_, err := collect(limit, hi-lo, func(i int) (int, error) {
				work.Each(lo + i)
				return i, nil
			})
			if err != nil {
				panic(err)
			}
		})
	}
}

// checkStream proves that each task ran exactly once, and that the values were consumed one
// at a time and in order, while other tasks could run.
func checkStream(stream streamer, s setting) error {
	before := runtime.NumGoroutine()
	for round := range s.rounds {
		t := tally{ran: make([]atomic.Int32, s.tasks)}
		task := s.overtaken(t.run)
		var mu sync.Mutex
		var values []int
		var consuming, atOnce atomic.Int32
		err := s.await("stream", func() {
			stream(s.limit, s.tasks, func(i int) int {
				task(i)
				return valueOf(i)
			}, func(value int) {
				if consuming.Add(1) > 1 {
					atOnce.Add(1)
				}
				mu.Lock()
				values = append(values, value)
				mu.Unlock()
				if value == valueOf(0) {
					time.Sleep(time.Millisecond) // for another to come
				}
				consuming.Add(-1)
			})
		})
		if err != nil {
			return err
		}
		if n := atOnce.Load(); n > 0 {
			return fmt.Errorf("%d values were consumed while another was, in round %d", n, round)
		}
		if err := errors.Join(t.check(1, false), checkValues(values, s.tasks)); err != nil {
			return fmt.Errorf("after round %d: %w", round, err)
		}
	}
	return checkGoroutines(before, s.patience)
}

// checkFlow proves that a stream hands over its first value before its last task has
// ended: it could have no last one.
func checkFlow(stream streamer, s setting) error {
	consumed := make(chan struct{})
	giveUp := make(chan struct{})
	last := s.tasks - 1
	first := true
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		stream(s.limit, s.tasks, func(i int) int {
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
	}()
	err := s.receive("first value of a stream whose last task waits for it", consumed)
	close(giveUp)
	return errors.Join(err, s.receive("end of the stream", ended))
}

func streamAsRunner(stream streamer) opener {
	return func(limit int, work peer.Work) peer.Runner {
		return inOneGo(func(lo, hi int) {
			stream(limit, hi-lo, func(i int) int {
				work.Each(lo + i)
				return i
			}, func(int) {})
		})
	}
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
func checkSort(sort sorter, s setting) error {
	before := runtime.NumGoroutine()
	for name, items := range unsorted(s.tasks) {
		want := slices.Sorted(slices.Values(items))
		if err := s.await("sort", func() { sort(s.limit, items) }); err != nil {
			return fmt.Errorf("items %s: %w", name, err)
		}
		if !slices.Equal(items, want) {
			return fmt.Errorf("items %s are not sorted, or not the same", name)
		}
	}
	return checkGoroutines(before, s.patience)
}
