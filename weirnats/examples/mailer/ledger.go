package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The two files by which the show counts, independently of the queue's own counts: the IDs that the queue has
// accepted, and a line for each mail that was sent.
func (m *mailer) outbox() string { return filepath.Join(m.dir, "outbox") }
func (m *mailer) out() string    { return filepath.Join(m.dir, "sent") }

// appendTo opens a file to which several processes may append lines.
func appendTo(name string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
}

// read returns the number of lines of a file that begin with each ID. A file that does not exist has no lines.
func read(name string) (map[string]int, error) {
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	all := make(map[string]int)
	for line := range bytes.Lines(text) {
		id, _, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		all[string(id)]++
	}
	return all, nil
}

// count compares the files. It returns an error if a mail was lost or not accepted.
func (m *mailer) count() (text string, err error) {
	accepted, err := read(m.outbox())
	if err != nil {
		return "", err
	}
	sent, err := read(m.out())
	if err != nil {
		return "", err
	}
	lost, again := 0, 0
	for id := range accepted {
		if sent[id] == 0 {
			lost++
		}
	}
	for _, times := range sent {
		again += times - 1
	}
	text = fmt.Sprintf("%d mails accepted, %d sent, %d lost, %d sent a second time", len(accepted), len(sent), lost, again)
	if lost > 0 || len(accepted) != m.mails || len(sent) != m.mails {
		return text, fmt.Errorf("of %d mails some are lost: %s", m.mails, text)
	}
	return text, nil
}
