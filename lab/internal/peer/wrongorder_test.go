package peer_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
)

func collectWith(open opener) collector {
	return func(limit, n int, fn func(i int) (int, error)) ([]int, error) {
		values, errs := make([]int, n), make([]error, n)
		runAll(open, limit, n, func(i int) { values[i], errs[i] = fn(i) })
		return values, errors.Join(errs...)
	}
}

func TestChecksOfCollectorsFindWhatIsWrong(t *testing.T) {
	s := setting{limit: 2, tasks: 10, rounds: 2, patience: patience}
	for name, collect := range map[string]collector{
		"takes values as they come": func(limit, n int, fn func(int) (int, error)) ([]int, error) {
			var mu sync.Mutex
			var values []int
			_, err := collectWith(right)(limit, n, func(i int) (int, error) {
				value, err := fn(i)
				mu.Lock()
				defer mu.Unlock()
				values = append(values, value)
				return value, err
			})
			return values, err
		},
		"drops the last value": func(limit, n int, fn func(int) (int, error)) ([]int, error) {
			values, err := collectWith(right)(limit, n, fn)
			return values[:n-1], err
		},
		"loses the error": func(limit, n int, fn func(int) (int, error)) ([]int, error) {
			values, _ := collectWith(right)(limit, n, fn)
			return values, nil
		},
		"returns an error for nothing": func(limit, n int, fn func(int) (int, error)) ([]int, error) {
			values, err := collectWith(right)(limit, n, fn)
			return values, errors.Join(err, errors.New("nothing"))
		},
	} {
		t.Run(name, func(t *testing.T) { judge(t, false, checkCollect(collect, s)) })
	}
}

// streamWith is an ordered stream made of a runner. It consumes the empty value of a task
// that the runner has dropped.
func streamWith(open opener) streamer {
	return func(limit, n int, fn func(i int) int, consume func(int)) {
		values := make([]chan int, n)
		for i := range values {
			values[i] = make(chan int, 2) // a wrong runner may run a task twice
		}
		all := make(chan struct{})
		go func() {
			defer close(all)
			runAll(open, limit, n, func(i int) { values[i] <- fn(i) })
			for _, value := range values {
				close(value)
			}
		}()
		for _, value := range values {
			consume(<-value)
		}
		<-all
	}
}

func TestChecksOfStreamsFindWhatIsWrong(t *testing.T) {
	s := setting{limit: 2, tasks: 10, rounds: 2, patience: patience}
	for name, stream := range map[string]streamer{
		"consumes values as they come": func(limit, n int, fn func(int) int, consume func(int)) {
			var mu sync.Mutex
			streamWith(right)(limit, n, func(i int) int {
				value := fn(i)
				mu.Lock()
				defer mu.Unlock()
				consume(value)
				return value
			}, func(int) {})
		},
		"consumes one twice": func(limit, n int, fn func(int) int, consume func(int)) {
			streamWith(right)(limit, n, fn, func(value int) {
				consume(value)
				if value == valueOf(4) {
					consume(value)
				}
			})
		},
		"consumes several at once": func(limit, n int, fn func(int) int, consume func(int)) {
			var live sync.WaitGroup
			streamWith(right)(limit, n, fn, func(value int) { live.Go(func() { consume(value) }) })
			live.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) { judge(t, false, checkStream(stream, s)) })
	}

	judge(t, true, checkFlow(streamWith(right), s))
	s.patience = impatient
	t.Run("consumes at the end", func(t *testing.T) {
		judge(t, false, checkFlow(func(limit, n int, fn func(int) int, consume func(int)) {
			var values []int
			streamWith(right)(limit, n, fn, func(value int) { values = append(values, value) })
			for _, value := range values {
				consume(value)
			}
		}, s))
	})
}

func TestCheckOfSortsFindsWhatIsWrong(t *testing.T) {
	s := setting{limit: 2, tasks: 100, patience: patience}
	judge(t, true, checkSort(func(_ int, items []int) { slices.Sort(items) }, s))
	for name, sort := range map[string]sorter{
		"sorts a copy":     func(_ int, items []int) { slices.Sort(slices.Clone(items)) },
		"forgets the last": func(_ int, items []int) { slices.Sort(items[:max(0, len(items)-1)]) },
		"loses one": func(_ int, items []int) {
			slices.Sort(items)
			if len(items) > 50 {
				items[50] = items[49]
			}
		},
		"does not merge": func(_ int, items []int) {
			slices.Sort(items[:len(items)/2])
			slices.Sort(items[len(items)/2:])
		},
	} {
		t.Run(name, func(t *testing.T) { judge(t, false, checkSort(sort, s)) })
	}
	s.patience = impatient
	judge(t, false, checkSort(func(_ int, items []int) {
		leak(t)
		slices.Sort(items)
	}, s))
}
