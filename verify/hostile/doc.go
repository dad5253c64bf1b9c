// Package hostile attacks weirhttp as an unknown client on the network can: over raw connections, with
// requests that are malformed, cut off, slow, or never read, and with keys that are made up.
//
// Whatever one connection does, the books must balance. The server serves or refuses each request that arrives, once.
// Never do more requests run, or wait, than may. When all connections are gone, all
// slots are free, weirhttp remembers no key, no goroutine is left, and the log of the server
// has only the panics of the handlers. Meanwhile the server answers the well-formed requests on other
// connections.
//
// Tests that need sockets (resets, half-closed connections) run over the loopback interface, and wait
// for events, never for a time. Tests about time run in a testing/synctest bubble, over
// connections in memory. FuzzRawRequests looks for requests that the tables do not have:
//
//	go test ./hostile -run '^$' -fuzz FuzzRawRequests -fuzztime 5m
//
// TestEveryPlantedBugIsFound shows that these tests see when weirhttp breaks its promises.
package hostile
