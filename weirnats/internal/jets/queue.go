// Package jets keeps a queue on NATS JetStream.
//
// A queue has four streams:
//
//   - its messages: a work queue with one durable consumer, whose acknowledgement time is the lease. From the
//     first message with a key on, it also has a consumer for each partition;
//   - its dead letters;
//   - records: the last message of each subject is what is known of a message that failed or went back. Here
//     are also the deduplication IDs of messages that are done, for as long as the window lasts;
//   - messages that wait for their time: see later.go.
package jets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/64ed045f/weir/weirnats/internal/backend"
)

const (
	codecHeader  = "Weir-Codec"
	idHeader     = "Weir-Id"
	carryHeader  = "Weir-Carry"
	recordHeader = "Weir-Record"
	triesHeader  = "Weir-Tries"
	keyHeader    = "Weir-Key"
	putHeader    = "Weir-Put"
)

// The headers of an atomic batch.
const (
	batchHeader       = "Nats-Batch-Id"
	batchNumberHeader = "Nats-Batch-Sequence"
	batchCommitHeader = "Nats-Batch-Commit"
)

// callTime is how long the answer to one call may take. The largest messages take seconds on a busy machine.
const callTime = 15 * time.Second

// eachTime is how long the answers to messages that were sent together may take.
const eachTime = 30 * time.Second

// reserve is how much of the server's largest message the headers of a dead letter may take.
const reserve = 64 << 10

// recordSize is what the server counts for each message that has headers, in addition to its subject, headers
// and data.
const recordSize = 34

// movedSize is how much larger a message may become when Move puts it, or when it was a dead letter.
const movedSize = 128

// mostLooks is how many messages are read at once after the connection was lost. The server sends them whole,
// as text, and cuts the connection of a client that has 64 MiB to read.
const mostLooks = 4

// consumer is the name of the consumer of a queue's messages.
const consumer = "work"

// Conn is a connection to a server, with the calls and receivers that must learn when it is lost or comes
// back.
type Conn struct {
	nats     *nats.Conn
	patience time.Duration // how long one call may take

	looks chan struct{} // capacity mostLooks

	mu        sync.Mutex
	receivers map[*receiver]bool
	calls     map[*pending]bool
	made      uint64    // the epoch of a connection
	madeAt    time.Time // a time when that connection was there
}

// pending is a call to the server that is under way.
type pending struct {
	on  uint64 // the epoch of its connection, or of the connection before
	end context.CancelFunc
}

// unsent stands for the epoch of a pull that was asked for while there was no connection: the client sends it
// on the next one.
const unsent = math.MaxUint64

// Connect makes a connection with the function connect, which gets the options that it must use.
func Connect(connect func(opts ...nats.Option) (*nats.Conn, error)) (*Conn, error) {
	c := &Conn{patience: callTime, looks: make(chan struct{}, mostLooks), receivers: make(map[*receiver]bool), calls: make(map[*pending]bool)}
	var err error
	c.nats, err = connect(
		nats.MaxReconnects(-1),
		nats.IgnoreAuthErrorAbort(), // a server may refuse a login for a while, as when it gets another password
		func(o *nats.Options) error { o.AllowReconnect = true; return nil },
		nats.DisconnectErrHandler(func(n *nats.Conn, _ error) { c.lost(n) }),
		nats.ReconnectHandler(c.again),
	)
	if err == nil {
		c.isMade(0)
	}
	return c, err
}

// lost ends the pulls and calls on a connection that is lost: the server has forgotten the pulls, and will
// not answer the calls. The client may call lost when the next connection has long been there; pulls and
// calls on that connection go on.
func (c *Conn) lost(n *nats.Conn) {
	next, connected := epoch(n)
	if !connected {
		next++
	}
	var ends []context.CancelFunc
	c.mu.Lock()
	for r := range c.receivers {
		r.interrupt(next)
	}
	for p := range c.calls {
		if p.on < next {
			ends = append(ends, p.end)
		}
	}
	c.mu.Unlock()
	for _, end := range ends { // without the lock: a context may be of the user's own type
		end()
	}
}

// again is called when there is a connection again, on which the client has sent what was asked for before.
func (c *Conn) again(n *nats.Conn) {
	now, _ := epoch(n)
	c.isMade(now)
	c.mu.Lock()
	defer c.mu.Unlock()
	for r := range c.receivers {
		r.interrupt(now)
		r.sent(now)
	}
}

