package top

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"
	"unicode/utf16"
)

// JSON returns a JSON text as one line that is safe for any terminal: it escapes characters that aren't printable.
// It keeps fields that this program does not know. If data is not JSON, JSON returns it as a JSON string.
func JSON(data []byte) []byte {
	var line bytes.Buffer
	if err := json.Compact(&line, data); err != nil {
		text, _ := json.Marshal(string(data)) // strings always marshal
		line.Reset()
		line.Write(text)
	}
	var safe bytes.Buffer
	for _, r := range line.String() {
		switch {
		case unicode.IsPrint(r):
			safe.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&safe, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&safe, `\u%04x`, r)
		}
	}
	safe.WriteByte('\n')
	return safe.Bytes()
}
