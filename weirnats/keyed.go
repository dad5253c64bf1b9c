package weirnats

import (
	"cmp"
	"slices"
	"time"

	"github.com/64ed045f/weir/weirnats/internal/backend"
)

// Messages with a [Key] come from partitions. A process may lose a partition while it has messages of it, so
// several processes may have messages of one partition at the same time. Therefore the order of a key rests
// on what a process knows, not on which process gets the partition from the server:
//
//   - held are the messages of the partition that were delivered here, and whose leases hold;
//   - away are the messages that were delivered, are not done, and are not held here;
//   - all others are done, or come later than these, because the server delivers in order.
//
// A message may begin when no earlier message of its key is held or away: the server has confirmed that all
// of them are done.
//
// A process knows what is away from three sources: a census, what it has given back or lost since, and the
// numbers of deliveries. If the numbers have a gap, the term has changed, or a pull has failed, something may
// have been delivered elsewhere. Then nothing begins until the next census.

// partition is what a server knows of a partition. The mutex server.mu guards all fields except from and
// wake.
type partition struct {
	from backend.Partition
	wake chan struct{} // capacity 1: check again whether a pull may be made

	turn   backend.Turn // of the last delivery, or of the census
	known  bool         // away is correct as of turn
	more   bool         // messages waited at the last delivery
	listed bool         // the partition waits in turnstile.hungry for room
	bytes  int          // the size of held
	held   map[uint64]*task
	away   map[uint64]string // the key of each
	lines  map[string]*line
}

func newPartition(from backend.Partition) *partition {
	return &partition{
		from: from, wake: make(chan struct{}, 1),
		held: make(map[uint64]*task), away: make(map[uint64]string), lines: make(map[string]*line),
	}
}

// inDoubt reports whether messages wait here while others are away, or while it is not known which are. Then
// a census must find out.
func (p *partition) inDoubt() bool {
	if p.known && len(p.away) == 0 {
		return false
	}
	for _, l := range p.lines {
		if len(l.waiting) > 0 {
			return true
		}
	}
	return false
}

// poke makes attend check again whether it may pull.
func (p *partition) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// blocked reports whether a message of the line is away that has a lower sequence than before.
func (p *partition) blocked(l *line, before uint64) bool {
	for seq, key := range p.away {
		if seq < before && key == l.key {
			return true
		}
	}
	return false
}

// line has the held messages of one key. The mutex server.mu guards it.
type line struct {
	of      *partition
	key     string
	waiting []*task // in order
	running *task
	queued  bool      // the line is in turnstile.lines
	since   time.Time // when it came there
}

// turnstile is what else a server knows of messages with a key. The mutex server.mu guards it.
type turnstile struct {
	parts  []*partition
	places int          // of the pool
	lines  []*line      // the lines whose first message can start
	asked  int          // how many waiting messages the pulls under way ask for
	hungry []*partition // the partitions that wait for room
	last   bool         // the last puller took a message with a key
}

// arrive takes a delivery of a partition. It reports false if Serve must end.
func (s *server) arrive(p *partition, d backend.Delivery, turn backend.Turn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return false
	}
	if !turn.Follows(p.turn) {
		p.known = false
	}
	p.turn, p.more = turn, d.More()
	if old := p.held[d.Sequence()]; old != nil {
		s.lose(old) // a new delivery means that its lease was over
	}
	m := d.Message()
	l := p.lines[m.Key]
	if l == nil {
		l = &line{of: p, key: m.Key}
		p.lines[m.Key] = l
	}
	t := &task{delivery: d, line: l, sent: d.Sent(), arrived: time.Now(), cancel: func(error) {}}
	s.held[t] = struct{}{}
	p.held[d.Sequence()] = t
	p.bytes += len(m.Data)
	delete(p.away, d.Sequence())
	l.insert(t)
	l.compare(t)
	s.advance(l)
	return true
}

// compare notes which messages of the line are behind others, now that t has come. While an earlier message of
// its key is not done, a message has not begun in any process: the deliveries before this one count for nothing.
// The mutex is held.
func (l *line) compare(t *task) {
	seq := t.delivery.Sequence()
	t.behind = l.running != nil && l.running.delivery.Sequence() < seq || l.waiting[0] != t
	for _, other := range l.waiting {
		other.behind = other.behind || other.delivery.Sequence() > seq && other.record == nil
	}
}

func (l *line) insert(t *task) {
	i, _ := slices.BinarySearchFunc(l.waiting, t.delivery.Sequence(), func(t *task, seq uint64) int { return cmp.Compare(t.delivery.Sequence(), seq) })
	l.waiting = slices.Insert(l.waiting, i, t)
}

// advance lists a line if its first message can start, and removes the line if it has no messages. The mutex
// is held.
func (s *server) advance(l *line) {
	if l.running == nil && len(l.waiting) == 0 && l.of.lines[l.key] == l {
		delete(l.of.lines, l.key)
		return
	}
	if !l.queued && s.startable(l) {
		l.queued, l.since = true, time.Now()
		s.turns.lines = append(s.turns.lines, l)
		s.want()
	}
}

