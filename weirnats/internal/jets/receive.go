package jets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/64ed045f/weir/weirnats/internal/backend"
)

const (
	// mostPulled is how many bytes one pull asks for at most: a server cuts the connection of a client that
	// has 64 MiB to read.
	mostPulled = 16 << 20
	// tooLarge is what the server says when the next message would exceed the bytes that the pull asked for.
	tooLarge = "Message Size Exceeds MaxBytes"
	// complete is what the server says after the last message of a pull that stayed below its number of
	// bytes.
	complete = "Batch Completed"
)

// mostAgain is the longest time until a message comes again. The server computes with times in ns, which end in
// 2262. And before an embedded server starts, package check takes times that lie ten years ahead for damage, and
// has all messages delivered again.
const mostAgain = 9 * 365 * 24 * time.Hour

// mostSwept is how many messages one pull of sweep asks for at most.
const mostSwept = 64

// answerTime is how much longer than it was asked to the server may take.
const answerTime = 2 * time.Second

var (
	errInterrupted = errors.New("connection was lost")
	errNoAnswer    = errors.New("server did not answer")
	errEnded       = errors.New("receiver is closed")
)

// receiver implements [backend.Receiver]. It speaks the protocol of pull requests itself, because its
// subscriptions serve one pull after another, and the client's Fetch makes a subscription for each.
type receiver struct {
	of    *queue
	from  jetstream.Stream
	name  string // of the consumer
	next  string // the subject of the API to which pulls go
	lease time.Duration
	bare  bool              // messages that go back leave no record
	seen  func(term string) // gets the term of each delivery of a partition; otherwise nil
	late  sync.WaitGroup

	mu       sync.Mutex
	free     []*line
	busy     map[*line]bool
	awaiting map[*line]*time.Timer // the lines that are drained when the server answers, or the timer ends
	ending   []*line
	closed   bool
	last     string // the subject to which the last acknowledgement went
	unmet    int    // how many lines were drained that a delivery may have been on its way to
}

// line is a subscription to which the server sends what one pull asks for. A message does not say which pull
// it answers. So a line whose pull has ended without the server's answer serves no other pull: what still
// arrives there goes back.
//
// A message on its way to a line that is drained meets no process. So if the server is about to answer a pull
// that has ended, the line waits for that: see retire.
type line struct {
	of    *receiver
	inbox string
	sub   *nats.Subscription
	ended chan struct{} // closed when the subscription has ended
	end   func(subject string)

	// Guarded by the mutex of the receiver.
	sent  time.Time
	heard time.Time // when the last message came; zero before
	epoch uint64    // the epoch of the connection, or of the connection before
	on    uint64    // the epoch of the connection, or unsent
	ask   request
	left  int
	take  func(backend.Delivery) bool // nil if no pull is under way
	done  chan error                  // capacity 1

	retired bool
}

func (q *queue) Receive() (backend.Receiver, error) {
	return q.receive(q.messages, consumer, q.settings.Lease), nil
}

// receive returns a receiver of messages from a consumer of a stream, whose lease is given.
func (q *queue) receive(from jetstream.Stream, consumer string, lease time.Duration) *receiver {
	r := &receiver{
		of:    q,
		from:  from,
		name:  consumer,
		next:  "$JS.API.CONSUMER.MSG.NEXT." + from.CachedInfo().Config.Name + "." + consumer,
		lease: lease,
		busy:  make(map[*line]bool),

		awaiting: make(map[*line]*time.Timer),
	}
	q.conn.mu.Lock()
	defer q.conn.mu.Unlock()
	q.conn.receivers[r] = true
	return r
}

