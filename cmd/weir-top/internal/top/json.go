package top

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"
	"unicode/utf16"
)

// JSON returns a JSON text as one line that any terminal may get: characters that aren't printable are escaped. It keeps fields that this
// program does not know. It returns what is not JSON as a string of JSON.
func JSON(data []byte) []byte {
	var line bytes.Buffer
	if err := json.Compact(&line, data); err != nil {
		text, _ := json.Marshal(string(data)) // of a string there is no error
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
