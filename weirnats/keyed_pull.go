package weirnats

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/64ed045f/weir/weirnats/internal/backend"
)

const (
	// mostTurns is how many messages one pull of a partition asks for at most.
	mostTurns = 16
	// mostTurnBytes is how many bytes of values of a partition are held before Serve stops pulling from it.
	mostTurnBytes = 1 << 20
	// longWait is how long a message may wait for a place before the pool counts as one that has none.
	longWait = time.Second
	// lookTime is how often Serve checks whether a message with a key was put, before the first.
	lookTime = time.Second
	// leastCensus and mostCensus bound the time between two looks at messages that other processes have.
	leastCensus, mostCensus = 20 * time.Millisecond, time.Second
)

// discover waits until the queue has partitions, and serves them.
func (s *server) discover() {
	ticker := time.NewTicker(lookTime)
	defer ticker.Stop()
	put := s.queue.keyed.Done()
	for {
		n, err := s.queue.backend.Partitions(s.pulls)
		if err == nil && n > 0 && s.attendAll(n) == nil {
			return
		}
		select {
		case <-ticker.C:
		case <-put:
			put = nil
		case <-s.pulls.Done():
			return
		}
	}
}

// attendAll serves all partitions.
func (s *server) attendAll(n int) error {
	all := make([]*partition, n)
	for i := range all {
		from, err := s.queue.backend.Partition(i)
		if err != nil {
			return err
		}
		all[i] = newPartition(from)
	}
	s.mu.Lock()
	s.turns.parts, s.turns.places = all, s.pool.Stats().Limit
	s.mu.Unlock()
	for _, p := range all {
		s.attending.Go(func() { s.attend(p) })
	}
	return nil
}

