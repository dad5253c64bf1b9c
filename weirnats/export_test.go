package weirnats

import "github.com/64ed045f/weir/weirnats/internal/backend"

// OpenOn returns a queue that keeps its messages in b, which new makes for the settings.
func OpenOn[T any](name string, open func(backend.Settings) backend.Queue, opts ...Option) *Queue[T] {
	o := newOptions(opts)
	return newQueue[T](name, o, open(o.settings(name)), nil, func() error { return nil })
}
