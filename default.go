package weir

import "sync"

// defaultLimit bounds what a flood of tasks on the default pool can cost, and is
// far above what tasks that wait for each other usually need.
const defaultLimit = 10_000

var defaultPool = sync.OnceValue(func() *Pool {
	p := New(defaultLimit, Name("default"))
	p.core.shared = true
	return p
})

// Default returns a pool for the whole program, with a limit of 10 000 and the
// default queue. The first call makes it. The whole program shares it: do not resize
// or pause it, and do not use it in a [testing/synctest] bubble, which would have to
// end before its workers do. Close and Shutdown panic.
func Default() *Pool { return defaultPool() }