// closeAll closes what delivers messages from the partitions.
func (s *server) closeAll(ctx context.Context) error {
	errs := make([]error, len(s.turns.parts))
	var all sync.WaitGroup
	for i, p := range s.turns.parts {
		all.Go(func() { errs[i] = p.from.Close(ctx) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// attend pulls from a partition until Serve must end.
func (s *server) attend(p *partition) {
	const least, most = 50 * time.Millisecond, 5 * time.Second
	pause, look := least, leastCensus
	for s.pulls.Err() == nil {
		n, wait := s.room(p, look)
		if n == 0 {
			s.awaitRoom(p)
			continue
		}
		err := p.from.Pull(s.pulls, n, wait, func(d backend.Delivery, turn backend.Turn) bool { return s.arrive(p, d, turn) })
		s.pulled(p, n, wait, err)
		switch {
		case s.pulls.Err() != nil:
		case err == nil:
			pause = least
		case errors.Is(err, backend.ErrMoved):
			s.yield(p)
		default:
			s.rest(pause)
			pause = min(2*pause, most)
		}
		look = s.check(p, look)
	}
	s.mu.Lock()
	ours := p.turn.Term != ""
	s.mu.Unlock()
	if !ours {
		return
	}
	ctx, cancel := context.WithTimeout(s.base, endTime)
	defer cancel()
	if err := p.from.Release(ctx); err != nil {
		s.complain("leave a partition to other processes", err)
	}
}

// check makes a census if the partition is in doubt. It returns how long the next pull may wait if the
// partition still is.
func (s *server) check(p *partition, look time.Duration) time.Duration {
	doubt := func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.pulls.Err() == nil && p.inDoubt()
	}
	if doubt() {
		s.census(p)
	}
	if doubt() {
		return min(2*look, mostCensus, max(leastCensus, s.queue.options.lease/8))
	}
	return leastCensus
}

// room returns how many messages a pull of the partition asks for, and how long it waits; 0 if there is no
// room for messages.
func (s *server) room(p *partition, look time.Duration) (n int, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	turns := &s.turns
	free := s.freeTurns()
	if free <= 0 {
		if !p.listed {
			p.listed = true
			turns.hungry = append(turns.hungry, p)
		}
		return 0, 0
	}
	if p.listed {
		p.listed = false
		turns.hungry = slices.DeleteFunc(turns.hungry, func(h *partition) bool { return h == p })
	}
	defer s.feed() // there may be room for the next partition, also if this one cannot use it
	if p.bytes >= mostTurnBytes && !p.inDoubt() {
		return 0, 0 // until a message leaves
	}
	most := s.queue.options.lease / 3 // the lease of a message counts from the pull
	switch left := backend.MostHeld - len(p.held) - len(p.away); {
	case p.inDoubt():
		return max(1, min(len(p.away), mostTurns)), look
	case p.more && p.known && left > 0:
		n = min(left, mostTurns, free)
		turns.asked += n
		p.more = false // unless a message arrives that says so
		return n, 0
	case p.turn.Term != "":
		return 1, min(most, s.term/2) // so that the next pull is in time to keep the partition
	default:
		return 1, min(most, s.term)
	}
}

// freeTurns returns for how many messages there is room. The limit is half the places of the pool: so many
// messages can wait to start while the places are taken. There is no room while the first of them waits for
// long: another process with a free place gets the partitions then, and what waits here. The mutex is held.
func (s *server) freeTurns() int {
	if lines := s.turns.lines; len(lines) > 0 && time.Since(lines[0].since) >= longWait {
		return 0
	}
	return max(1, s.turns.places/2) - len(s.turns.lines) - s.turns.asked
}

// feed makes a partition that waits for room check again, if there is some. The mutex is held.
func (s *server) feed() {
	turns := &s.turns
	if len(turns.hungry) == 0 || s.freeTurns() <= 0 {
		return
	}
	p := turns.hungry[0]
	turns.hungry[0] = nil
	turns.hungry = turns.hungry[1:]
	p.listed = false
	p.poke()
}

// pulled notes how a pull has ended.
func (s *server) pulled(p *partition, n int, wait time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if wait == 0 {
		s.turns.asked -= n
	}
	if err != nil {
		p.known = false // what the server has sent may be lost
	}
	s.feed()
}

// awaitRoom waits until the partition must check for room again. If another process wants a partition from
// which this process does not pull, awaitRoom gives back the messages that have not begun.
func (s *server) awaitRoom(p *partition) {
	timer := time.NewTimer(s.term)
	defer timer.Stop()
	select {
	case <-p.wake:
		return
	case <-s.pulls.Done():
		return
	case <-timer.C:
	}
	s.mu.Lock()
	waits := false
	for _, t := range p.held {
		waits = waits || t.state == unclaimed
	}
	own := p.turn.Term
	s.mu.Unlock()
	if !waits {
		return
	}
	st, err := s.state(p)
	if err == nil && (st.Term == "" && st.Wanted || st.Term != "" && st.Term != own) {
		s.yield(p)
	}
}

func (s *server) state(p *partition) (backend.State, error) {
	ctx, cancel := context.WithTimeout(s.pulls, endTime)
	defer cancel()
	return p.from.State(ctx)
}

// census finds out which messages of a partition are away. No pull is under way, so nothing arrives
// meanwhile, but held messages may end.
func (s *server) census(p *partition) {
	st, err := s.state(p)
	if err != nil {
		return
	}
	s.mu.Lock()
	own := p.turn.Term
	if st.Term != "" && st.Term != own {
		s.mu.Unlock()
		s.yield(p)
		return
	}
	for seq, t := range p.held {
		if seq > st.Last { // a killed server has forgotten this delivery
			s.lose(t)
		}
	}
	// No other process can have finished a message that was delivered once. If as many messages are pending
	// as are held here, and this process is about to finish none, the pending messages are the held ones.
	alone := st.Pending == len(p.held)
	for _, t := range p.held {
		alone = alone && t.delivery.Count() == 1 && !t.ending
	}
	switch {
	case p.known && st.Turn == p.turn && st.Pending == len(p.held)+len(p.away): // nothing has changed
		s.mu.Unlock()
		return
	case alone:
		s.setAway(p, st, nil)
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	all, err := p.from.List(s.pulls, st.Last) // which asks for one message after the other: no time bounds that where the server is far
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setAway(p, st, all)
}

// setAway notes the outcome of a census: the messages that were delivered and are not done. The mutex is
// held.
func (s *server) setAway(p *partition, st backend.State, all map[uint64]string) {
	p.known, p.turn.Number = true, st.Number
	clear(p.away)
	for seq, key := range all {
		if seq > st.Done && p.held[seq] == nil {
			p.away[seq] = key
		}
	}
	for _, l := range p.lines {
		s.advance(l)
	}
}