// line returns a line on which no pull is under way.
func (r *receiver) line() (*line, error) {
	r.mu.Lock()
	if last := len(r.free) - 1; last >= 0 {
		l := r.free[last]
		r.free = r.free[:last]
		r.mu.Unlock()
		return l, nil
	}
	r.mu.Unlock()
	l := &line{of: r, inbox: r.of.conn.nats.NewInbox(), ended: make(chan struct{}), done: make(chan error, 1)}
	once := sync.OnceFunc(func() { close(l.ended) })
	l.end = func(string) { once() }
	var err error
	if l.sub, err = r.of.conn.nats.Subscribe(l.inbox, l.arrive); err != nil {
		return nil, err
	}
	l.sub.SetClosedHandler(l.end)
	return l, l.sub.SetPendingLimits(-1, -1) // pulls are the limit
}

// request is what a pull asks for.
type request struct {
	Batch    int           `json:"batch"`
	MaxBytes int64         `json:"max_bytes,omitempty"`
	NoWait   bool          `json:"no_wait,omitempty"`
	Expires  time.Duration `json:"expires,omitempty"`
	Group    string        `json:"group,omitempty"`
	Term     string        `json:"id,omitempty"`
}

func (r *receiver) request(n int, wait time.Duration) request {
	most := int64(0)
	if n > 1 {
		most = max(mostPulled, 2*r.of.conn.nats.MaxPayload())
	}
	return request{Batch: n, MaxBytes: most, NoWait: wait == 0, Expires: wait}
}

func (r *receiver) Pull(ctx context.Context, n int, wait time.Duration, take func(backend.Delivery) bool) error {
	return r.pull(ctx, r.request(n, wait), take)
}

func (r *receiver) pull(ctx context.Context, ask request, take func(backend.Delivery) bool) error {
	text, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	l, err := r.line()
	if err != nil {
		return failed(err)
	}
	if !r.begin(l, ask, take) {
		return errEnded
	}
	if err := r.of.conn.nats.PublishRequest(r.next, l.inbox, text); err != nil {
		return r.give(l, failed(err), false)
	}
	limit := time.NewTimer(ask.Expires + answerTime)
	defer limit.Stop()
	for {
		select {
		case err := <-l.done:
			return r.give(l, err, true)
		case <-ctx.Done():
			return r.give(l, context.Cause(ctx), false)
		case <-limit.C:
			if left := answerTime - r.silence(l); left > 0 { // messages are coming, on a link that takes long for them
				limit.Reset(left)
				continue
			}
			return r.give(l, errNoAnswer, false)
		}
	}
}

// silence returns how long ago the last message came on a line.
func (r *receiver) silence(l *line) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Since(l.heard)
}

// begin begins a pull on a line. It reports false if the receiver is closed.
func (r *receiver) begin(l *line, ask request, take func(backend.Delivery) bool) bool {
	epoch, connected := r.of.conn.epoch()
	on := epoch
	if !connected {
		on = unsent
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		l.drain()
		return false
	}
	l.sent, l.epoch, l.on, l.ask, l.left, l.take = time.Now(), epoch, on, ask, ask.Batch, take
	r.busy[l] = true
	return true
}

// give ends the use of a line whose pull ends with err. It returns err, or what the server has answered
// meanwhile. It retires a line on which more may arrive.
func (r *receiver) give(l *line, err error, answered bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !answered {
		select {
		case err = <-l.done:
			answered = true
		default:
		}
	}
	switch {
	case r.closed:
		if !l.retired {
			r.retire(l, answered || errors.Is(err, errNoAnswer))
		}
	case answered && err == nil:
		r.free = append(r.free, l)
	default:
		r.retire(l, answered || errors.Is(err, errNoAnswer))
	}
	return err
}

// retire ends a line. over says that no answer to its pull is to be expected. The mutex is held.
//
// The server answers a pull that does not wait. And what a client with a term asks for ends when the term does:
// see Release. The server may hold any other pull for long, so its line is drained at once. Then sweep finds the
// message that has met no process.
func (r *receiver) retire(l *line, over bool) {
	l.take, l.retired = nil, true
	delete(r.busy, l)
	r.ending = append(slices.DeleteFunc(r.ending, (*line).hasEnded), l)
	switch {
	case over || l.on == unsent:
		l.drain()
	case l.ask.NoWait || l.ask.Term != "":
		r.awaiting[l] = time.AfterFunc(answerTime, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			l.answered()
		})
	default:
		r.unmet++
		l.drain()
	}
}

