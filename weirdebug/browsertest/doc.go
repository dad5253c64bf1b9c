// Package browsertest tests the pages of package weirdebug in a browser.
//
//	go test -tags browser ./...
//
// The tests need Chromium or Chrome in PATH, and take a minute. Without the tag the package has no tests. The
// package is a module of its own, so that the library does not depend on the browser driver.
//
// The tests open each page of a small program, the shop: wide and narrow, light and dark. They check that the
// browser reports no errors, that no text of the program becomes markup, that the keyboard reaches all links
// and fields, and that all text is readable. They follow the links from the first page to the stack of a task
// that is stuck. They use the forms of [weirdebug.Control], by keyboard and from a page of another origin.
//
// If WEIR_PICTURES names a folder, the tests write a picture of each page into it. The pictures of the
// documentation take half a minute more:
//
//	WEIR_PICTURES=../../docs go test -tags browser -run Documentation .
//
// [weirdebug.Control]: https://pkg.go.dev/github.com/64ed045f/weir/weirdebug#Control
package browsertest
