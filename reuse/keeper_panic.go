package reuse

import (
	"log/slog"

	"github.com/64ed045f/weir"
)

// report passes a panic that no user waits for to OnPanic. OnPanic runs on a goroutine of its own, so that
// the caller goes on even if OnPanic calls runtime.Goexit.
func (k *Keeper[T]) report(p *weir.Panic) {
	reported := make(chan struct{})
	go func() {
		defer close(reported)
		if k.config.OnPanic == nil {
			logPanic("reuse: function panicked", p)
			return
		}
		defer func() {
			if value := recover(); value != nil {
				logPanic("reuse: function panicked", p)
				logPanic("reuse: panic handler panicked", k.caught(value))
			}
		}()
		k.config.OnPanic(p)
	}()
	<-reported
}

func logPanic(message string, p *weir.Panic) {
	attributes := []any{"panic", p.Value, "stack", string(p.Stack)}
	if p.Pool != "" {
		attributes = append(attributes, "keeper", p.Pool)
	}
	slog.Error(message, attributes...)
}