// answered ends the wait of a line for the server's answer, if it waits. The mutex is held.
func (l *line) answered() {
	if timer := l.of.awaiting[l]; timer != nil {
		timer.Stop()
		delete(l.of.awaiting, l)
		l.drain()
	}
}

func (l *line) hasEnded() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

// drain ends the subscription when all that was sent to it has arrived. The server gives a message that meets
// no subscription to another pull. It takes that delivery back from its count, except the first one of a
// message (nats-server 2.15.2, decDeliveryCount): then the message looks as if a process had ended with it. See met.
func (l *line) drain() {
	if err := l.sub.Drain(); err != nil { // the connection is closed
		l.end("")
	}
}

// interrupt ends the pulls on connections before the given epoch.
func (r *receiver) interrupt(epoch uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for l := range r.busy {
		if l.on < epoch {
			l.finish(errInterrupted)
		}
	}
	for l := range r.awaiting {
		if l.on < epoch {
			l.answered()
		}
	}
}

// sent notes on which connection the client has sent the pulls that were asked for before the connection was
// there.
func (r *receiver) sent(epoch uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for l := range r.busy {
		if l.on == unsent {
			l.on = epoch
		}
	}
}

// finish ends the pull of a line. The mutex is held.
func (l *line) finish(err error) {
	if l.take != nil {
		l.take = nil
		delete(l.of.busy, l)
		l.done <- err
	}
	l.answered()
}

// arrive is called for each message from the server, one after the other.
func (l *line) arrive(m *nats.Msg) {
	r := l.of
	r.mu.Lock()
	defer r.mu.Unlock()
	l.heard = time.Now()
	if status := m.Header.Get("Status"); status != "" && len(m.Data) == 0 {
		switch status {
		case "100": // the server is alive
		case "404", "408": // there is no message, or no more
			l.finish(nil)
		case "409":
			switch description := m.Header.Get("Description"); description {
			case tooLarge:
				l.finish(nil)
			case complete: // the last message has ended the pull; the next pull may be under way
			default:
				l.finish(fmt.Errorf("server answers %s %s", status, description))
			}
		case "423":
			l.finish(backend.ErrMoved)
		case "503":
			l.finish(nats.ErrNoResponders)
		default:
			l.finish(fmt.Errorf("server answers %s %s", status, m.Header.Get("Description")))
		}
		return
	}
	meta, err := m.Metadata()
	if err != nil {
		return // the message is not from a consumer: no lease is lost
	}
	d := &delivery{of: r, subject: m.Subject, to: m.Reply, meta: meta, content: r.of.message(m.Header, m.Data, meta.Timestamp), sent: l.sent, came: l.heard}
	d.epoch.Store(l.epoch)
	if r.seen != nil {
		d.term = m.Header.Get(termHeader)
		r.seen(d.term)
	}
	taken := l.take != nil && l.take(d)
	if !taken {
		r.late.Go(d.goBack)
	}
	if l.left--; l.left == 0 {
		l.finish(nil)
	}
}

