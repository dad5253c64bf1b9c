// Package weirdebug shows the pools, tasks and groups of a running program: as pages for a browser, and as JSON.
//
//	http.Handle("/debug/weir/", weirdebug.Handler())
//
// The first page lists all pools with what they do, how long tasks wait and run, what is most often a mistake, the tasks of the program
// that have run for longest, and the queues of [exporter.Queues], such as those of package weirnats. From there links lead to one pool, to the stack of a task, and to the tree of groups: what waits for what.
// The pages need no script, and nothing from another server.
//
// # Who may see it
//
// Stacks, labels and names tell much about a program. Let only those see the pages who may see its logs: serve them on an address that
// cannot be reached from outside, or behind a handler that asks who it is; the example of [Handler] shows one. The pages change nothing,
// unless [Control] is given.
//
// # Queries
//
// Everything has one path, and differs by the query:
//
//	?find=mail            the pools, queues and groups with that text in name, kind, label, server or place
//	?pool=3               one pool, by its ID
//	?pool=3&worker=7      the stack of the task on that worker
//	?groups               the tree of groups
//	?groups&group=9       that of one group: what it was made in, and what was made in it
//	?group=9&worker=1     the stack of a task of a group
//	&longer=10s           only tasks and groups that have been there for so long; by default groups that have for 10 ms
//	&slow=1m              what counts as slow for the marks of mistakes, 10 s by default
//	&refresh=5            the page is loaded again after so many seconds, 0 for never
//	&format=json          the same as JSON: a Snapshot
//
// Links from page to page keep longer, slow and refresh. A pool that is not there is answered with 404, what cannot be understood with 400,
// and each error is a line of plain text, also where JSON is asked for. No answer lists more than 500 pools, 500 queues and 1000 groups, those that they were made
// in included; each says how many it leaves out.
//
// # Cost
//
// [Handler] calls [weir.Watch], whose price each group pays. A page takes some 10 µs for each pool, and looks at all workers once.
// While pages are asked for, and for a minute after that, a timer counts what the pools finish, every two seconds. A stack, a page on which a
// task has run for a second, and one on which a pool has as many slow tasks as places, takes a profile of all goroutines, which stops the program
// for some 10 µs. The first page asks the server of each queue for its counts, and waits for two seconds at most; a queue that has not answered
// has its last counts there, and the error. Two answers are made at once, of all handlers; other requests wait, and are dropped if their clients leave.
package weirdebug
