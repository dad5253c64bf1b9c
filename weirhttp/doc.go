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
// # Where to limit
//
// Put an [http.TimeoutHandler] before a [Limiter]: http.TimeoutHandler(weirhttp.Limit(h, n), …).
// Behind the Limiter it returns while its own handler still runs, so that more than n run. A
// Limiter may stand before a whole server, or before single routes; see the examples. With one
// behind another, a request that waits at the inner one holds a slot of the outer one.
//
// A request that finds a slot free costs two short locks and allocates nothing; with [PerKey] it
// allocates the record of a key that has no other request. A refusal allocates only what the
// [http.ResponseWriter] does.
//
// # On the workers of a pool
//
// [Limit] with [On] shares the limit of a pool as [Do] does, but runs the handler on the goroutine
// of net/http, bounds the wait, and refuses early. With Do requests wait without a bound, unless
// the pool sets one; it is for handlers that must run on the pool's workers, as for their profiler
// labels. An overloaded server answers at once if its pool is made with a short [weir.Queue] and
// MaxWaiting(0).
//
// Do serves requests in the order of arrival. Its handler gets the same [http.ResponseWriter], and
// may flush, hijack, or use an [http.ResponseController] as usual. When the context of a request is
// done before a worker has started it, its room in the queue is free at once. A request costs some
// ten objects.
//
// With Do and On the handler gets a copy of the request. A handler outside then finds the Pattern and the
// MultipartForm in its own, and not what else the handler has set, such as the values of a path or Form.
//
// If the handler panics, ServeHTTP panics on the goroutine of net/http with an error that wraps a
// [*weir.Panic] and whose text is its value and the stack of the handler, so that the log of the
// server shows them. If the handler panics with [http.ErrAbortHandler], so does ServeHTTP, since
// net/http compares the value; and also if the handler calls [runtime.Goexit], which ends the
// connection in the same way without a pool.
//
// # Hosts and slots of a Transport
//
// A host is a name or an address, however it is spelled, with a port: example.com is EXAMPLE.com,
// example.com. and example.com:80, an international name in composed form (NFC) is the ASCII form that it is looked up by. What else
// net/http maps to the same name, such as letters of full width, is another host.
//
// A body that can be written to, as that of 101 Switching Protocols, must be closed. A body that is
// neither closed nor read to its end holds the slot for good, and with it a connection of
// [http.Transport]. Unlike MaxConnsPerHost of [http.Transport], a [Transport] bounds requests, of
// which HTTP/2 has many on one connection, and also how many wait, and for how long.
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
// one, clients that send nothing hold a goroutine each forever, as they do with every other
// handler.
package weirhttp
