package sum

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

// quote returns a name as coreutils shows it in messages: bare if no shell would misread it, otherwise in
// quotes that a shell understands. The result is one line without control characters, whatever the name is.
func quote(name string) string {
	bare, double := name != "" && name != "{" && name != "}", true
	for i, r := range name {
		switch {
		case r == '{' || r == '}' || i > 0 && (r == '#' || r == '~'):
			double = false
		case isBare(r):
		case r == '\'' || r == ' ' || r == ':' || r == '#' || r == '~':
			bare = false
		default:
			bare, double = false, false
		}
	}
	switch {
	case !utf8.ValidString(name):
	case bare:
		return name
	case double && strings.ContainsRune(name, '\''):
		return `"` + name + `"`
	}

	var b strings.Builder
	b.WriteByte('\'')
	escaped := false // inside $'…', where a shell understands octal escapes and the like
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		printable := unicode.IsGraphic(r) && (r != utf8.RuneError || n > 1)
		switch {
		case !printable && !escaped:
			b.WriteString(`'$'`)
			escaped = true
		case printable && escaped && r != '\'':
			b.WriteString(`''`)
			escaped = false
		}
		switch {
		case r == '\'':
			b.WriteString(`'\''`)
			escaped = false
		case printable:
			b.WriteString(name[i : i+n])
		default:
			for _, c := range []byte(name[i : i+n]) {
				b.WriteString(escapeByte(c))
			}
		}
		i += n
	}
	b.WriteByte('\'')
	return b.String()
}

// isBare reports whether r means only itself anywhere in a shell command or a message.
func isBare(r rune) bool {
	return r >= utf8.RuneSelf && unicode.IsGraphic(r) ||
		'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r != 0 && strings.ContainsRune("%+,-./@]_{}", r)
}

// escapeByte returns c as it is written inside $'…'.
func escapeByte(c byte) string {
	if i := strings.IndexByte("\a\b\f\n\r\t\v", c); i >= 0 {
		return `\` + "abfnrtv"[i:i+1]
	}
	return fmt.Sprintf(`\%03o`, c)
}

// reason returns the reason of err without the operation and path that Go puts before it, in the spelling of
// the C library.
func reason(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		text := errno.Error()
		return strings.ToUpper(text[:1]) + text[1:]
	}
	return err.Error()
}