// startable reports whether the first message of a line can start now. If only its record or its time is
// missing, startable arranges that advance is called when it is there. The mutex is held.
func (s *server) startable(l *line) bool {
	if s.stopping || !l.of.known || l.running != nil || len(l.waiting) == 0 {
		return false
	}
	t := l.waiting[0]
	switch {
	case t.state != unclaimed || l.of.blocked(l, t.delivery.Sequence()):
		return false
	case t.record == nil && (t.delivery.Count() > 1 || s.begun(t) > 0):
		if t.looked == nil {
			t.looked = make(chan struct{})
			go s.lookUp(t)
		}
		return false
	}
	if left := time.Until(t.due); left > 0 {
		if t.timer == nil {
			t.timer = time.AfterFunc(left, func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				t.timer = nil
				s.advance(l)
			})
		}
		return false
	}
	return true
}

// lookUp reads the record of a message that waits in a line.
func (s *server) lookUp(t *task) {
	r, err := s.readRecord(s.pulls, s.pulls, t)
	s.mu.Lock()
	defer s.mu.Unlock()
	close(t.looked)
	if err != nil || t.state != unclaimed {
		return
	}
	t.record = r
	if n := len(r.Errors); n > 0 && !r.Next.IsZero() { // at most the wait that the failing process chose, by its clock
		t.due = time.Now().Add(min(time.Until(r.Next), r.Next.Sub(r.Errors[n-1].At)))
	}
	s.advance(t.line)
}

// takeTurn gives the puller a message with a key, if one can start. If messages without a key wait as well,
// every other puller is for those. The mutex is held.
func (s *server) takeTurn(st *puller) (t *task) {
	turns := &s.turns
	if turns.last && s.hungry {
		turns.last = false
		if len(turns.lines) > 0 {
			s.want()
		}
		return nil
	}
	for t == nil && len(turns.lines) > 0 {
		l := turns.lines[0]
		turns.lines[0] = nil
		turns.lines = turns.lines[1:]
		l.queued = false
		if !s.startable(l) {
			continue
		}
		t = l.waiting[0]
		l.waiting = slices.Delete(l.waiting, 0, 1)
		l.running, t.state, t.cancel = t, claimed, st.cancel
	}
	s.feed()
	if t == nil {
		return nil
	}
	turns.last = true
	if len(turns.lines) > 0 || s.hungry || s.leaders == 0 && !s.idle {
		s.want()
	}
	return t
}

// leaveLine removes a message from its line, and from the held messages. The mutex is held.
func (s *server) leaveLine(t *task) {
	l := t.line
	p := l.of
	s.unhold(t)
	if t.timer != nil {
		t.timer.Stop() // it would keep what this call of Serve has, for as long as the policy waits
	}
	if l.running == t {
		l.running = nil
	} else if i := slices.Index(l.waiting, t); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	s.advance(l)
	p.poke()
}

// unhold removes a message that leaves the queue or the process from the held messages. Unless the message is
// gone, it is away now. The mutex is held.
func (s *server) unhold(t *task) {
	p, seq := t.line.of, t.delivery.Sequence()
	if p.held[seq] != t {
		return // the message has come again
	}
	delete(p.held, seq)
	p.bytes -= len(t.delivery.Message().Data)
	if !t.gone {
		p.away[seq] = t.line.key
		p.poke()
	}
}

// loseTurn is for a message whose lease is over: another process may have it. If a try of it runs, the next
// message of the line waits for the end of that try, which should come soon, but at most for a lease. The
// mutex is held.
func (s *server) loseTurn(t *task) {
	s.unhold(t)
	if t.state != claimed {
		return
	}
	time.AfterFunc(s.queue.options.lease, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if t.line.running == t {
			t.line.running = nil
			s.advance(t.line)
		}
	})
}

// tryLater makes a message wait here for its next try, with its lease, at the front of its line. It reports
// false if the message must leave.
func (s *server) tryLater(t *task) bool {
	s.mu.Lock()
	if s.stopping && !t.lost {
		s.mu.Unlock()
		s.giveBack(t)
		return false
	}
	defer s.mu.Unlock()
	if t.lost {
		return false
	}
	l := t.line
	t.again, t.state, t.started, t.limited, t.cancel = false, unclaimed, time.Time{}, false, func(error) {}
	if l.running == t {
		l.running = nil
	}
	l.insert(t)
	s.advance(l)
	l.of.poke()
	return true
}

// yield gives back the messages of a partition that have not begun, because another process has the partition
// or wants it.
func (s *server) yield(p *partition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.turn, p.known, p.more = backend.Turn{}, false, false
	for _, t := range p.held {
		if t.state == unclaimed {
			t.state = leaving
			go s.putBack(t)
		}
	}
}
