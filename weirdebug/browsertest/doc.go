// Package browsertest tests the pages of package weirdebug in a browser.
//
//	go test -tags browser ./...
//
// The tests need a Chromium or a Chrome in PATH, and a minute. Without the tag the package has no tests. It is a module of its own, so that the
// library does not depend on what drives a browser.
//
// The tests look at each page of a small program, the shop, wide and narrow, light and dark: whether the browser complains, whether a text of
// the program becomes part of the page, whether the keyboard reaches all links and fields, and whether all can be read. They follow the links
// from the first page to the stack of a task that is stuck, and use the forms of [weirdebug.Control], by keyboard and from a page of another origin.
//
// If WEIR_PICTURES names a folder, the tests write a picture of each page into it. Those of the documentation take half a minute more:
//
//	WEIR_PICTURES=../../docs go test -tags browser -run Documentation .
//
// [weirdebug.Control]: https://pkg.go.dev/github.com/64ed045f/weir/weirdebug#Control
package browsertest
