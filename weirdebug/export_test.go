package weirdebug

import (
	"net/http/httptest"
	"time"

	"github.com/64ed045f/weir"
)

// Turns has room for as many answers as are made at once.
var Turns = turns

// Collected are the groups of a list that an answer for the query has.
func Collected(query string, list []weir.GroupInfo) (*Snapshot, error) {
	v, err := parseView(query)
	s := &Snapshot{Time: time.Now()}
	s.groups(v, list, v.kin(list))
	return s, err
}

// Shown is the page of groups with those of s.
func Shown(s *Snapshot) (string, error) {
	v, _ := parseView("groups")
	w := httptest.NewRecorder()
	err := pages.ExecuteTemplate(w, v.page, newPage(v, s))
	return w.Body.String(), err
}
