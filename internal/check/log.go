package check

import (
	"bytes"
	"log"
	"log/slog"
	"sync"
	"testing"
)

// Log makes the default loggers write to the buffer that it returns, until the test ends.
func Log(t testing.TB) *Buffer {
	t.Helper()
	logger, out, flags := slog.Default(), log.Writer(), log.Flags()
	t.Cleanup(func() {
		slog.SetDefault(logger)
		log.SetOutput(out) // slog.SetDefault directs it to slog, and never back
		log.SetFlags(flags)
	})
	b := new(Buffer)
	slog.SetDefault(slog.New(slog.NewTextHandler(b, nil)))
	return b
}

// Buffer keeps what goroutines write to it. Any number of them may do so at once.
type Buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements [io.Writer].
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// String returns all that was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
