package top

import "slices"

// rowKey identifies a row of a list, in the next answers too.
type rowKey struct {
	pool, group uint64
	worker      int
	line        int
}

// list is the scrolling list of a screen.
type list struct {
	keys   []rowKey
	chosen int // the chosen row; -1 if rows are not chosen, and the keys move the window
	top    int // the first row of the window
	page   int // rows of the window
}

// set sets the rows. The chosen row stays chosen if it still exists.
func (l *list) set(keys []rowKey) {
	if l.chosen >= 0 {
		if l.chosen < len(l.keys) {
			if i := slices.Index(keys, l.keys[l.chosen]); i >= 0 {
				l.chosen = i
			}
		}
		l.chosen = max(0, min(l.chosen, len(keys)-1))
	}
	l.keys = keys
}

// pick returns the key of the chosen row; false if there is none.
func (l *list) pick() (rowKey, bool) {
	if l.chosen < 0 || l.chosen >= len(l.keys) {
		return rowKey{}, false
	}
	return l.keys[l.chosen], true
}

// move handles a key that moves the choice or the window, and returns false for any other key.
func (l *list) move(key string) bool {
	by, ok := map[string]int{
		"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -max(1, l.page), "pgdown": max(1, l.page), "space": max(1, l.page),
		"home": -len(l.keys), "g": -len(l.keys), "end": len(l.keys), "G": len(l.keys),
	}[key]
	if !ok {
		return false
	}
	if l.chosen < 0 {
		l.top = max(0, min(l.top+by, len(l.keys)-l.page))
		return true
	}
	l.chosen = max(0, min(l.chosen+by, len(l.keys)-1))
	return true
}

// rows are the rows of the window.
type rows struct{ from, to, chosen int }

// window returns the rows that are visible in height lines.
func (l *list) window(height int) rows {
	l.page = max(0, height)
	if l.chosen >= 0 {
		l.top = max(min(l.top, l.chosen), l.chosen-l.page+1)
	}
	l.top = max(0, min(l.top, len(l.keys)-l.page))
	return rows{l.top, min(len(l.keys), l.top+l.page), l.chosen}
}