// isMade notes when a connection is first known to be there.
func (c *Conn) isMade(epoch uint64) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.madeAt.IsZero() || epoch > c.made {
		c.made, c.madeAt = epoch, now
	}
}

// age returns for how long, at the time now, the connection has been there that is there still, as far as that
// is known.
func (c *Conn) age(now time.Time) time.Duration {
	epoch, connected := c.epoch()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !connected || epoch != c.made {
		return 0
	}
	return now.Sub(c.madeAt)
}

// epoch returns how often the connection was made again, and whether it is there. A new connection counts
// before anything is sent on it.
func (c *Conn) epoch() (n uint64, connected bool) { return epoch(c.nats) }

func epoch(c *nats.Conn) (n uint64, connected bool) {
	for n = c.Stats().Reconnects; ; {
		connected = c.IsConnected()
		now := c.Stats().Reconnects
		if now == n { // otherwise connected may belong to either epoch
			return n, connected
		}
		n = now
	}
}

// call returns the context of a call that takes at most d, and that ends when the connection on which it asks
// is lost.
func (c *Conn) call(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, d)
	p := &pending{c.nats.Stats().Reconnects, cancel} // not epoch: many calls at once would wait for the client's lock
	c.mu.Lock()
	c.calls[p] = true
	c.mu.Unlock()
	return ctx, func() {
		c.mu.Lock()
		delete(c.calls, p)
		c.mu.Unlock()
		cancel()
	}
}

// Close ends the connection after what was sent has reached the server.
func (c *Conn) Close() {
	if c.nats.IsConnected() {
		_ = c.nats.FlushTimeout(5 * time.Second) // the connection ends in any case
	}
	c.nats.Close()
}

// queue implements [backend.Queue].
type queue struct {
	conn     *Conn
	js       jetstream.JetStream
	name     string
	settings backend.Settings
	messages jetstream.Stream
	dead     jetstream.Stream
	records  jetstream.Stream
	later    jetstream.Stream

	making chan struct{} // capacity 1: a call makes the partitions
	keyed  atomic.Bool   // the partitions exist
}

// Open returns the queue, and makes those parts of it that do not exist. If the queue exists with other
// settings, the error is a [*backend.SettingsError], and nothing has changed.
func Open(ctx context.Context, conn *Conn, s backend.Settings) (backend.Queue, error) {
	js, err := jetstream.New(conn.nats)
	if err != nil {
		return nil, err
	}
	q := &queue{conn: conn, js: js, name: s.Name, settings: s, making: make(chan struct{}, 1)}
	if err := q.setUp(ctx); err != nil {
		return nil, err
	}
	q.settings.Codec = q.messages.CachedInfo().Config.Metadata[codecData]
	if err := q.completePartitions(ctx); err != nil {
		return nil, err
	}
	if err := q.sweep(ctx); err != nil {
		return nil, err
	}
	return q, nil
}

func (q *queue) subject() string                  { return "weir.q." + q.name + ".any" }
func (q *queue) deadSubject(name string) string   { return "weir.dead." + q.name + "." + name }
func (q *queue) recordSubject(name string) string { return "weir.tries." + q.name + "." + name }
func (q *queue) idSubject(id string) string { // the name is part of the format
	return fmt.Sprintf("weir.keys.%s.%x", q.name, backend.HashOf(id))
}

func (q *queue) Put(ctx context.Context, m *backend.Message) error {
	out, err := q.outgoing(ctx, m)
	if err != nil {
		return err
	}
	call, cancel := q.bounded(ctx)
	defer cancel()
	ack, err := q.publish(call, out)
	if m.Key != "" && errors.Is(err, jetstream.ErrNoStreamResponse) {
		ack, err = q.publish(call, out) // unmet may have mended that
	}
	if err == nil && ack.Duplicate && !m.Due.IsZero() {
		return backend.ErrDuplicate
	}
	return unanswered(ctx, err)
}

// publish is [jetstream.JetStream.PublishMsg], except that it parses the usual answer by itself: decoding
// JSON takes a tenth of the time of Put.
func (q *queue) publish(ctx context.Context, m *nats.Msg) (*jetstream.PubAck, error) {
	answer, err := q.conn.nats.RequestMsgWithContext(ctx, m)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		ack, err := q.js.PublishMsg(ctx, m) // it asks again for a while
		return ack, q.unmet(ctx, err)
	case err != nil:
		return nil, err
	}
	return decode(answer)
}

