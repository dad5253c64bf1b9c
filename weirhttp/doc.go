// Package weirhttp lets through as many HTTP requests at once as a program can serve, and delays or refuses
// the rest. It does so on the side of the server and on the side of the client.
//
//	http.ListenAndServe(addr, weirhttp.Limit(mux, 100))
//
// # What to use
//
//   - [Limit]: a handler that runs a limited number of requests at once, lets a few more wait for a short
//     time, and refuses the rest at once.
//   - [Do]: a handler whose requests run on the workers of a [weir.Pool], among its tasks.
//   - [Transport]: a client's [net/http.RoundTripper] that sends a limited number of requests at once to each
//     host.
//
// # Vocabulary
//
// A request runs while its handler does. The limit is the most requests that run at once; each of these holds
// a slot. A request that finds no free slot waits if the queue has room; otherwise it is refused. A refused
// request is answered at once, and the handler never sees it. A request that has waited for too long is
// refused, too. A request is gone when its context is done, mostly because the client has hung up. A Limiter
// or a Transport has slots; a [weir.Pool] has places, one for each request or task under its limit.
//
// # Why to limit
//
// A server that takes on more than it can do becomes slow for all its clients. They give up one after the
// other, and the server then does work that no client wants. A server that refuses the excess serves as much
// as it can, in good time, and a refused client learns at once when to come again.
//
// The right limit depends on what a request needs: for pure computation little more than
// [runtime.GOMAXPROCS], for a database as many as it handles well at once. The queue is for bursts. While
// more requests come than the server can serve, every queue fills, and only adds its wait to each answer.
// With a queue as long as the limit, the default, that wait is about as long as a request takes.
//
// # Where to limit
//
// Put an [http.TimeoutHandler] before a [Limiter]: http.TimeoutHandler(weirhttp.Limit(h, n), …). Behind the
// Limiter, the TimeoutHandler returns while its own handler still runs, so that more than n run. A Limiter
// may stand before a whole server, or before single routes; see the examples. With one Limiter behind
// another, a request that waits at the inner one holds a slot of the outer one.
//
// A request that finds a free slot takes two short locks and allocates nothing, except with [On]. With
// [PerKey] it allocates the record of its key, if no other request has that key. A key must be something that
// a client cannot choose as it likes, or each of its requests has a key of its own. A refusal allocates only
// what the [http.ResponseWriter] does.
//
// # On the workers of a pool
//
// [Limit] with [On] shares the limit of a pool as [Do] does, but runs the handler on the goroutine of
// net/http, bounds the wait, and refuses early. Do is for handlers that must run on the pool's workers, for
// example for their profiler labels. With Do, requests wait without a bound, unless the pool sets one. An
// overloaded server answers at once if its pool has a short [weir.Queue] and MaxWaiting(0).
//
// Do serves requests in the order of arrival. Its handler gets the same [http.ResponseWriter], and may flush,
// hijack, or use an [http.ResponseController] as usual. If the context of a request is done before a worker
// has started it, its room in the queue is free at once. A request allocates about ten objects.
//
// With Do and On the handler gets a copy of the request, in which it finds the trailers as usual. A handler
// outside then finds the Pattern and the MultipartForm in its own request. It does not find other values that
// the inner handler has set, such as path values or Form.
//
// With Do, if the handler panics, ServeHTTP panics on the goroutine of net/http with an error that wraps a
// [*weir.Panic]. The error's text has the panic's value and the stack of the handler, so that the log of the
// server shows them. If the handler panics with [http.ErrAbortHandler], ServeHTTP panics with that same
// value, because net/http compares it. If the handler calls [runtime.Goexit], ServeHTTP panics with
// http.ErrAbortHandler, too: without a pool, Goexit ends the connection in the same way.
//
// # Hosts and slots of a Transport
//
// A host is a name or an address with a port. Its spelling does not matter: example.com is the same host as
// EXAMPLE.com, example.com. and example.com:80. An international name in lower case and composed form (NFC) is the
// same host as the ASCII form that it is looked up by. Other spellings that net/http maps to the same name, such as
// full-width letters, may be another host.
//
// The body of a response that can be written to, as that of 101 Switching Protocols, must be closed. Any other
// body that is neither closed nor read to its end holds its slot until the context of its request ends, and
// with it a connection of [http.Transport]. Unlike MaxConnsPerHost of [http.Transport], a [Transport] bounds
// requests, of which HTTP/2 has many on one connection. It also bounds how many wait, and for how long.
//
// A Transport remembers a host only while requests to it wait or are under way. With Rate it also remembers hosts
// that have not rested yet; each later request makes it forget some hosts that have.
//
// # What net/http does meanwhile
//
// net/http gives each request a goroutine, on which the handler runs: only Do hands the request over to
// another one. While a request waits, that goroutine is parked, and the body is not read. So a client that
// sent "Expect: 100-continue" does not send its body yet.
//
// net/http sees that an HTTP/1 client has hung up only when the request has no body, or when its body was
// read to the end. So if a request waits with an unread body, only [MaxWait] ends its wait. With HTTP/2
// net/http always sees that the client has hung up.
//
// The server's ReadTimeout and WriteTimeout count from the arrival of the request, so the wait is part of
// them: [MaxWait] should be well below.
//
// A refusal keeps an HTTP/1 connection only if the request has no body, or one of at most 14 KiB, which is
// what TCP sends unasked (RFC 6928). For a longer body, or one of unknown length, the refusal says
// "Connection: close" and is written at once; the same goes for a client that waits for "100 Continue". The
// reason is that the next request on the connection comes after the rest of the body. net/http reads up to
// 256 KiB of that rest before it writes an answer that keeps the connection. This costs little for a body
// that has arrived with the header, while a new connection costs a handshake at the worst time. In either
// case net/http waits for the rest of a body of less than 256 KiB, for as long as the server's ReadTimeout
// allows. Without a ReadTimeout, each client that sends nothing holds a goroutine forever, as with every
// other handler.
package weirhttp
