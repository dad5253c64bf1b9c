// Package reuse keeps objects that are costly to make for their next user. Instead of making an object and
// leaving it to the garbage collector, a caller gets an object, uses it, and puts it back.
//
//	var requests = reuse.Pool[*request]{New: newRequest, Reset: (*request).reset}
//
//	r := requests.Get()
//	defer requests.Put(r)
//
// # What to use
//
//   - [Pool]: objects of one type that cost only memory, such as contexts of requests, encoders and large
//     structs. A Pool has no fixed size: the garbage collector may take its objects at any time.
//   - [Buffers]: byte slices and values of type [bytes.Buffer] whose sizes differ from use to use. It sorts
//     them by size, so that a large buffer does not serve small needs forever.
//   - [Keeper]: objects that are costly to open and must be closed, such as connections, files and processes.
//     A Keeper bounds the number of objects, checks what it hands out, and closes objects that are idle or
//     left over.
//
// If an object is small or rarely needed, use none of them. The garbage collector deals well with small
// objects that die young. And by mistake two users can use a reused object at the same time.
//
// # Vocabulary
//
// An object is in use from the Get that returns it until the Put that gives it back; meanwhile it belongs to
// its user alone. A Pool or Buffers keeps an object that a user puts for the next Get, or drops it, which
// leaves it to the garbage collector. A Keeper leases its objects: a [Lease] is the right to use one object.
// An object that is not leased is idle until it is leased again, or closed.
//
// # Pools
//
// Do not rely on getting an object that was put. The pool calls no function for an object that the garbage
// collector takes. A [Pool] is a [sync.Pool], and scales like it. Get and Put allocate nothing if there is an
// object to take, whatever its type. Objects that are not pointers, such as slices and structs, travel in
// holders, which the pool reuses, too. That costs one more call of a sync.Pool for each Get and each Put.
//
// # Memory of Buffers
//
// A slice from [Buffers.Get] has the size that the caller asks for. A buffer from [Buffers.GetBuffer] has the
// size that users needed lately, which PutBuffer learns. So work that needs other sizes should have Buffers
// of its own. Buffers take 2 KiB, and 128 bytes for each processor and each size in use: make one for a
// program or a kind of work, not for each request.
//
// Buffers keep unused memory in a [sync.Pool] for each power of two from 64 bytes to 64 MiB, and keep nothing
// larger. Two garbage collections free memory that was not taken in between.
//
// Large memory does not serve small needs for long. Get returns at most twice what is asked for, but at least
// 64 bytes, and GetBuffer soon learns what is needed. After a burst of huge buffers, all their memory is free
// after as many calls as GetBuffer documents, and then two garbage collections. Nothing runs in the
// background.
//
// # Keepers
//
// A [Keeper] opens an object when a user needs one and none is idle. It leases the object until the user puts
// it back or discards it, and then keeps it idle until a user needs it again. It closes the object when it is
// no longer useful. Objects that are being opened, checked or closed count against the capacity, too: a
// server that admits as many connections as the capacity never sees more.
//
// The keeper leases the idle object that was used last, even if that object needs a check and another does
// not. So objects that are not needed expire. A keeper without objects has no goroutine and no timer, unless
// it keeps MinIdle objects ready. One timer serves all idle objects.
//
// For each waiting user the keeper opens or checks an object, as far as the capacity allows. The user that
// came first gets the next free object, whether another user put it back or the keeper opened it for another
// user. So an Open or Check may be left without its user, because that user has left or got another object.
// Its object then serves the next waiting user, or becomes idle. If it fails, no user gets its error, and the
// keeper begins another one if a user still needs it. Nor does a user get an error from an Open or Check that
// began before a [Keeper.Reset].
//
// A task of a [weir.Pool] that waits in Get keeps its place. The Open or Check that was begun for it may wait
// for groups on that pool which are made from its context: their tasks run in the place of the user's task. If
// that task has gone on or has ended meanwhile, its worker may have the place for another task: then one task
// more than the limit runs.
//
// A Get of an idle object allocates nothing. A wait allocates nothing either, except for the first waits
// after a time in which all objects were idle.
//
// # Tests
//
// With [Check] a test finds code that puts an object into a Pool or Buffers twice, uses it after Put, or
// never puts it back. The report of an object that is put twice has the stacks of both calls. The report of
// an object that is not put back has the stack of its Get. It includes objects that goroutines of the test
// still use when the test ends. The report of a write after Put names what was written and has the stack of
// the Put. It comes a few operations later, of any pool, or at the end of the test.
//
// If a pool was used without checks before, an object that did not come from it may seem to have come from it
// at that time. Check then reports such an object only if another pool has handed it out.
//
// The poison makes code that reads an object after Put get nonsense, or panic. Integers are poisoned with
// bytes 0xDB, floating-point numbers with NaN, bools with true, and strings with "reuse: used after Put".
// Pointers, slices, maps, channels, functions and interfaces become nil, and types of the packages sync and
// sync/atomic become zero. Put overwrites the value behind a pointer and the whole array of a slice, also if
// the slice is behind a pointer or in a [bytes.Buffer]. It overwrites what an interface holds, and empties a
// map. It does not overwrite what these refer to in turn, see [Pool.Poison], nor objects that Keep refuses.
// The race detector sees the poison as a write: it reports code that uses the object at the same time.
//
// A poisoned object is in quarantine, where Check finds writes to it. The quarantine holds about 1000
// objects, or 16 MiB. Check does not find writes to an object after it has left the quarantine.
//
// Check recognizes each pointer, map and channel, and each slice unless it has grown. For other types, such
// as structs, strings and functions, and for pointers to types of size zero, it only counts how many objects
// are got and put.
//
// With parallel tests no report is false if each test that uses pools first calls Check. But Check reports a
// fault to all tests that check at the time, as it cannot tell which test caused it. It reports an object
// that is not put back at the end of the last of the tests that overlap, since until then another test may
// put it.
//
// While checks are on, a lock puts all calls of Get and Put in order. That can hide races from the race
// detector, so run the tests without Check as well. While checks are off, each Get and Put costs one more
// load and one more branch.
//
// Everything works inside a [testing/synctest] bubble. But an object that holds a channel or timer made in a
// bubble must not leave it: keep such objects in a pool of the bubble. A [Keeper] with an IdleTimeout,
// Lifetime, Heartbeat or MinIdle has a timer while it has objects. So it must have no objects when the bubble
// ends: call Reset before, or Close if MinIdle is set. While an object of a Keeper is in use outside a bubble, no
// Get inside it must wait.
package reuse