// unmet returns err, or ErrGone if no stream has answered because one is gone. Otherwise a cluster may be
// choosing a leader.
func (q *queue) unmet(ctx context.Context, err error) error {
	if !errors.Is(err, jetstream.ErrNoStreamResponse) {
		return err
	}
	for _, s := range []jetstream.Stream{q.messages, q.dead, q.records, q.later} {
		if _, missing := s.Info(ctx); errors.Is(missing, jetstream.ErrStreamNotFound) {
			return backend.ErrGone
		}
	}
	_ = q.remake(ctx) // the next call tells whether it worked
	return err
}

// remake makes again what messages with keys need, if the stream was deleted and made anew since.
func (q *queue) remake(ctx context.Context) error {
	if !q.keyed.Swap(false) {
		return nil
	}
	if _, err := q.messages.Info(ctx); err != nil { // for widen
		return err
	}
	if err := q.makePartitions(ctx); err != nil {
		return err
	}
	return q.widen(ctx)
}

// decode returns the answer of a stream to a message.
func decode(answer *nats.Msg) (*jetstream.PubAck, error) {
	if number, ok := accepted(answer.Data); ok {
		return &jetstream.PubAck{Sequence: number}, nil
	}
	if len(answer.Data) == 0 && answer.Header.Get("Status") == "503" {
		return nil, nats.ErrNoResponders
	}
	var other struct {
		*jetstream.PubAck
		Error *jetstream.APIError `json:"error"`
	}
	switch err := json.Unmarshal(answer.Data, &other); {
	case err == nil && other.Error != nil:
		return nil, other.Error
	case err != nil || other.PubAck == nil || other.Stream == "":
		return nil, jetstream.ErrInvalidJSAck
	}
	return other.PubAck, nil
}

// accepted returns the number of an accepted message, if the answer says only that.
func accepted(answer []byte) (number uint64, ok bool) {
	text, ok := strings.CutPrefix(string(answer), `{"stream":"`)
	if !ok {
		return 0, false
	}
	_, text, _ = strings.Cut(text, `"seq":`)
	if text, ok = strings.CutSuffix(text, "}"); !ok {
		return 0, false
	}
	number, err := strconv.ParseUint(text, 10, 64)
	return number, err == nil
}

// bounded returns the context of a call, which ends by itself if the server does not answer.
func (q *queue) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return q.conn.call(ctx, q.conn.patience)
}

// ask calls f, and calls it again if the server does not answer: a server that has just become the leader
// forgets what its predecessor was asked. f must change nothing, or have the same effect if it is called twice.
func (q *queue) ask(ctx context.Context, f func(ctx context.Context) error) error {
	all, cancel := context.WithTimeout(ctx, q.conn.patience)
	defer cancel()
	for {
		once, end := q.conn.call(all, q.conn.patience/5)
		err := f(once)
		ended := once.Err() != nil
		end()
		if err == nil || !ended || all.Err() != nil {
			return unanswered(ctx, err)
		}
	}
}

// unanswered is failed for a call that ends by itself if the server does not answer. ctx is the context of
// the caller.
func unanswered(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, context.DeadlineExceeded):
		return errNoAnswer
	case errors.Is(err, context.Canceled):
		return errInterrupted
	}
	return failed(err)
}

// A message that meets no stream is sent again sentAgain times, after sendPause each, as the client does for
// a single message: a cluster may be choosing the stream's leader.
const (
	sentAgain = 2
	sendPause = 250 * time.Millisecond
)

// PutEach implements [backend.Queue]. It is the client's PublishMsgAsync with a subscription for each call,
// and it parses the answers as publish does.
func (q *queue) PutEach(ctx context.Context, all []*backend.Message) []error {
	out, errs := make([]*nats.Msg, len(all)), make([]error, len(all))
	for i, m := range all {
		out[i], errs[i] = q.outgoing(ctx, m)
	}
	call, cancel := q.conn.call(ctx, eachTime)
	defer cancel()
	for again := 0; q.exchange(call, out, errs) && again < sentAgain; again++ {
		select {
		case <-time.After(sendPause):
		case <-call.Done():
		}
	}
	var unmet error
	for i, err := range errs {
		switch {
		case err != nil && ctx.Err() != nil:
			errs[i] = context.Cause(ctx)
		case errors.Is(err, nats.ErrNoResponders):
			if unmet == nil {
				unmet = q.unmet(call, jetstream.ErrNoStreamResponse)
			}
			errs[i] = unmet
		default:
			errs[i] = unanswered(ctx, err)
		}
	}
	return errs
}

