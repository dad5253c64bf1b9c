package top_test

import "testing"

func TestTheTypedLineIsVisibleOnATerminalOf80Columns(t *testing.T) {
	s := program()
	s.snapshot.Pools[0].Name = "thumbnails of uploads" // 21 bytes
	show(t, s, 80, 24, func(t *terminal) {
		t.press("l", "31415")
		t.wants("31415▏")
		t.press("x", "enter")
		t.wants("must be a number")
	})
}
