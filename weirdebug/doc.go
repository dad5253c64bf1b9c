// Package weirdebug shows the pools, tasks and groups of a running program, as web pages and as JSON.
//
//	http.Handle("/debug/weir/", weirdebug.Handler())
//
// The first page lists all pools: what they do, how long tasks wait and run, and what is most often a mistake.
// It also lists the tasks of the whole program that have run longest, and the queues of [exporter.Queues],
// such as those of package weirnats. Links lead to each pool, to the stack of a task, and to the tree of
// groups, which shows what waits for what. The pages need no script, and load nothing from another server.
//
// # Access
//
// Stacks, labels and names reveal much about a program. Show the pages only to people who may see its logs:
// serve them on an address that cannot be reached from outside, or behind a handler that authenticates its
// users, as in the example of [Handler]. The pages change nothing, unless [Control] is given.
//
// # Queries
//
// All pages have the same path, and differ in the query:
//
//	?find=mail            the pools, queues and groups with that text in name, kind, label, server or place
//	?pool=3               one pool, by its ID
//	?pool=3&worker=7      the stack of the task on that worker
//	?groups               the tree of groups
//	?groups&group=9       one group, with its parents and the groups made in it
//	?group=9&worker=1     the stack of a task of a group
//	&longer=10s           only tasks and groups that have lasted so long; the default for groups is 10 ms
//	&slow=1m              how long a task must run to be marked as slow, 10 s by default
//	&refresh=5            seconds until the page is loaded again, 0 for never
//	&format=json          the same as JSON: a Snapshot
//
// Links between pages keep longer, slow and refresh. A request for an unknown pool gets status 404, and an
// invalid query 400. Each error is a line of plain text, even if the request asked for JSON. No answer lists
// more than 500 pools, 500 queues and 1000 groups, parents included; each says how many it leaves out.
//
// # Control
//
// [Control] refuses requests that a browser makes for a page of another site, with status 403: see
// [http.CrossOriginProtection]. It does not authenticate the client. It does not stop DNS rebinding either: a
// site can let its name resolve to the address of this server once its page is in the browser, which then
// takes both for one site. That also works if the server listens on localhost only. Put a handler in front
// that asks for a password, or refuses every Host but its own.
//
// # Cost
//
// [Handler] calls [weir.Watch], which makes each group a little more expensive. A page takes about 10 µs for
// each pool, and reads the state of all workers once. While pages are requested, and for a minute after that,
// a timer counts every two seconds how many tasks the pools have finished.
//
// Some pages take a profile of all goroutines, which stops the program for about 10 µs: a page with a stack,
// a page on which a task has run for a second, and a page on which a pool has as many slow tasks as places.
//
// The first page asks the server of each queue for its counts, and waits for at most two seconds. A queue
// that has not answered is shown with its last counts and the error. All handlers together prepare two
// answers at a time. Other requests wait, and are dropped if their clients leave.
package weirdebug
