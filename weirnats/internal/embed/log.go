package embed

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
)

// logger passes on what the server logs, and keeps the last error.
type logger struct {
	to   *slog.Logger
	mu   sync.Mutex
	last string
	over bool // the server has given up

	broken bool        // the server cannot write any more
	broke  func(error) // called once, when the server says that
}

func (l *logger) ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

func (l *logger) lastError() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == "" {
		return "it gives no reason"
	}
	return l.last
}

// note returns the text, and checks whether the server says in it that it cannot write any more.
func (l *logger) note(format string, v []any) string {
	text := fmt.Sprintf(format, v...)
	if !saysBroken(format) {
		return text
	}
	l.mu.Lock()
	first := !l.broken
	l.broken = true
	l.mu.Unlock()
	if first {
		l.broke(errors.New(text)) // the server reports it in no other way
	}
	return text
}

func (l *logger) isBroken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken
}

func (l *logger) fail(format string, v []any) {
	text := l.note(format, v)
	l.mu.Lock()
	l.last = text
	l.mu.Unlock()
	l.to.Error("weirnats: embedded server: " + text)
}

// saysBroken reports whether the server says, with that format, that it cannot write any more. The format
// must begin as one of the server itself. What the server says of a connection begins with the connection's
// address, and contains what the client calls itself.
func saysBroken(format string) bool {
	own := func(begin string) bool { return strings.HasPrefix(format, begin) }
	says := func(what string) bool { return strings.Contains(strings.ToLower(format), what) }
	return (own("JetStream ") || own("Filestore [")) && (says("critical write error") || says("will be disabled")) ||
		(own("File") && says("permission denied") && says("disabling jetstream")) // the server logs this as a warning
}

// Noticef, Warnf, Errorf, Fatalf, Debugf and Tracef implement [server.Logger]. None of them ends the process.
func (l *logger) Noticef(format string, v ...any) {
	l.to.Debug("weirnats: embedded server: " + fmt.Sprintf(format, v...))
}

func (l *logger) Warnf(format string, v ...any) {
	l.to.Warn("weirnats: embedded server: " + l.note(format, v))
}
func (l *logger) Errorf(format string, v ...any) { l.fail(format, v) }
func (l *logger) Fatalf(format string, v ...any) {
	l.fail(format, v)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
}
func (l *logger) Debugf(string, ...any) {}
func (l *logger) Tracef(string, ...any) {}