// exchange sends, in order, the messages that have no error yet or met no stream, and sets the error of each.
// It reports whether a message met no stream.
func (q *queue) exchange(ctx context.Context, out []*nats.Msg, errs []error) (again bool) {
	answers, inbox := make(chan *nats.Msg, len(out)), q.conn.nats.NewInbox()+"."
	sub, err := q.conn.nats.ChanSubscribe(inbox+"*", answers)
	if err == nil {
		defer func() { _ = sub.Unsubscribe() }() // the connection may be closed
		err = ctx.Err()                          // if ctx is done, nothing is sent
	}
	waiting := make(map[string]int, len(out))
	for i, m := range out {
		if errs[i] != nil && !errors.Is(errs[i], nats.ErrNoResponders) {
			continue
		}
		if errs[i] = err; err == nil {
			m.Reply = inbox + strconv.Itoa(i)
			errs[i] = q.conn.nats.PublishMsg(m)
		}
		if errs[i] == nil {
			waiting[m.Reply] = i
		}
	}
	for len(waiting) > 0 {
		var answer *nats.Msg
		select {
		case answer = <-answers:
		case <-ctx.Done():
			select {
			case answer = <-answers: // an answer was here before
			default:
				for _, i := range waiting {
					errs[i] = ctx.Err()
				}
				return false
			}
		}
		if i, ok := waiting[answer.Subject]; ok {
			delete(waiting, answer.Subject)
			_, errs[i] = decode(answer)
			again = again || errors.Is(errs[i], nats.ErrNoResponders)
		}
	}
	return again
}

// PutAll implements [backend.Queue] with one atomic batch. The server makes a file for each batch, which
// takes it some ms.
func (q *queue) PutAll(ctx context.Context, all []*backend.Message) error {
	if len(all) == 0 {
		return nil
	}
	id := nuid.Next()
	call, cancel := q.bounded(ctx)
	defer cancel()
	for i, m := range all {
		out, err := q.outgoing(ctx, m)
		if err != nil {
			return err
		}
		out.Header[batchHeader], out.Header[batchNumberHeader] = []string{id}, []string{strconv.Itoa(i + 1)}
		if i < len(all)-1 {
			if err := q.conn.nats.PublishMsg(out); err != nil {
				return err
			}
			continue
		}
		out.Header[batchCommitHeader] = []string{"1"}
		if _, err = q.publish(call, out); err != nil {
			return unanswered(ctx, err)
		}
	}
	return nil
}

// outgoing returns what goes to the server, after making sure that what will deliver it exists.
func (q *queue) outgoing(ctx context.Context, m *backend.Message) (*nats.Msg, error) {
	if m.Key != "" {
		if err := q.makePartitions(ctx); err != nil {
			return nil, err
		}
	}
	out, err := q.compose(m)
	if err == nil && !m.Due.IsZero() {
		q.schedule(out, m.Due)
	}
	return out, err
}

// compose returns what goes into the queue.
func (q *queue) compose(m *backend.Message) (*nats.Msg, error) {
	subject := q.subject()
	if m.Key != "" {
		subject = q.partitionSubject(backend.PartitionOf(m.Key, q.settings.Partitions))
	}
	out := &nats.Msg{Subject: subject, Data: m.Data, Header: nats.Header{}}
	if m.Codec != q.settings.Codec { // a header costs a tenth of all that server and client do for a small message
		out.Header[codecHeader] = []string{m.Codec}
	}
	if m.DedupID != "" {
		out.Header[jetstream.MsgIDHeader] = []string{m.DedupID}
	}
	if !m.Put.IsZero() {
		out.Header[putHeader] = []string{m.Put.Format(time.RFC3339Nano)}
	}
	return out, describe(out.Header, m)
}

