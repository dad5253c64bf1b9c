// Package weirhttp lets through as many HTTP requests at once as a program can serve, and delays
// or refuses the rest, on the side of the server and on that of the client.
//
//	http.ListenAndServe(addr, weirhttp.Limit(mux, 100))
//
// # What to use
//
//   - [Limit]: a handler that runs a limited number of requests at once, has a few more wait
//     for a short time, and refuses the rest at once.
//   - [Do]: a handler whose requests are served by the workers of a [weir.Pool], among its tasks.
//   - [Transport]: a client's [net/http.RoundTripper] that sends a limited number of requests at
//     once to each host.
//
// # Vocabulary
//
// A request runs while its handler does. The limit is the most requests that run at once; each
// that runs holds a slot. A request that finds no slot free waits if the queue has room, and is
// refused otherwise: it is answered at once, and the handler never sees it. A request that has
// waited for too long is refused, too. A request is gone when its context is done, mostly because
// the client has hung up. A slot belongs to a Limiter or a Transport; under the limit of a
// [weir.Pool] a request or task has a place.
//
// # Why to limit
//
// A server that takes on more than it can do does all of it slowly, until the clients give up
// one after the other, and then does work that no client wants. A server that refuses what is too
// much serves as much as it can, in good time, and a refused client learns at once when to come
// again. How many may run is a matter of what a request needs: for pure computation little more
// than [runtime.GOMAXPROCS], for a database as many as that likes to have at once. The queue is
// for bursts: while the requests that come take more than the server has, every queue fills, and
// only adds its wait to each answer. With a queue as long as the limit, the default, that wait is
// about as long as a request takes.
//
// # What net/http does meanwhile
//
// net/http gives each request a goroutine, on which the handler runs: only Do hands the request
// over. While a request waits, that goroutine is parked, and the body is not read, which keeps
// a client that sent "Expect: 100-continue" from sending it.
//
// net/http sees that an HTTP/1 client has hung up only when the request has no body, or when
// its body was read to the end. A request that waits with a body unread is gone only when
// [MaxWait] ends its wait. With HTTP/2 net/http always sees it.
//
// The server's ReadTimeout and WriteTimeout count from the arrival of the request, so the wait
// is part of them: [MaxWait] should be well below.
//
// What a refused request has sent of its body lies in the way of the next request on an HTTP/1
// connection. net/http reads up to 256 KiB of it, and does so before it writes an answer that
// keeps the connection. For a body that has arrived with the header that costs little, while a
// new connection costs a handshake at the worst time. So a refusal keeps the connection where
// there is no body, or one of at most 14 KiB, which is what TCP sends unasked (RFC 6928). For
// a longer one, or one of unknown length, it says "Connection: close" and is written at once;
// so it is for a client that waits for "100 Continue". In either case net/http waits for the
// rest of a body of less than 256 KiB for as long as the server's ReadTimeout allows: without
// one, clients that send nothing hold a goroutine each for ever, as they do with every other
// handler.
package weirhttp
