package streams_test

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/64ed045f/weir/par"
)

// ending is how a call, or a source, ends.
type ending uint8

const (
	well ending = iota
	fails
	panics
	exits
)

// kind is what a source is.
type kind uint8

const (
	slice kind = iota
	sequence
	channel
	results // a sequence with errors
)

// source gives the items 0 to len(delays).
type source struct {
	kind   kind
	delays []time.Duration // before each item
	fails  []bool          // of results: an error stands in the place of the item
	ends   ending
}

// call is one of a stage's function: for batches, the one whose first item it is.
type call struct {
	lasts time.Duration
	heeds bool // it gives up when its context is done
	ends  ending
	inner int // how many items it makes a loop of, in the end
}

// stage is one of a pipeline, or a loop.
type stage struct {
	limit, ahead         int // 0 ahead is the default
	unordered, keepGoing bool
	pooled               bool
	batch                int // the size of batches that the stage gets; 0 for single items
	calls                []call
}

// leaving is how a consumer ends a stream.
type leaving uint8

const (
	stays leaving = iota
	breaks
	throws
	cancels // the context, and goes on
)

type consumer struct {
	lasts []time.Duration // with each result
	leave leaving
	after int // results
}

// plan is a program.
type plan struct {
	source   source
	stages   []stage
	consumer consumer
	cancel   time.Duration // when the context ends; before the beginning if below 0, never if 0
	pool     *poolPlan
}

// The parts of a pool's plan.
type (
	poolPlan struct {
		limit, queue int
		refusing     bool // MaxWaiting(0)
		events       []poolEvent
	}
	poolEvent struct {
		after time.Duration // the event before
		what  trouble
		n     int
	}
	trouble uint8
)

const (
	occupy trouble = iota // for n ms
	resize
	pause // for n ms
	closing
	shutdown
)

// chance draws true once in n times, and shrinks to false.
func chance(t *rapid.T, n int, what string) bool {
	return rapid.IntRange(0, n-1).Draw(t, what) == n-1
}

// moment draws a short time; often none.
func moment(t *rapid.T, what string) time.Duration {
	return time.Duration(max(0, rapid.IntRange(-3, 6).Draw(t, what))) * time.Millisecond
}

func drawSource(t *rapid.T, trouble bool) source {
	s := source{kind: kind(rapid.IntRange(0, 3).Draw(t, "source"))}
	n := rapid.IntRange(0, 14).Draw(t, "items")
	if chance(t, 8, "many") {
		n += 40
	}
	slow := rapid.Bool().Draw(t, "slow source")
	s.delays, s.fails = make([]time.Duration, n), make([]bool, n)
	for i := range n {
		if slow && s.kind != slice {
			s.delays[i] = moment(t, "delay")
		}
		s.fails[i] = s.kind == results && chance(t, 12, "source fails")
	}
	if trouble && (s.kind == sequence || s.kind == results) && chance(t, 5, "source ends badly") {
		s.ends = panics
		if rapid.Bool().Draw(t, "exits") {
			s.ends = exits
		}
	}
	return s
}

func drawCalls(t *rapid.T, n int, wild bool) []call {
	calls := make([]call, n)
	slow, troubled := !chance(t, 5, "quick calls"), rapid.Bool().Draw(t, "troubled calls")
	for i := range calls {
		c := &calls[i]
		if slow {
			c.lasts = moment(t, "lasts")
			c.heeds = rapid.Bool().Draw(t, "heeds")
		}
		if troubled && chance(t, 12, "ends badly") {
			c.ends = fails
			if chance(t, 3, "exits") {
				c.ends = exits
			}
			if wild && chance(t, 3, "panics") {
				c.ends = panics
			}
		}
	}
	return calls
}

func drawStage(t *rapid.T, n int, wild, stream bool) stage {
	s := stage{
		limit:     rapid.IntRange(1, 5).Draw(t, "limit"),
		keepGoing: rapid.Bool().Draw(t, "KeepGoing"),
		calls:     drawCalls(t, n, wild),
	}
	if stream {
		s.ahead = rapid.IntRange(0, 8).Draw(t, "Ahead")
	}
	return s
}

