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
var logged = logRecords{Handler: slog.DiscardHandler} // for the methods that weir does not use

type logRecords struct {
	slog.Handler
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

// take returns the messages, and forgets them.
func (l *logRecords) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	messages := l.messages
	l.messages = nil
	return messages
}
