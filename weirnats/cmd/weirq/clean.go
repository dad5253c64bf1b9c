package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// maxMessage is how long an error may be: it may contain text of a server.
	maxMessage = 1000
	// maxMarks is how many combining marks a character keeps. More of them would climb over the lines above.
	maxMarks = 2
)

// clean returns s as one line of at most limit characters; 0 is no limit. All text that comes from a queue or
// a server must pass through it. clean writes what no terminal should get as Go writes it in strings: \x1b,
// \n, \u202e.
func clean(s string, limit int) string {
	var b strings.Builder
	marks := maxMarks // a mark needs a character before it
	for n := 0; s != ""; n++ {
		if limit > 0 && n == limit {
			b.WriteString("…")
			break
		}
		r, size := utf8.DecodeRuneInString(s)
		mark := unicode.Is(unicode.M, r)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
			marks = maxMarks
		case !unicode.IsPrint(r) || mark && marks == maxMarks:
			b.WriteString(escape(r))
			marks = maxMarks
		case mark:
			b.WriteRune(r)
			marks++
		default:
			b.WriteRune(r)
			marks = 0
		}
		s = s[size:]
	}
	return b.String()
}

func escape(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r < utf8.RuneSelf:
		return fmt.Sprintf(`\x%02x`, r)
	case r > 0xffff:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// writeJSON writes v as one line of JSON that is safe for any terminal.
func writeJSON(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var safe bytes.Buffer
	for _, r := range string(text) {
		switch {
		case unicode.IsPrint(r) && !unicode.Is(unicode.M, r):
			safe.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&safe, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&safe, `\u%04x`, r)
		}
	}
	safe.WriteByte('\n')
	_, err = w.Write(safe.Bytes())
	return err
}
