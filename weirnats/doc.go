// Package weirnats runs tasks that outlive the program: a queue of values on NATS JetStream, and pools that call a function with each of them, in one
// process or in many.
//
//	queue, err := weirnats.Open[Mail](ctx, "mail", weirnats.Dir("/var/lib/mailer"))
//	err = queue.Put(ctx, mail, weirnats.ID(key))
//	err = queue.Serve(ctx, pool, func(ctx context.Context, m Mail) error { return send(ctx, m) })
//
// By default the server is a part of the program, keeps its files in a folder, and listens nowhere unless [Listen] says so. With [Server] the same program uses a server or a
// cluster, and any number of processes share the queue.
//
// # Vocabulary
//
// A message is a value that Put has accepted, from then until it is done. One that was put with [At] or [After] waits for its time outside of the queue. A delivery hands it to one process, with a lease: the time for
// which no other process gets it. Serve renews the lease while the message is there. A try is a call of the function that Serve was given. A message is
// done when a try has returned nil. One that has failed for good becomes a dead letter.
//
// # Promises
//
//  1. When Put has returned nil, the message is called with at least once, or is among the dead letters, or was put before with the same [ID]. What "returned" is worth
//     when the power fails says [Durability].
//  2. It is called with more than once only after a failure: if a try fails, if a process ends, stops for longer than the lease or loses the server before
//     the server knows that the message is done. At no time do two processes hold a lease that is valid: a process that cannot renew one in time
//     knows that, and cancels the context of the try, with [ErrLost]. A function that goes on regardless may then run twice at once.
//  3. Serve asks for a message without a [Key] only when the pool has a place for it. An idle queue takes no place of the pool. The one message that
//     comes to an idle queue whose pool has become busy meanwhile gets the next place that is free, before the queue of the pool; if that takes
//     longer than the lease it goes back, and that does not count as a try.
//  4. A try counts when the function fails or panics, and when its process ends or loses the lease. It does not count when Serve ends before
//     the function does: then the message goes back at once. A message that was with two processes in a row when they ended may have ended them: of such messages one
//     runs at a time in a process, so that those that just were there do not lose their tries with it.
//  5. A message whose tries are used up, or whose error is [weir.Permanent], or that cannot be decoded, is moved to the dead letters, once, with its errors. It never
//     keeps others from being delivered.
//  6. Messages with the same [Key] run one at a time, in the order in which they were put, over all processes: none begins before all earlier ones of its key are
//     done or dead letters, and the server has confirmed that. One that has failed, or was lost with its process, is tried again before the others of its key. Those of other
//     keys do not wait for it.
//
// Without a [Key] messages start in the order in which they were put, as far as places allow; those that failed come again when their time has come, and so do those that were put for
// later: not before it by the clock of the server, and mostly within half a second after it. No order is promised. A message with a key that was put for later takes its place in the order
// of the key when its time has come.
//
// # Keys
//
// Two Puts of one key are in order if one has returned before the other is called. Promise 6 has the limits of promise 2: a function that goes on after its lease is
// lost may still run when the next try begins, and what a server forgets that is killed may come once more, later than it should.
//
// The keys are spread over [Partitions], and a partition goes to one process at a time. That changes when the process ends Serve, at once; or when it has asked for no more
// messages for a third of the lease, from 1 to 10 s, as it was killed or its pool has no place: then another process gets the partition, and what has not begun. A message that was with a
// process which was killed, or lost its connection, holds up its key until its lease ends.
//
// A process may hold more messages of a queue than it has places: those that wait behind others of their key, and those between two tries, all with leases that it renews, and not more than 32
// of a partition. A key whose messages come faster than they run, or that waits long for its next try, so holds up the other keys of its partition once 32 of its messages
// are held. More partitions make that rarer.
//
// The first Put with a key makes the partitions on the server, some ms each; before that, a process that serves the queue asks once a second whether they exist, and keys cost nothing more. With 64 of them an idle process sends 13 small
// requests a second, and the server takes about 3 MB. A message with a key takes about three times as much of the processors as one without: its end is confirmed, and the server keeps
// the state of each partition in a file.
//
// # What is not promised
//
// A server that keeps each message once and is killed forgets the deliveries of the last tenth of a second: two processes may then have the same message, with leases that both hold.
// With [Replicas] of 3 that is not so. A message that was done may stay in its stream then, and is delivered no more. If a server that is not embedded, and keeps each message once, is killed
// just as the first message with a key comes, it does not have the queue when it starts again, until a program calls [Open]: then it has all messages, and those that were being run may come once more. If it loses
// its power, and with it what it has accepted last, in a cluster, a message may be taken for done that has got the number of a lost one. An embedded server that cannot write its files ends, and starts anew when it can, as if it had been killed: see [BrokenError].
// What a server cannot read on its disk it drops, and says so in its log alone. Before an embedded server starts, Open and [OpenAdmin] read all of its files, which
// takes about a second for a million messages, and return a [*DamagedError] in place of that. Only the end of what was written when the power failed is dropped, as [Durability] says; and damage
// that takes whole messages from the end of a file cannot be seen.
//
// A message in flight when the connection to a server breaks is delivered again after the lease, and counts as tried.
// If the server ends while messages for later become due or are moved into the queue, and starts anew after more than the [Window], some of these may be called with twice.
//
// An embedded server starts anew when the clock is set by 10 s or more while it runs, or the machine wakes up: else what waits for its time would come too late by as much. One in a process of its own does not: when
// that is put to sleep, or its clock is set forward, it may see that a message is due only as much later; and when its clock is set back, a message that waits for its next try, or whose process has
// ended, comes as much later. A clock that is set forward ends the leases of tries that run, and the time that a policy allows for all tries; and the [Window] of an [ID] is as long as the clock says.
//
// Messages cannot be put in a transaction of a database: write them to a table there, and Put them from it with an [ID].
//
// # Operation
//
// [Queue.Stats] has the counts of a queue. The first page of package weirdebug shows those of all open queues, and packages weirprom and weirotel
// export them. The command weirq, in the folder cmd/weirq of this module, lists the queues of a folder or a server, shows what is in them and what is to
// come later, and replays or removes dead letters; [OpenAdmin] does that for programs. What bounds a queue, and what several of them gain, is in
// docs/scale.md of the repository.
package weirnats
