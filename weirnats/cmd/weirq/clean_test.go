package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/quick"
	"time"
	"unicode"
)

func TestCleanEscapesWhatNoTerminalShouldGet(t *testing.T) {
	for in, want := range map[string]string{
		"":                      "",
		"plain ü 世界":            "plain ü 世界",
		"a\tb\r\nc\x7f":         `a\tb\x0d\nc\x7f`,
		"\x1b[31m":              `\x1b[31m`,
		"\u009b\u202e\u200b":    `\u009b\u202e\u200b`,
		"\U000e0001":            `\U000e0001`,
		"\xff\xc3":              `\xff\xc3`,
		"\u0301e\u0301":         `\u0301` + "e\u0301",
		"e\u0301\u0301\u0301":   "e\u0301\u0301" + `\u0301`,
		strings.Repeat("x", 20): "xxxxxxxxxxxxxxx…",
	} {
		is(t, in, clean(in, 15), want)
	}
	printed := func(s string) bool {
		return !strings.ContainsFunc(clean(s, 0), func(r rune) bool { return !unicode.IsPrint(r) })
	}
	if err := quick.Check(printed, nil); err != nil {
		t.Error(err)
	}
}

func TestJSONKeepsTextAndEscapesIt(t *testing.T) {
	keeps := func(s string) bool {
		var line bytes.Buffer
		s = strings.ToValidUTF8(s, "")
		if err := writeJSON(&line, s); err != nil {
			return false
		}
		var back string
		text := strings.TrimSuffix(line.String(), "\n")
		return json.Unmarshal([]byte(text), &back) == nil && back == s && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
	}
	if err := quick.Check(keeps, nil); err != nil || !keeps(hostile+"\U000e0001\x7f") {
		t.Error(err)
	}
}

func TestTimesHaveThePrecisionThatAReaderNeeds(t *testing.T) {
	for in, want := range map[time.Duration]string{
		1234567 * time.Microsecond: "1.23s", 90*time.Second + 400*time.Millisecond: "1m30s", 26 * time.Hour: "26h0m0s", 49 * time.Hour: "2d1h",
	} {
		is(t, in.String(), passed(in), want)
	}
}