// describe puts the ID, the key and the carried values into the header.
func describe(h nats.Header, m *backend.Message) error {
	if m.ID != "" {
		h[idHeader] = []string{url.PathEscape(m.ID)}
	}
	if m.Key != "" {
		h[keyHeader] = []string{url.PathEscape(m.Key)}
	}
	if len(m.Carry) > 0 {
		text, err := encode(m.Carry)
		if err != nil {
			return err
		}
		h[carryHeader] = []string{text}
	}
	return nil
}

// encode returns JSON in one line, as short as possible: all headers of a message may take at most 64 KiB.
func encode(v any) (string, error) {
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(text.String(), "\n"), err
}

// message is the inverse of outgoing; put is when the server stored the message. It accepts as much as
// possible of a message that another program has put.
func (q *queue) message(h nats.Header, data []byte, put time.Time) *backend.Message {
	m := &backend.Message{Codec: q.settings.Codec, Data: data, Put: put}
	if len(h) == 0 {
		return m
	}
	m.DedupID = h.Get(jetstream.MsgIDHeader)
	if _, other := h[codecHeader]; other {
		m.Codec = h.Get(codecHeader)
	}
	if text := h.Get(putHeader); text != "" {
		if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
			m.Put = t
		}
	}
	if id, err := url.PathUnescape(h.Get(idHeader)); err == nil {
		m.ID = id
	}
	m.Key = keyOf(h)
	if text := h.Get(carryHeader); text != "" {
		_ = json.Unmarshal([]byte(text), &m.Carry) // a message matters more than the carried values
	}
	return m
}

// failed returns err as an error of package backend, if there is one for it.
func failed(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrStreamNotFound), errors.Is(err, jetstream.ErrConsumerNotFound):
		return backend.ErrGone
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return backend.ErrNotFound
	case errors.Is(err, nats.ErrConnectionClosed):
		return fmt.Errorf("%w: %w", backend.ErrCut, err)
	}
	api, ok := errors.AsType[*jetstream.APIError](err)
	switch {
	case !ok:
	case api.ErrorCode == 10077 && // "generic error when storing a message failed"
		(strings.Contains(api.Description, "maximum messages exceeded") || strings.Contains(api.Description, "maximum bytes exceeded")):
		return backend.ErrFull
	case api.ErrorCode == 10201: // "atomic publish batch contains duplicate message id"
		return backend.ErrDuplicate
	case api.ErrorCode == 10210: // "atomic publish too many inflight"
		return backend.ErrBusy
	}
	return err
}

