// Package hostile attacks weirhttp as an unknown client on the network can. It uses raw connections, made-up
// keys, and requests that are malformed, cut off, slow, or never read.
//
// Whatever one connection does, the counts must balance. The server serves or refuses each request that
// arrives, exactly once. Never do more requests run, or wait, than are allowed. When all connections are gone,
// all slots are free, weirhttp remembers no key, no goroutine is left, and the log of the server has only the
// panics of the handlers. Meanwhile the server answers the well-formed requests on other connections.
//
// Tests that need sockets (resets, half-closed connections) use the loopback interface, and wait for events,
// never for a time. Tests about time run in a testing/synctest bubble, over connections in memory.
// TestOfManyRequestsAtOnceEachIsServedOrRefusedOnce has no connections at all, and draws what the soak goes on with.
// FuzzRawRequests looks for requests that the tables do not contain:
//
//	go test ./hostile -run '^$' -fuzz FuzzRawRequests -fuzztime 5m
//
// TestEveryPlantedBugIsFound shows that these tests notice when weirhttp breaks its promises.
package hostile
