package sum_test

import (
	"testing"

	"github.com/64ed045f/weir/cmd/weir/internal/sum"
)

func TestNamesInMessagesAreQuotedAsCoreutilsDoes(t *testing.T) {
	for name, want := range map[string]string{
		"":                `''`,
		"plain":           `plain`,
		"a/b.c-d_e+f,g%@": `a/b.c-d_e+f,g%@`,
		"é😀":              `é😀`,
		"with blank":      `'with blank'`,
		"dir:x":           `'dir:x'`,
		"it's":            `"it's"`,
		"a'b:c d":         `"a'b:c d"`,
		`a"b`:             `'a"b'`,
		`a'"b`:            `'a'\''"b'`,
		`a'$b`:            `'a'\''$b'`,
		"$x":              `'$x'`,
		"#x":              `'#x'`,
		"x#y":             `x#y`,
		"x#'y":            `'x#'\''y'`,
		"#'y":             `"#'y"`,
		"{'":              `'{'\'''`,
		"~x":              `'~x'`,
		"a~":              `a~`,
		"{":               `'{'`,
		"{a}":             `{a}`,
		"[z]":             `'[z]'`,
		"a=b":             `'a=b'`,
		"x!y":             `'x!y'`,
		`c\d`:             `'c\d'`,
		"tab\tx":          `'tab'$'\t''x'`,
		"a\n\n\tb":        `'a'$'\n\n\t''b'`,
		"\n":              `''$'\n'`,
		"\n'x":            `''$'\n'\''x'`,
		"\x01" + "1":      `''$'\001''1'`,
		"a\x1b[b":         `'a'$'\033''[b'`,
		"\x7f":            `''$'\177'`,
		"aé\xff\xfe":      `'aé'$'\377\376'`,
		"\u2028":          `''$'\342\200\250'`,
		"x\\\ny":          `'x\'$'\n''y'`,
	} {
		if got := sum.Quote(name); got != want {
			t.Errorf("Quote(%q) = %s, want %s", name, got, want)
		}
	}
}