// drawPlan draws a stream.
func drawPlan(t *rapid.T) *plan {
	wild := chance(t, 3, "wild")
	p := &plan{source: drawSource(t, wild)}
	n := len(p.source.delays)
	for range rapid.IntRange(1, 3).Draw(t, "stages") {
		p.stages = append(p.stages, drawStage(t, n, wild, true))
	}
	if chance(t, 4, "unordered") {
		for i := range p.stages {
			p.stages[i].unordered = rapid.Bool().Draw(t, "Unordered")
		}
	} else if chance(t, 4, "batches") {
		i := rapid.IntRange(0, len(p.stages)-1).Draw(t, "batched stage")
		p.stages[i].batch = rapid.IntRange(1, 5).Draw(t, "size")
	}
	p.consumer.lasts = make([]time.Duration, n+2)
	if rapid.Bool().Draw(t, "slow consumer") {
		for i := range p.consumer.lasts {
			p.consumer.lasts[i] = moment(t, "consumer")
		}
	}
	if chance(t, 3, "leave") {
		p.consumer.leave = leaving(rapid.IntRange(1, 3).Draw(t, "leaving"))
		p.consumer.after = rapid.IntRange(1, n+1).Draw(t, "after")
	}
	p.drawSurroundings(t)
	return p
}

// drawSurroundings draws what is not the stream itself: its context and its pool.
func (p *plan) drawSurroundings(t *rapid.T) {
	if p.consumer.leave == stays && chance(t, 5, "cancel") {
		p.cancel = time.Duration(rapid.IntRange(-1, 30).Draw(t, "cancel at")) * time.Millisecond
	}
	if !chance(t, 3, "pool") {
		return
	}
	p.pool = &poolPlan{
		limit:    rapid.IntRange(1, 3).Draw(t, "pool limit"),
		queue:    rapid.IntRange(0, 3).Draw(t, "queue"),
		refusing: chance(t, 5, "MaxWaiting(0)"),
	}
	for range rapid.IntRange(0, 4).Draw(t, "events") {
		e := poolEvent{after: moment(t, "event after"), what: trouble(rapid.IntRange(0, 2).Draw(t, "event"))}
		if chance(t, 6, "closes") {
			e.what = trouble(rapid.IntRange(int(closing), int(shutdown)).Draw(t, "how"))
		}
		e.n = rapid.IntRange(1, 4).Draw(t, "n")
		p.pool.events = append(p.pool.events, e)
	}
	for i := range p.stages {
		if p.pool.refusing || p.pool.closes() {
			p.stages[i].batch = 0 // a refusal of the stage before could end any batch early
		}
		p.stages[i].pooled = i == len(p.stages)-1 || rapid.Bool().Draw(t, "pooled")
		for j := range p.stages[i].calls {
			if chance(t, 8, "nested") {
				p.stages[i].calls[j].inner = rapid.IntRange(1, 4).Draw(t, "inner")
				if p.pool.refusing || p.pool.closes() {
					p.stages[i].calls[j].ends = well // it may fail before it comes to that
				}
			}
		}
	}
}

func (p *poolPlan) closes() bool {
	return slices.ContainsFunc(p.events, func(e poolEvent) bool { return e.what >= closing })
}

// highest is the highest limit that the pool ever has.
func (p *poolPlan) highest() int {
	limit := p.limit
	for _, e := range p.events {
		if e.what == resize {
			limit = max(limit, e.n)
		}
	}
	return limit
}

// has reports whether a call of any stage, or the source, ends in that way.
func (p *plan) has(e ending) bool {
	return p.source.ends == e || slices.ContainsFunc(p.stages, func(s stage) bool {
		return slices.ContainsFunc(s.calls, func(c call) bool { return c.ends == e })
	})
}

func (p *plan) unordered() bool {
	return slices.ContainsFunc(p.stages, func(s stage) bool { return s.unordered })
}

// aheadOf is how far a stage may be ahead.
func (s *stage) aheadOf() int {
	if s.ahead == 0 {
		return max(32, 2*s.limit)
	}
	return s.ahead
}

// options are those that a loop has, too.
func (s *stage) options(r *run) []par.Option {
	opts := []par.Option{par.Limit(s.limit)}
	if s.keepGoing {
		opts = append(opts, par.KeepGoing())
	}
	if s.pooled {
		opts = append(opts, par.On(r.pool))
	}
	return opts
}

func (s *stage) streamOptions(r *run) (opts []par.StreamOption) {
	for _, opt := range s.options(r) {
		opts = append(opts, opt)
	}
	if s.ahead > 0 {
		opts = append(opts, par.Ahead(s.ahead))
	}
	if s.unordered {
		opts = append(opts, par.Unordered())
	}
	return opts
}

func (p *plan) String() string {
	text := fmt.Sprintf("source %+v\n", p.source)
	for i, s := range p.stages {
		text += fmt.Sprintf("stage %d %+v\n", i, s)
	}
	text += fmt.Sprintf("consumer %+v\ncancel at %v\n", p.consumer, p.cancel)
	if p.pool != nil {
		text += fmt.Sprintf("pool %+v\n", *p.pool)
	}
	return text
}
