// Package reuse keeps objects that are costly to make for their next user: instead of making an
// object and leaving it to the garbage collector, a caller gets one, uses it, and puts it back.
//
//	var requests = reuse.Pool[*request]{New: newRequest, Reset: (*request).reset}
//
//	r := requests.Get()
//	defer requests.Put(r)
//
// # What to use
//
//   - [Pool]: objects of one type that cost nothing but memory, such as contexts of requests,
//     encoders and large structs. It has no size: the collector may take its objects at any time.
//   - [Buffers]: byte slices and values of type [bytes.Buffer] whose sizes differ from use to
//     use. It sorts them by size, so that one large buffer does not come to serve small needs
//     forever.
//   - [Keeper]: objects that are costly to open and must be closed, such as connections, files
//     and processes. It has a bound, checks what it hands out, and closes what is idle or left
//     over.
//
// If an object is small or rarely needed, use none of them: the collector deals well with small
// objects that die young, and two users can use a reused object at once, by mistake.
//
// # Vocabulary
//
// An object is in use from the Get that returns it until the Put that gives it back; meanwhile it
// belongs to its user alone. A Pool or Buffers keeps what a user puts for the next Get, or
// drops it, which leaves it to the collector. A Keeper leases its objects: a [Lease] is the
// right to use one, and an object that is not leased is idle until it is leased again, or closed.
//
// # Pools
//
// Never rely on getting an object that was put, nor on a call for an object that the collector
// takes. A [Pool] is a [sync.Pool], and scales as that does. Get and Put allocate nothing if there
// is an object to take, whatever its type. Objects that are not pointers, such as slices and
// structs, travel in holders, which the pool uses again, too: that costs one more call of a
// sync.Pool for each Get and each Put.
//
// # Memory of Buffers
//
// A slice from [Buffers.Get] has the size that the caller asks for. A buffer from
// [Buffers.GetBuffer] has the size that users needed lately, which PutBuffer learns: so work that
// needs other sizes should have Buffers of its own. Buffers take 2 KiB, and 128 bytes for each
// processor and each size in use: make one for a program or a kind of work, not for each request.
//
// What is not in use is kept in a [sync.Pool] for each power of two from 64 bytes to 64 MiB;
// nothing larger is kept. Two garbage collections free what was not taken in between.
//
// Large memory does not go on serving small needs: Get hands out at most twice what is asked for,
// but 64 bytes at least, and GetBuffer soon learns what is needed. After a burst of huge buffers
// all their memory is free when as many calls as GetBuffer says have passed, and then two
// collections. Nothing runs in the background.
//
// # Keepers
//
// A [Keeper] opens an object when a user needs one and none is idle, leases it until the user puts
// it back or discards it, keeps it idle until a user needs it again, and closes it when it is of no
// more use. Objects that are being opened, checked or closed count against the capacity, too: a
// server that admits as many connections as that never sees more. The keeper first leases the idle
// object that was used last, even if that one needs a check and another does not: so objects that
// are not needed expire. One without objects has no goroutine and no timer, unless it keeps MinIdle
// ready; one timer serves all idle objects.
//
// For each waiting user the keeper opens or checks an object, as far as the capacity allows. The
// user that came first gets the next free object, whether a user put it back or the keeper opened
// it for another user. What the keeper began for a user who got another object, or has left, then
// serves the next waiting user, or becomes idle; if it fails, no user learns of it, and the keeper
// begins another if a user still needs it. Nor does a user learn of what the keeper began before a
// [Keeper.Reset].
//
// A Get of an idle object allocates nothing, nor does a wait, except for the first waits after a
// time in which all objects were idle.
//
// # Tests
//
// With [Check] a test finds code that puts an object into a Pool or Buffers twice, uses it after
// Put, or never puts it back. The report of an object that is put twice has the stacks of both
// calls; of one that is not put back, the stack of its Get. The report of a write after Put names
// what was written, has the stack of the Put, and comes a few operations later, of any pool, or at
// the end of the test. What the goroutines of a test still use at its end is reported, too. If a
// pool was used without checks before, an object that did not come from it is reported only if
// another pool has handed the object out, for otherwise it may have come from this pool at that
// time.
//
// The poison makes code that reads an object after Put get nonsense, or panic. Integers are
// poisoned with bytes 0xDB, floating-point numbers with NaN, bools with true, and strings with
// "reuse: used after Put". Pointers, slices, maps, channels, functions and interfaces become nil,
// and types of the packages sync and sync/atomic zero. Put overwrites the value behind a pointer,
// the whole array of a slice, also if the slice is behind a pointer or in a [bytes.Buffer], and
// what an interface holds; it empties a map. It leaves alone what these refer to in turn, see
// [Pool.Poison], and what Keep refuses. To the race detector the poison is a write: it reports code
// that uses the object at the same time.
//
// A poisoned object is in quarantine, where Check finds writes to it. The quarantine holds some
// 1000 objects, or 16 MiB: Check does not find what is written to an object after it has left the
// quarantine.
//
// Check recognizes each pointer, map and channel, and each slice unless it has grown. Of other
// types, such as structs, strings and functions, and of pointers to types without size, it only
// counts how many are got and put.
//
// With parallel tests no report is false if each test that uses pools calls Check before it does.
// But Check reports a fault to all tests that check at the time, as it cannot tell which test
// caused it; and it reports an object that is not put back at the end of the last of the tests that
// overlap, since until then another test may put it.
//
// While checks are on, a lock puts all calls of Get and Put in order. That can hide races from the
// race detector, so run the tests without Check as well. While they are off, each Get and Put costs
// one load and one branch more.
//
// Everything works inside a [testing/synctest] bubble. But an object that holds a channel or
// timer made in a bubble must not leave it: keep such objects in a pool of the bubble. A [Keeper] with
// an IdleTimeout, Lifetime, Heartbeat or MinIdle has a timer while it has objects, so it must have none
// when the bubble ends: call Reset before, or Close where MinIdle is set.
package reuse
