package peer_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/64ed045f/weir/lab/internal/peer"
)

// collectHonestly is a collector without a library.
func collectHonestly(limit, n int, fn func(i int) (int, error)) ([]int, error) {
	values, errs := make([]int, n), make([]error, n)
	h := openHonest(limit, peer.Work{Each: func(i int) { values[i], errs[i] = fn(i) }})
	h.Submit(0, n)
	h.Wait()
	return values, errors.Join(errs...)
}

func TestChecksOfCollectorsFindWhatIsWrong(t *testing.T) {
	s := setting{limit: 2, producers: 1, tasks: 10, rounds: 2, patience: patience}
	hasty := s
	hasty.patience = impatient
	once := func(collect collector) error { return checkCollect(collect, s) }
	leftover := func(collect collector) error { return checkCollect(collect, hasty) }
	limit := func(collect collector) error { return checkLimit(collectAsRunner(collect), s, 2, 2) }
	for _, c := range []struct {
		name    string
		honest  bool
		check   func(collector) error
		collect collector
	}{
		{"right/once", true, once, collectHonestly},
		{"right/limit", true, limit, collectHonestly},
		{"takes values as they come", false, once, func(limit, n int, fn func(int) (int, error)) ([]int, error) {
			var mu sync.Mutex
			var values []int
			_, err := collectHonestly(limit, n, func(i int) (int, error) {
				value, err := fn(i)
				mu.Lock()
				defer mu.Unlock()
				values = append(values, value)
				return value, err
			})
			return values, err
		}},
		{"drops the last", false, once, func(limit, n int, fn func(int) (int, error)) ([]int, error) {
			values, err := collectHonestly(limit, n-1, fn)
			return append(values, valueOf(n-1)), err
		}},
		{"drops the last value", false, once, func(limit, n int, fn func(int) (int, error)) ([]int, error) {
			values, err := collectHonestly(limit, n, fn)
			return values[:n-1], err
		}},
		{"runs one twice", false, once, func(limit, n int, fn func(int) (int, error)) ([]int, error) {
			values, err := collectHonestly(limit, n, fn)
			_, again := fn(4)
			return values, errors.Join(err, again)
		}},
		{"loses the error", false, once, func(limit, n int, fn func(int) (int, error)) ([]int, error) {
			values, _ := collectHonestly(limit, n, fn)
			return values, nil
		}},
		{"returns an error for nothing", false, once, func(limit, n int, fn func(int) (int, error)) ([]int, error) {
			values, err := collectHonestly(limit, n, fn)
			return values, errors.Join(err, errors.New("nothing"))
		}},
		{"leaves goroutines", false, leftover, func(limit, n int, fn func(int) (int, error)) ([]int, error) {
			leak(t)
			return collectHonestly(limit, n, fn)
		}},
		{"exceeds the limit", false, limit, func(limit, n int, fn func(int) (int, error)) ([]int, error) {
			return collectHonestly(limit+1, n, fn)
		}},
	} {
		t.Run(c.name, func(t *testing.T) { judge(t, c.honest, c.check(c.collect)) })
	}
}

// streamHonestly is an ordered stream without a library.
func streamHonestly(limit, n int, fn func(i int) int, consume func(int)) {
	values, ended := make([]int, n), make([]chan struct{}, n)
	for i := range ended {
		ended[i] = make(chan struct{})
	}
	h := openHonest(limit, peer.Work{Each: func(i int) {
		values[i] = fn(i)
		close(ended[i])
	}})
	h.live.Go(func() { h.Submit(0, n) })
	for i := range n {
		<-ended[i]
		consume(values[i])
	}
	h.Wait()
}

func TestChecksOfStreamsFindWhatIsWrong(t *testing.T) {
	s := setting{limit: 2, producers: 1, tasks: 10, rounds: 2, patience: patience}
	hasty := s
	hasty.patience = impatient
	once := func(stream streamer) error { return checkStream(stream, s) }
	leftover := func(stream streamer) error { return checkStream(stream, hasty) }
	limit := func(stream streamer) error { return checkLimit(streamAsRunner(stream), s, 2, 2) }
	flow := func(stream streamer) error { return checkFlow(stream, s) }
	noFlow := func(stream streamer) error { return checkFlow(stream, hasty) }
	for _, c := range []struct {
		name   string
		honest bool
		check  func(streamer) error
		stream streamer
	}{
		{"right/once", true, once, streamHonestly},
		{"right/limit", true, limit, streamHonestly},
		{"right/flow", true, flow, streamHonestly},
		{"consumes values as they come", false, once, func(limit, n int, fn func(int) int, consume func(int)) {
			var mu sync.Mutex
			streamHonestly(limit, n, func(i int) int {
				value := fn(i)
				mu.Lock()
				defer mu.Unlock()
				consume(value)
				return value
			}, func(int) {})
		}},
		{"drops the last", false, once, func(limit, n int, fn func(int) int, consume func(int)) {
			streamHonestly(limit, n-1, fn, consume)
		}},
		{"consumes one twice", false, once, func(limit, n int, fn func(int) int, consume func(int)) {
			streamHonestly(limit, n, fn, func(value int) {
				consume(value)
				if value == valueOf(4) {
					consume(value)
				}
			})
		}},
		{"runs one twice", false, once, func(limit, n int, fn func(int) int, consume func(int)) {
			streamHonestly(limit, n, fn, consume)
			fn(4)
		}},
		{"leaves goroutines", false, leftover, func(limit, n int, fn func(int) int, consume func(int)) {
			leak(t)
			streamHonestly(limit, n, fn, consume)
		}},
		{"exceeds the limit", false, limit, func(limit, n int, fn func(int) int, consume func(int)) {
			streamHonestly(limit+1, n, fn, consume)
		}},
		{"consumes at the end", false, noFlow, func(limit, n int, fn func(int) int, consume func(int)) {
			var values []int
			streamHonestly(limit, n, fn, func(value int) { values = append(values, value) })
			for _, value := range values {
				consume(value)
			}
		}},
		{"consumes several at once", false, once, func(limit, n int, fn func(int) int, consume func(int)) {
			var live sync.WaitGroup
			streamHonestly(limit, n, fn, func(value int) { live.Go(func() { consume(value) }) })
			live.Wait()
		}},
	} {
		t.Run(c.name, func(t *testing.T) { judge(t, c.honest, c.check(c.stream)) })
	}
}

func TestCheckOfSortsFindsWhatIsWrong(t *testing.T) {
	s := setting{limit: 2, tasks: 100, patience: patience}
	for _, c := range []struct {
		name   string
		honest bool
		sort   sorter
	}{
		{"right", true, func(_ int, items []int) { slices.Sort(items) }},
		{"sorts a copy", false, func(_ int, items []int) { slices.Sort(slices.Clone(items)) }},
		{"forgets the last", false, func(_ int, items []int) { slices.Sort(items[:max(0, len(items)-1)]) }},
		{"loses one", false, func(_ int, items []int) {
			slices.Sort(items)
			if len(items) > 50 {
				items[50] = items[49]
			}
		}},
		{"does not merge", false, func(_ int, items []int) {
			slices.Sort(items[:len(items)/2])
			slices.Sort(items[len(items)/2:])
		}},
	} {
		t.Run(c.name, func(t *testing.T) { judge(t, c.honest, checkSort(c.sort, s)) })
	}
	t.Run("leaves goroutines", func(t *testing.T) {
		s.patience = impatient
		judge(t, false, checkSort(func(_ int, items []int) {
			leak(t)
			slices.Sort(items)
		}, s))
	})
}