func (q *queue) Known(ctx context.Context, id string) (bool, error) {
	var m *jetstream.RawStreamMsg
	err := q.ask(ctx, func(ctx context.Context) (err error) {
		m, err = q.records.GetLastMsgForSubject(ctx, q.idSubject(id))
		return err
	})
	switch {
	case errors.Is(err, backend.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	}
	put, err := time.Parse(time.RFC3339Nano, string(m.Data))
	if err != nil {
		return false, fmt.Errorf("message %d of stream %s is no time: %w", m.Sequence, q.records.CachedInfo().Config.Name, err)
	}
	return time.Since(put) < q.settings.Window, nil
}

// mostRemembered is how long the ID of a message that is done is known at most. The server computes with times in
// ns, which end in 2262: what lives until later has no time left.
const mostRemembered = 100 * 365 * 24 * time.Hour

func (q *queue) Remember(ctx context.Context, id string, put time.Time) error {
	left := time.Until(put.Add(q.settings.Window))
	if left <= 0 {
		return nil
	}
	left = min(left, mostRemembered)
	lifetime := jetstream.WithMsgTTL((left + time.Second).Truncate(time.Second)) // the server counts whole seconds
	return q.ask(ctx, func(ctx context.Context) error {
		_, err := q.js.Publish(ctx, q.idSubject(id), []byte(put.Format(time.RFC3339Nano)), lifetime)
		return err
	})
}

func (q *queue) Window() time.Duration { return q.settings.Window }

func (q *queue) Limit(m *backend.Message) int {
	limit := max(0, int(q.conn.nats.MaxPayload())-reserve)
	if q.settings.MaxBytes <= 0 {
		return limit
	}
	out, err := q.compose(m)
	if err != nil {
		return limit
	}
	out.Data = nil
	return max(-1, min(limit, int(q.settings.MaxBytes)-out.Size()-recordSize-movedSize))
}

func (q *queue) Next(ctx context.Context, after uint64) (*backend.Dead, error) {
	m, err := q.get(ctx, q.dead, after+1, jetstream.WithGetMsgSubject("weir.dead."+q.name+".*"))
	if err != nil {
		return nil, err
	}
	return q.letter(m), nil
}

// get returns a message of a stream.
func (q *queue) get(ctx context.Context, of jetstream.Stream, number uint64, opts ...jetstream.GetMsgOpt) (m *jetstream.RawStreamMsg, err error) {
	err = q.ask(ctx, func(ctx context.Context) (err error) {
		m, err = of.GetMsg(ctx, number, opts...)
		return err
	})
	return m, err
}

func (q *queue) Letter(ctx context.Context, number uint64) (*backend.Dead, error) {
	m, err := q.get(ctx, q.dead, number)
	if err != nil {
		return nil, err
	}
	return q.letter(m), nil
}

func (q *queue) letter(m *jetstream.RawStreamMsg) *backend.Dead {
	d := &backend.Dead{Number: m.Sequence, Message: *q.message(m.Header, m.Data, m.Time), Died: m.Time}
	var err error
	if d.Tries, err = strconv.Atoi(m.Header.Get(triesHeader)); err != nil {
		d.Tries = 0
	}
	if text := m.Header.Get(recordHeader); text != "" {
		d.Record = *decodeRecord([]byte(text))
	}
	return d
}

// decodeRecord returns a record as it was kept. For a record that cannot be read it returns one whose only
// error says so. Neither the message nor those behind it are held up then.
func decodeRecord(text []byte) *backend.Record {
	r := new(backend.Record)
	if err := json.Unmarshal(text, r); err != nil {
		return &backend.Record{Errors: []backend.Failure{{Err: fmt.Sprintf("what was known of earlier tries cannot be read: %v", err)}}}
	}
	return r
}

func (q *queue) Forget(ctx context.Context, number uint64) error {
	call, cancel := q.bounded(ctx)
	defer cancel()
	return unanswered(ctx, remove(call, q.dead, number))
}

// remove removes a message of a stream.
func remove(ctx context.Context, of jetstream.Stream, number uint64) error {
	err := of.DeleteMsg(ctx, number)
	if !errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) {
		if api, ok := errors.AsType[*jetstream.APIError](err); !ok || api.ErrorCode != 10057 { // "message deletion failed"
			return failed(err)
		}
	}
	if _, missing := of.GetMsg(ctx, number); errors.Is(missing, jetstream.ErrMsgNotFound) { // the server gives the reason only as text
		return backend.ErrNotFound
	}
	return err
}

func (q *queue) Purge(ctx context.Context) (int, error) {
	call, cancel := q.bounded(ctx)
	defer cancel()
	info, err := q.dead.Info(call)
	if err != nil {
		return 0, unanswered(ctx, err)
	}
	return int(info.State.Msgs), unanswered(ctx, q.dead.Purge(call))
}

func (q *queue) Stats(ctx context.Context) (s backend.Stats, err error) {
	err = q.ask(ctx, func(ctx context.Context) (err error) {
		s, err = q.stats(ctx)
		return err
	})
	return s, err
}

func (q *queue) stats(ctx context.Context) (backend.Stats, error) {
	later, err := q.later.Info(ctx) // first, so that a message that moves meanwhile counts twice and not zero times
	if err != nil {
		return backend.Stats{}, err
	}
	messages, err := q.messages.Info(ctx)
	if err != nil {
		return backend.Stats{}, err
	}
	dead, err := q.dead.Info(ctx)
	if err != nil {
		return backend.Stats{}, err
	}
	s := backend.Stats{Messages: int(messages.State.Msgs), Dead: int(dead.State.Msgs), Later: int(later.State.Msgs), Accepted: messages.State.LastSeq}
	if s.Leased, s.Redelivered, err = q.delivered(ctx); err != nil {
		return backend.Stats{}, err
	}
	if s.Messages > 0 {
		s.Oldest, s.Age = messages.State.FirstTime, max(0, messages.TimeStamp.Sub(messages.State.FirstTime))
	}
	return s, nil
}

func (q *queue) Close() error {
	q.conn.Close()
	return nil
}
