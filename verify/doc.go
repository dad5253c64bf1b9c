// Package verify holds, in packages of its own, the machines that try to break Weir's promises. What each of them
// does, and how to run it, stands in docs/testing.md; why the promises hold, in docs/promises.md.
package verify
