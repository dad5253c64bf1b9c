package weirhttp_test

import (
	"net/http"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

func TestMisuseOfALimiterPanicsAtTheCall(t *testing.T) {
	h := http.NotFoundHandler()
	for want, f := range map[string]func(){
		"weirhttp: handler must not be nil, got nil":                 func() { weirhttp.Limit(nil, 1) },
		"weirhttp: limit must be at least 1, got 0":                  func() { weirhttp.Limit(h, 0) },
		"weirhttp: limit must be at least 1, got -1":                 func() { weirhttp.Limit(h, 1).Resize(-1) },
		"weirhttp: option must not be nil, got nil":                  func() { weirhttp.Limit(h, 1, nil) },
		"weirhttp: queue must be at least 0, got -1":                 func() { weirhttp.Queue(-1) },
		"weirhttp: longest wait must be above 0, got 0s":             func() { weirhttp.MaxWait(0) },
		"weirhttp: longest wait must be above 0, got -1ns":           func() { weirhttp.MaxWait(-1) },
		"weirhttp: priority function must not be nil, got nil":       func() { weirhttp.Priority(nil) },
		"weirhttp: limit per key must be at least 1, got 0":          func() { weirhttp.PerKey(0, keyHeader) },
		"weirhttp: key function must not be nil, got nil":            func() { weirhttp.PerKey(1, nil) },
		"weirhttp: queue per key must be at least 0, got -1":         func() { weirhttp.PerKeyQueue(-1) },
		"weirhttp: queue per key must come with PerKey, got 1":       func() { weirhttp.Limit(h, 1, weirhttp.PerKeyQueue(1)) },
		"weirhttp: queue per key must be at most the queue, got 2":   func() { weirhttp.Limit(h, 1, weirhttp.PerKey(1, keyHeader), weirhttp.PerKeyQueue(2)) },
		"weirhttp: exempting function must not be nil, got nil":      func() { weirhttp.Exempt(nil) },
		"weirhttp: function that answers must not be nil, got nil":   func() { weirhttp.Refusal(nil) },
		"weirhttp: pool must not be nil, got nil":                    func() { weirhttp.On(nil) },
		"weirhttp: status must be from 400 to 599, got 399":          func() { weirhttp.Status(399) },
		"weirhttp: status must be from 400 to 599, got 600":          func() { weirhttp.Status(600) },
		"weirhttp: time to retry after must be at least 0, got -1ns": func() { weirhttp.RetryAfter(-1) },
	} {
		check.Panics(t, want, f)
	}
}

// The default for the queue of a key is half of the queue, but at least 1 if there is one.
func TestByDefaultAKeyMayHaveHalfOfTheQueue(t *testing.T) {
	for queue, want := range map[int]int{0: 0, 1: 1, 2: 1, 3: 1, 4: 2, 9: 4} {
		check.Bubble(t, "", func(t *testing.T) {
			s := newSite(t, 1, weirhttp.Queue(queue), weirhttp.PerKey(1, keyHeader))
			all := s.send("1/a", "1/b", "1/c", "1/d", "1/e", "1/f")
			check.Equal(t, "waiting", s.Stats().Waiting, want)
			s.endAll(all)
		})
	}
}
