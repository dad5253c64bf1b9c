package top

import "github.com/64ed045f/weir/weirdebug"

// Rows is how many rows the tree of the groups has.
func Rows(groups []weirdebug.Group) int { return len(grow(groups)) }
