package model_test

import (
	"context"
	"flag"
	"log/slog"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.steps", "60"); err != nil { // unless the command line says otherwise
		panic(err)
	}
	slog.SetDefault(slog.New(&logged))
	goleak.VerifyTestMain(m)
}

// logged keeps what weir logs: panics that no handler gets.
var logged logRecords

type logRecords struct {
	mu       sync.Mutex
	messages []string
}

func (*logRecords) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements [slog.Handler].
func (l *logRecords) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.messages = append(l.messages, r.Message)
	return nil
}

// WithAttrs implements [slog.Handler].
func (l *logRecords) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup implements [slog.Handler].
func (l *logRecords) WithGroup(string) slog.Handler { return l }

// reset forgets the messages, and take returns them.
func (l *logRecords) reset() { l.take() }

func (l *logRecords) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	messages := l.messages
	l.messages = nil
	return messages
}
