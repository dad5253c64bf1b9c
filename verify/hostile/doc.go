// Package hostile attacks weirhttp as a stranger on the network can: over raw connections, with
// requests that are malformed, cut off, slow, or never read, and with keys that are made up.
//
// Whatever one connection does, the books must balance. Each request that arrives is served once
// or refused once. Never do more run, nor wait, than may. When all connections are gone, all
// slots are free, no key is remembered, no goroutine is left, and the log of the server
// has no panic but those of the handlers. Meanwhile the well-formed requests on other connections are
// answered.
//
// What needs sockets (resets, half-closed connections) runs over the loopback interface, and waits
// for events, never for a time. What is about time runs in a testing/synctest bubble, over
// connections in memory. FuzzRawRequests looks for requests that nobody has thought of:
//
//	go test ./hostile -run '^$' -fuzz FuzzRawRequests -fuzztime 5m
//
// TestEveryPlantedBugIsFound shows that these tests see when weirhttp breaks its promises.
package hostile
