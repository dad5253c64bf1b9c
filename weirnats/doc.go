// Package weirnats runs tasks that outlive the program: a queue of values on NATS JetStream, and pools that
// call a function with each value, in one process or in many.
//
//	queue, err := weirnats.Open[Mail](ctx, "mail", weirnats.Dir("/var/lib/mailer"))
//	err = queue.Put(ctx, mail, weirnats.ID(key))
//	err = queue.Serve(ctx, pool, func(ctx context.Context, m Mail) error { return send(ctx, m) })
//
// By default the server is part of the program. It keeps its files in a folder, and listens nowhere unless
// [Listen] says so. With [Server] the same program uses a server or a cluster, and any number of processes
// share the queue.
//
// # Vocabulary
//
// A message is a value that Put has accepted, from then until it is done. A message that was put with [At] or
// [After] waits for its time outside the queue.
//
// A delivery hands a message to one process, with a lease: the time for which no other process gets the
// message. Serve renews the lease while the process has the message.
//
// A try is a call of the function that Serve was given. A message is done when a try has returned nil. A
// message that has failed for good becomes a dead letter.
//
// # Promises
//
//  1. When Put has returned nil, the function is called with the message at least once, or the message is
//     among the dead letters, or it was put before with the same [ID]. [Durability] says what this is worth
//     when the power fails.
//  2. The function is called with a message more than once only after a failure. A failure is a failed try,
//     or a process that ends, stops for longer than the lease, or loses the server, before the server knows
//     that the message is done. Two processes never hold a valid lease on a message at the same time. A
//     process that cannot renew its lease in time knows that, and cancels the context of the try with
//     [ErrLost]. If the function goes on regardless, it may run twice at once.
//  3. Serve asks for a message without a [Key] only when the pool has a place for it. An idle queue takes no
//     place in the pool. The one message that comes to an idle queue whose pool has become busy meanwhile
//     gets the next free place, before the pool's queue. If that takes longer than the lease, the message
//     goes back, and the delivery does not count as a try.
//  4. A try counts when the function fails or panics, and when its process ends or loses the lease. A try
//     does not count when Serve ends before the function does: the message goes back at once. A message that
//     was with two processes in a row when they ended may have ended them. A process runs such messages one
//     at a time, so that messages that only happened to be there do not lose their tries.
//  5. A message becomes a dead letter, once and with its errors, when its tries are used up, when its error
//     is [weir.Permanent], or when it cannot be decoded. It never keeps others from being delivered.
//  6. Messages with the same [Key] run one at a time, in the order in which they were put, over all
//     processes. No message begins before all earlier messages of its key are done or dead letters, and the
//     server has confirmed that. A message that has failed, or was lost with its process, is tried again
//     before the others of its key. Messages of other keys do not wait for it.
//
// Messages without a [Key] start in the order in which they were put, as far as places allow, but no order is
// promised. A message that has failed, or was put for later, comes when its time has come: not before it by
// the server's clock, and mostly within half a second after it; while hundreds of messages a second fail, some
// seconds after it. A message with a key that was put for later
// takes its place in the order of its key when its time has come. Those of a key may change places if their
// times are within half a second, if they come while the queue is full, or if a process ends or loses the
// server as it moves the first of them. What came due while the server was away comes in the order in which it
// was put.
//
// # Serving
//
// Serve asks for as many messages as the pool has free places for it. At most one more of its tasks waits in
// the pool's queue. Other tasks of the pool take turns with those of Serve. To bound or weigh what Serve may
// take, give it a lane: [weir.Pool.Lane]. Serve must not be called by a task that has the pool's last place.
//
// What Serve has not finished when it ends goes back to the queue at once. If the server is away then, Serve
// waits up to 15 s for it.
//
// The context of a try has the values of the context of Serve, but not its deadline or cancellation. It is
// cancelled when the task of the pool has ended. It is also cancelled with the cause of Serve's context after
// the [Grace], with [ErrLost], with [ErrRunLimit], or with [weir.ErrClosed] when the pool is shut down.
// [Attempt] tells the function which try it is.
//
// If the function returns an error, panics, or calls [runtime.Goexit], the policy of [Retry] says whether and
// when there is another try; [weir.Permanent] and [weir.RetryAfter] mark errors. Serve first sends the
// outcome to the server. Then the pool calls its [weir.OnError] with a [*TryError], or with [weir.ErrGoexit];
// a panic goes to its [weir.OnPanic].
//
// # Keys
//
// Two Puts of one key are in order if the first has returned before the second is called. Promise 6 has the
// limits of promise 2: a function that goes on after its lease is lost may still run when the next try
// begins. And what a killed server has forgotten may come once more, later than it should.
//
// The keys are spread over [Partitions], and a partition belongs to one process at a time. When that process
// ends Serve, another process gets the partition at once. Another process also gets it after its owner has
// asked for no messages for a third of the lease, from 1 to 10 s. That happens when the owner was killed, or
// its pool has no place. The new owner gets the messages that have not begun, too. A message that was with a
// process that was killed, or that lost its connection, holds up its key until its lease ends. Messages that
// waited there behind others of their key lose no try by that, if they come before these are done.
//
// A process may hold more messages of a queue than it has places: those that wait behind others of their key,
// and those between two tries. It renews the leases of all of them, and holds at most 32 messages of a
// partition, or fewer that take 1 MiB. Once so much of one key is held, because its messages are large, come
// faster than they run, or wait long for a next try, the key holds up the other keys of its partition. More
// partitions make that rarer.
//
// The first Put with a key makes the partitions on the server, which takes some ms for each. Before that, a
// process that serves the queue asks once a second whether they exist, and keys cost nothing more. With 64
// partitions an idle process sends 13 small requests a second, and the server takes about 3 MB. A message
// with a key takes about three times as much processor time as one without: the server confirms its end, and
// keeps the state of each partition in a file.
//
// # What is not promised
//
// When a server that keeps each message once is killed, it forgets the deliveries of the last tenth of a
// second. Two processes may then have the same message, each with a lease that holds. With three [Replicas]
// that does not happen. After such a kill, a message that was done may stay in its stream; it is not delivered
// again.
//
// A server that is not embedded and keeps each message once has two more limits. If it is killed just as the
// first message with a key comes, it does not have the queue when it starts again, until a program calls
// [Open]. Then it has all messages, and messages that were running may come once more. If, in a cluster, it
// loses its power, it may lose the messages that it accepted last. A new message may then get the number of a
// lost one, and be taken for done.
//
// An embedded server that cannot write its files ends, and starts again when it can, as if it had been
// killed: see [BrokenError].
//
// A server drops what it cannot read on its disk, and says so only in its log. Therefore Open and [OpenAdmin]
// read all files before an embedded server starts, which takes about a second for a million messages, and
// return a [*DamagedError] if a file is damaged. Only the end of what was being written when the power failed
// is dropped, as [Durability] says. Damage that removes whole messages from the end of a file cannot be seen.
//
// A message in flight when the connection to a server breaks is delivered again after the lease, and
// counts as tried. One that the server sends just as Serve ends comes again at once, and does not count.
// But it may count if the connection is lost then, or if the [Lease] is shorter than some seconds. It may
// also count if it has a key, its process has had no message of its partition, and no other process serves
// the queue. A message whose next try is due at once comes only after the lease if the server ends just
// then, unless Serve was about to end.
//
// Some messages for later may be called with twice if the server ends while they become due or are moved into
// the queue, and starts again after more than the [Window]; with a Window below 10 s also if a process ends
// or loses the server then.
//
// Messages cannot be put in a transaction of a database: write them to a table there, and Put them from it
// with an [ID].
//
// # Repair
//
// To repair a folder for which Open returns a [*DamagedError], replace all its files by those of one copy: they
// belong together. Without a copy, move the damaged file away, and keep it. Then the queues open, and
//
//   - without a file *.blk, the messages in it are lost. Messages of earlier files that were done since may
//     come again: that they are done was in the lost file too. To bring the file back later, remove the file
//     index.db next to it. To lose less, cut a copy of the file off at the Offset of the error.
//   - without a file meta.inf, all messages are there. The next Open of the queue makes the file again, with
//     the settings that it is called with. Until then OpenAdmin does not find the queue.
//   - without a file meta.sum, all messages are there, and the file is made again.
//
// # Clocks
//
// An embedded server starts again when the clock is set by 10 s or more while it runs, or when the machine
// wakes up. Otherwise what waits for its time would come too late by as much.
//
// A server in a process of its own does not start again. If it is put to sleep, or its clock is set forward,
// it may see only that much later that a message is due. If its clock is set back, a message that waits for
// its next try, or whose process has ended, comes that much later.
//
// A clock that is set forward ends the leases of running tries, and the time that a policy allows for all
// tries. The [Window] of an [ID] is as long as the clock says.
//
// # Operation
//
// [Queue.Stats] has the counts of a queue. The first page of package weirdebug shows the counts of all open
// queues, and packages weirprom and weirotel export them. The command weirq, in the folder cmd/weirq of this
// module, lists the queues of a folder or a server. It shows what is in them and what is to come later, and
// replays or removes dead letters; [OpenAdmin] does that for programs. What bounds a queue, and what several
// of them gain, is in docs/scale.md of the repository.
package weirnats
