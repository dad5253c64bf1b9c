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
//     for ever.
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
// # Tests
//
// With [Check] a test finds code that puts an object into a Pool or Buffers twice, uses it after
// Put, or never puts it back.
//
// Everything works inside a [testing/synctest] bubble. But an object that holds a channel or
// timer made in a bubble must not leave it: keep such objects in a pool of the bubble.
package reuse
