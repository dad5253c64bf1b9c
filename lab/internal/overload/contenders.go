package overload

import (
	"fmt"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5/middleware"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/weirhttp"
)

// contender is a way to guard a server.
type contender struct {
	name   string
	limits bool // promises that at most Slots requests run at once
	wrap   func(h http.Handler, s Setup) (guarded http.Handler)
}

var contenders = []contender{
	{"weir.Limit", true, func(h http.Handler, s Setup) http.Handler { return limited(h, s) }},
	{"weir.LimitNewest", true, func(h http.Handler, s Setup) http.Handler { return limited(h, s, weirhttp.NewestFirst()) }},
	{"weir.LimitOn", true, func(h http.Handler, s Setup) http.Handler { return limited(h, s, weirhttp.On(weir.New(s.Slots))) }},
	// The server without a guard.
	{peer.Go, false, func(h http.Handler, _ Setup) http.Handler { return h }},
	{"chi", true, func(h http.Handler, s Setup) http.Handler {
		return middleware.ThrottleWithOpts(middleware.ThrottleOpts{
			Limit: s.Slots, BacklogLimit: s.Queue, BacklogTimeout: s.MaxWait,
			StatusCode: http.StatusServiceUnavailable, RetryAfterFn: func(bool) time.Duration { return time.Second },
		})(h)
	}},
}

func limited(h http.Handler, s Setup, more ...weirhttp.Option) http.Handler {
	return weirhttp.Limit(h, s.Slots, append(more, weirhttp.Queue(s.Queue), weirhttp.MaxWait(s.MaxWait))...)
}

// Names returns the names of all contenders, in the order of the tables.
func Names() []string {
	var names []string
	for _, c := range contenders {
		names = append(names, c.name)
	}
	return names
}

func find(name string) (contender, error) {
	for _, c := range contenders {
		if c.name == name {
			return c, nil
		}
	}
	return contender{}, fmt.Errorf("no contender is called %q", name)
}
