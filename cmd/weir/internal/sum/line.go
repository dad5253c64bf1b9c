package sum

import (
	"bytes"
	"encoding/hex"
	"strings"
)

// The line formats of md5sum and its siblings:
//
//	d41d8cd98f00b204e9800998ecf8427e  name        written by them; the second blank is a * for files read in binary mode
//	\d41d8cd98f00b204e9800998ecf8427e  a\nname    the same, for a name with a newline, carriage return or backslash
//	MD5 (name) = d41d8cd98f00b204e9800998ecf8427e written by BSD and by --tag; with the same escapes
//	d41d8cd98f00b204e9800998ecf8427e name         written by BSD with -r; the name starts after the first blank

var escaper = strings.NewReplacer("\\", `\\`, "\n", `\n`, "\r", `\r`)

// appendLine appends the line for a file.
func appendLine(b, digest []byte, name string) []byte {
	if escaped := strings.ContainsAny(name, "\\\n\r"); escaped {
		b = append(b, '\\')
		name = escaper.Replace(name)
	}
	b = hex.AppendEncode(b, digest)
	b = append(b, ' ', ' ')
	b = append(b, name...)
	return append(b, '\n')
}

// appendVerdict appends the line that says how a file compares with its list. It escapes only names with a newline.
func appendVerdict(b []byte, name, verdict string) []byte {
	if strings.Contains(name, "\n") {
		b = append(b, '\\')
		name = escaper.Replace(name)
	}
	b = append(b, name...)
	b = append(b, ": "...)
	b = append(b, verdict...)
	return append(b, '\n')
}

// unescape undoes what escaper does. It fails at a backslash that starts no known escape.
func unescape(name []byte) ([]byte, bool) {
	plain := make([]byte, 0, len(name))
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c == '\\' {
			if i++; i == len(name) {
				return nil, false
			}
			switch name[i] {
			case '\\':
			case 'n':
				c = '\n'
			case 'r':
				c = '\r'
			default:
				return nil, false
			}
		}
		plain = append(plain, c)
	}
	return plain, true
}

// A lineParser reads the lines of one list. Its rules are those of md5sum -c, including which malformed lines pass.
type lineParser struct {
	tag  string // the tag of BSD-style lines
	size int    // length of a digest in bytes
	// style is set by the first line without a tag: one blank before the name, or two. The parser refuses a
	// list with both: otherwise a user who names a file " x" could have it taken for x.
	style blanks
}

type blanks int

const (
	unsettled blanks = iota
	oneBlank
	twoBlanks
)

// parse splits a line into name and digest. It fails if the line is not properly formatted, and if the name
// has a NUL, which no file name can have.
func (p *lineParser) parse(line []byte) (name string, digest []byte, ok bool) {
	line = bytes.TrimLeft(line, " \t")
	line, escaped := bytes.CutPrefix(line, []byte(`\`))
	raw, sum, ok := p.split(line)
	if !ok || bytes.IndexByte(raw, 0) >= 0 || len(sum) != hex.EncodedLen(p.size) {
		return "", nil, false
	}
	if escaped {
		if raw, ok = unescape(raw); !ok {
			return "", nil, false
		}
	}
	digest = make([]byte, p.size)
	if _, err := hex.Decode(digest, sum); err != nil {
		return "", nil, false
	}
	return string(raw), digest, true
}

// split finds the name, still escaped, and the hex digits in a line.
func (p *lineParser) split(line []byte) (name, digits []byte, ok bool) {
	if rest, tagged := bytes.CutPrefix(line, []byte(p.tag)); tagged {
		rest = bytes.TrimPrefix(rest, []byte(" "))
		end := bytes.LastIndexByte(rest, ')')
		if end < 1 || rest[0] != '(' {
			return nil, nil, false
		}
		digits, ok = bytes.CutPrefix(bytes.TrimLeft(rest[end+1:], " \t"), []byte("="))
		return rest[1:end], bytes.TrimLeft(digits, " \t"), ok
	}

	n := hex.EncodedLen(p.size)
	if len(line) < n+2 || line[n] != ' ' && line[n] != '\t' {
		return nil, nil, false
	}
	digits, name = line[:n], line[n+1:]
	for _, c := range digits {
		if !isHex(c) {
			return nil, nil, false // before style is set: a line of other text says nothing about it
		}
	}
	switch {
	case len(name) == 1 || name[0] != ' ' && name[0] != '*':
		if p.style == twoBlanks {
			return nil, nil, false
		}
		p.style = oneBlank
	case p.style != oneBlank:
		p.style = twoBlanks
		name = name[1:]
	}
	return name, digits, true
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
