package streams_test

import (
	"context"
	"flag"
	"io"
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/64ed045f/weir/par"
	"github.com/64ed045f/weir/verify/internal/plant"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil))) // second panics are logged
	if err := flag.Set("rapid.checks", "1500"); err != nil {        // the command line may still say otherwise
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

func TestStreamsAreWhatLoopsAre(t *testing.T) { rapid.Check(t, checkStream) }

func FuzzStream(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkStream)) }

func checkStream(t *rapid.T) {
	p := drawPlan(t)
	var r *run
	rapid.SyncTest(t, func(*rapid.T) { r = play(p) })
	if err := r.judge(); err != nil {
		t.Fatalf("%v\n%v", err, r)
	}
}

// play runs a stream, and its consumer. It must be called in a bubble.
func play(p *plan) *run {
	r := newRun(p)
	stream := r.pipeline().All(r.ctx)
	r.finish(func() {
		for value, err := range stream {
			if r.consume(handed{value, err, r.now()}) {
				break
			}
		}
	})
	return r
}

// consume is the body of the range statement. It reports whether the consumer breaks.
func (r *run) consume(h handed) (leaves bool) {
	r.got = append(r.got, h)
	c := &r.plan.consumer
	if span := c.lasts[min(len(r.got), len(c.lasts)-1)]; span > 0 {
		time.Sleep(span) // and time goes on only when all others are blocked
		r.checkAhead()
	}
	if len(r.got) == c.after {
		switch c.leave {
		case breaks:
			return true
		case throws:
			panic(errBody)
		case cancels:
			r.cancel(errEnded)
		case stays:
		}
	}
	return false
}

// checkAhead checks how far the pipeline is ahead of its consumer.
func (r *run) checkAhead() {
	ahead := len(r.got)
	for i := range r.plan.stages {
		s := &r.plan.stages[i]
		ahead += s.aheadOf()
		if s.batch > 0 {
			return // counts them, not items
		}
	}
	begun := 0
	for i := range r.stages[0].calls {
		begun += int(r.stages[0].calls[i].Load())
	}
	if n := max(begun, int(r.pulled.Load())); n > ahead {
		r.mustNot("%d items were taken, must be at most %d", n, ahead)
	}
}

// atRest checks that no call of the stream or loop runs any more.
func (r *run) atRest() {
	for i := range r.stages {
		if n := r.stages[i].inside.Now.Load(); n != 0 {
			r.mustNot("all is over, but %d calls of stage %d run", n, i)
		}
	}
	if r.active.Load() != 0 {
		r.mustNot("all is over, but the source runs")
	}
}

// pipeline builds what is planned.
func (r *run) pipeline() *par.Pipeline[[]int] {
	var p *par.Pipeline[[]int]
	for number := range r.plan.stages {
		s := &r.plan.stages[number]
		work, opts := r.work(number), s.streamOptions(r)
		switch {
		case number > 0:
			p = pipe(s, p, work, opts)
		case r.source.kind == slice:
			p = pipe(s, r.slice(), work, opts)
		case r.source.kind == sequence:
			p = pipe(s, r.sequence, work, opts)
		case r.source.kind == channel:
			p = pipe(s, r.channel(), work, opts)
		default:
			p = pipe(s, par.Results(r.items), work, opts)
		}
	}
	return p
}

// pipe makes a stage; one of batches gets the items of a batch as one.
func pipe[S par.Source[[]int]](s *stage, from S, work func(context.Context, []int) ([]int, error), opts []par.StreamOption) *par.Pipeline[[]int] {
	if s.batch == 0 {
		return par.Pipe(from, work, opts...)
	}
	return par.Pipe(par.Batch[[]int](from, s.batch), func(ctx context.Context, batch [][]int) ([]int, error) {
		var items []int
		for _, b := range batch {
			items = append(items, b...)
		}
		return work(ctx, items)
	}, opts...)
}

func TestEveryPlantedBugIsFound(t *testing.T) {
	plant.Proof{
		Folder: "./streams",
		Bugs:   plant.Read("par"),
		Limit:  2 * time.Minute,
		Args:   []string{"-test.run=^(TestStreams|TestLoops|TestABatch)"},
		More:   plant.Rapid("200", "3000", "60000"),
	}.Run(t)
}