func (r *receiver) Close(ctx context.Context) error {
	conn := r.of.conn
	conn.mu.Lock()
	delete(conn.receivers, r)
	conn.mu.Unlock()
	r.mu.Lock()
	r.closed = true
	for l := range r.busy { // pulls whose callers have not seen yet that they must end
		l.finish(errEnded)
		r.retire(l, false)
	}
	for _, l := range r.free {
		r.retire(l, true)
	}
	r.endTerm()
	ending, last := r.ending, r.last
	r.free, r.ending = nil, nil
	r.mu.Unlock()
	for _, l := range ending {
		select {
		case <-l.ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	r.late.Wait()
	r.sweep(ctx)
	if last == "" {
		return nil
	}
	// The server processes what it gets for one consumer in order: when it answers this request, it has
	// processed everything before. The request has no effect on a message that is acknowledged.
	_, err := conn.nats.RequestWithContext(ctx, last, []byte("+WPI"))
	return err
}

// endTerm ends the waits of lines whose pulls had a term that has ended. The mutex is held.
func (r *receiver) endTerm() {
	for l := range r.awaiting {
		if l.ask.Term != "" {
			l.answered()
		}
	}
}

// sweep gives back messages that may have been on their way to lines when these were drained. They have met no
// process, which is known only while they are young: see met. And if no other process asks for them, a server that
// starts again would deliver them only when their lease is over. The server delivers them before others.
//
// The second pull is for a message that the server was about to send when it got the first one: it answers that
// pull after it has seen that the message met no subscription.
//
// sweep is not for partitions. There such a message has also given the partition to the pull that has ended, and
// comes to no other process before that term is over.
func (r *receiver) sweep(ctx context.Context) {
	if _, connected := r.of.conn.epoch(); r.unmet == 0 || r.seen != nil || !connected {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	s := r.of.receive(r.from, r.name, r.lease)
	defer s.Close(ctx) //nolint:errcheck // what does not go back now goes back after the lease
	found := false
	for range 2 {
		err := s.Pull(ctx, min(r.unmet, mostSwept), 0, func(backend.Delivery) bool { found = true; return false })
		if err != nil || found {
			return
		}
	}
}

// delivery implements [backend.Delivery].
type delivery struct {
	of      *receiver
	subject string
	to      string
	meta    *nats.MsgMetadata
	content *backend.Message
	sent    time.Time
	came    time.Time     // when this process got it
	epoch   atomic.Uint64 // the epoch of the connection on which the message was last known to have its number
	term    string        // the term of a partition
	kept    uint64        // the record's number in its stream; 0 if none is known
	keptOn  uint64        // the epoch of the connection on which that was known
}

func (d *delivery) Message() *backend.Message { return d.content }

func (d *delivery) Count() int { return int(d.meta.NumDelivered) }

func (d *delivery) More() bool { return d.meta.NumPending > 0 }

func (d *delivery) Sent() time.Time { return d.sent }

// Number implements [backend.Delivery]. The sequence alone is not enough: the stream may have been deleted
// and made again, or have lost its end in a power failure. Then the server uses its numbers again.
func (d *delivery) Number() uint64 {
	return d.meta.Sequence.Stream*0x9e3779b97f4a7c15 ^ uint64(d.meta.Timestamp.UnixNano()) | 1<<63
}

func (d *delivery) Sequence() uint64 { return d.meta.Sequence.Stream }

// name is the last part of the subjects that belong to the message.
func (d *delivery) name() string { return nameOf(d.meta.Sequence.Stream, d.meta.Timestamp) }

// nameOf returns a name that no other message has. Number, in contrast, is only most likely unique.
func nameOf(number uint64, put time.Time) string {
	return strconv.FormatUint(number, 10) + "-" + strconv.FormatInt(put.UnixNano(), 36)
}

func (d *delivery) Record(ctx context.Context) (*backend.Record, error) {
	epoch, _ := d.of.of.conn.epoch()
	r, kept, err := d.of.of.record(ctx, d.name())
	switch {
	case err != nil:
		return nil, err
	case kept > 0:
		d.kept, d.keptOn = kept, epoch
		return r, nil
	case d.Count() != 2:
		return r, nil
	}
	met, err := d.met(ctx)
	if met || err != nil {
		return r, err
	}
	r.Returned = 1
	if backend.Holds(d.sent, time.Now(), d.of.lease) { // otherwise the next delivery may have another record
		err = d.Keep(ctx, r)
	}
	return r, err
}

// met reports whether the first delivery of a message, which has no record, may have met a process. This is the
// second delivery.
//
// If the first delivery met no subscription (see drain), the server counted it, and sent the message to the next
// pull at once. Otherwise the message could come again only in two ways. Either its lease ran out, which takes a
// lease from when the message was put. Or the process gave the message back, and then there is a record. So a
// message without one that is younger than its lease, by the clock of the server that measures both, has met no
// process.
//
// A server that starts again may deliver messages early. It reads from its files when leases began, in whole
// seconds. And before an embedded server starts, package check has messages delivered again that were done, if they
// are still there. So the message must be younger than the connection. In a cluster, another server may have started
// again, and each has a clock of its own. So the message must also be younger than half a lease, and by more than a
// second.
func (d *delivery) met(ctx context.Context) (bool, error) {
	// The server may have read its clock at any time while it was asked. If that makes the difference, it is asked again: a message that was put
	// soon after the connection was made is not older because one answer was late.
	const mostAsked = 5
	for range mostAsked {
		var asked, now time.Time
		err := d.of.of.ask(ctx, func(ctx context.Context) error {
			asked = time.Now()
			info, err := d.of.from.Info(ctx)
			if err == nil {
				now = info.TimeStamp
			}
			return err
		})
		if err != nil {
			return false, err
		}
		oldest := now.Sub(d.meta.Timestamp) - asked.Sub(d.came) // when it came, if the server read its clock at once
		youngest := oldest - time.Since(asked)                  // if it read its clock just now
		most := min(d.of.lease/2, d.of.lease-time.Second, d.of.of.conn.age(d.came))
		if within := oldest < most; within || youngest >= most {
			return !within || oldest < 0, nil // oldest < 0: the clock was set back
		}
	}
	return true, nil
}

func (d *delivery) Extend(ctx context.Context) error { return d.confirm(ctx, "+WPI") }

// confirm sends an answer, and waits until the server has processed it.
func (d *delivery) confirm(ctx context.Context, answer string) error {
	if has, err := d.hasNumber(ctx); !has || err != nil {
		return err
	}
	call, cancel := d.of.of.bounded(ctx)
	defer cancel()
	_, err := d.of.of.conn.nats.RequestWithContext(call, d.to, []byte(answer))
	return unanswered(ctx, err)
}

// hasNumber reports whether the message still has its number. A server that could not write, or lost its
// power, starts again without what it had not written, which it may have delivered. It gives the numbers of
// those messages to others, and takes an answer for the old message as one for the new message. So when the
// connection has been lost, hasNumber asks the server first. If there is no such message, there is nothing to
// answer.
//
// Two cases remain. The connection may be lost after hasNumber; then the client sends the answer to the next
// server, within some ms of its start. And in a cluster the stream may be on another server than the
// connection. If the stream has no replicas, and its server loses what it has accepted, hasNumber does not
// see that.
func (d *delivery) hasNumber(ctx context.Context) (bool, error) {
	epoch, connected := d.of.of.conn.epoch()
	if connected && epoch == d.epoch.Load() {
		return true, nil
	}
	call, cancel := d.of.of.bounded(ctx)
	defer cancel()
	looks := d.of.of.conn.looks
	select {
	case looks <- struct{}{}:
		defer func() { <-looks }()
	case <-call.Done():
		return false, unanswered(ctx, call.Err())
	}
	m, err := d.of.of.get(call, d.of.from, d.meta.Sequence.Stream)
	if errors.Is(err, backend.ErrNotFound) || err == nil && !m.Time.Equal(d.meta.Timestamp) {
		return false, nil
	}
	if err == nil && connected { // otherwise epoch may belong to the connection before
		d.epoch.Store(epoch)
	}
	return err == nil, err
}

func (d *delivery) Ack(ctx context.Context, confirm bool) error {
	if confirm || d.kept > 0 {
		if err := d.confirm(ctx, "+ACK"); err != nil {
			return err
		}
		return d.dropRecord(ctx)
	}
	if has, err := d.hasNumber(ctx); !has || err != nil {
		return err
	}
	d.of.mu.Lock()
	d.of.last = d.to
	d.of.mu.Unlock()
	return d.of.of.conn.nats.Publish(d.to, []byte("+ACK"))
}

// dropRecord removes the record that Keep has kept, after the message is removed. If it fails, the next Open
// removes the record.
func (d *delivery) dropRecord(ctx context.Context) error {
	if d.kept == 0 {
		return nil
	}
	if epoch, _ := d.of.of.conn.epoch(); epoch != d.keptOn { // another record may have the number, as in hasNumber
		var err error
		if _, d.kept, err = d.of.of.record(ctx, d.name()); d.kept == 0 || err != nil {
			return err
		}
	}
	if err := remove(ctx, d.of.of.records, d.kept); !errors.Is(err, backend.ErrNotFound) {
		return err
	}
	return nil
}

func (d *delivery) Keep(ctx context.Context, r *backend.Record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	// With a header, the checksum in the file of an embedded server covers the length of the subject.
	out := &nats.Msg{Subject: d.of.of.recordSubject(d.name()), Data: text, Header: nats.Header{codecHeader: {"json"}}}
	epoch, _ := d.of.of.conn.epoch()
	call, cancel := d.of.of.bounded(ctx)
	defer cancel()
	ack, err := d.of.of.publish(call, out)
	if err != nil {
		return unanswered(ctx, err)
	}
	d.kept, d.keptOn = ack.Sequence, epoch
	return nil
}

func (d *delivery) GiveBack(ctx context.Context, r *backend.Record, wait time.Duration) error {
	if r != nil {
		if err := d.Keep(ctx, r); err != nil {
			return err
		}
	}
	answer := "-NAK"
	if wait = min(wait, mostAgain); wait > 0 {
		answer = fmt.Sprintf(`-NAK {"delay": %d}`, wait.Nanoseconds())
	}
	return d.confirm(ctx, answer)
}

// goBack gives back a message that came too late. If it fails, the lease of the message runs out.
func (d *delivery) goBack() {
	if !backend.Holds(d.sent, time.Now(), d.of.lease/10*9) {
		return // another process may have the message
	}
	ctx, cancel := context.WithTimeout(context.Background(), min(answerTime, d.of.lease/2))
	defer cancel()
	if d.of.bare {
		_ = d.GiveBack(ctx, nil, backend.Soon) // if it fails, the lease runs out
		return
	}
	r := new(backend.Record)
	if d.Count() > 1 {
		var err error
		if r, err = d.Record(ctx); err != nil {
			return
		}
	}
	r.Returned++
	_ = d.GiveBack(ctx, r, backend.Soon) // if it fails, the lease runs out
}

func (d *delivery) Bury(ctx context.Context, r *backend.Record, tries int) error {
	text, err := encode(r)
	if err != nil {
		return err
	}
	out := &nats.Msg{Subject: d.of.of.deadSubject(d.name()), Data: d.content.Data, Header: nats.Header{
		codecHeader:  {d.content.Codec},
		recordHeader: {text},
		triesHeader:  {strconv.Itoa(tries)},
		putHeader:    {d.content.Put.Format(time.RFC3339Nano)},
	}}
	if err := describe(out.Header, d.content); err != nil {
		return err
	}
	call, cancel := d.of.of.bounded(ctx)
	_, err = d.of.of.js.PublishMsg(call, out, jetstream.WithExpectLastSequencePerSubject(0))
	cancel()
	if api, ok := errors.AsType[*jetstream.APIError](err); ok && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		err = nil // the letter is there: the process ended before it could remove the message
	}
	if err != nil {
		return unanswered(ctx, err)
	}
	if err := d.confirm(ctx, "+TERM"); err != nil {
		return err
	}
	return d.dropRecord(ctx)
}
