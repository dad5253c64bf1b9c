package streams_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/par"
)

// gathering is a source, read by BatchFor for a consumer that takes no time, so the test knows all results beforehand.
// Items come at even times and batches are due at odd ones.
type gathering struct {
	source
	size int
	wait time.Duration
	stop int // the consumer breaks after so many batches; never if 0
}

func drawGathering(t *rapid.T) *gathering {
	g := &gathering{
		source: source{kind: results, ends: ending(rapid.IntRange(0, 3).Draw(t, "ends"))},
		size:   rapid.IntRange(1, 5).Draw(t, "size"),
		wait:   time.Duration(1+2*rapid.IntRange(0, 9).Draw(t, "wait")) * time.Millisecond,
		stop:   rapid.IntRange(0, 8).Draw(t, "stop"),
	}
	for range rapid.IntRange(0, 20).Draw(t, "items") {
		g.delays = append(g.delays, 2*moment(t, "delay"))
		g.fails = append(g.fails, chance(t, 8, "fails"))
	}
	return g
}

// want is which batches come, and when.
func (g *gathering) want() (all []string) {
	var items []int
	var due, now time.Duration
	hand := func(at time.Duration, text string) { all = append(all, fmt.Sprintf("%v: %s", at, text)) }
	flush := func(at time.Duration) {
		if items != nil {
			hand(at, fmt.Sprint(items))
		}
		items = nil
	}
	for i, delay := range g.delays {
		now += delay
		if due < now {
			flush(due)
		}
		if g.fails[i] {
			flush(now)
			hand(now, "failed")
			continue
		}
		if items == nil {
			due = now + g.wait
		}
		if items = append(items, i); len(items) == g.size {
			flush(now)
		}
	}
	if g.ends == panics {
		return all // the batch begun is lost
	}
	flush(now)
	if g.ends == exits {
		hand(now, weir.ErrGoexit.Error())
	}
	return all
}

func TestABatchIsHandedOverWhenItIsFullOrOld(t *testing.T) { rapid.Check(t, checkGathering) }

func FuzzBatchFor(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkGathering)) }

func checkGathering(t *rapid.T) {
	g := drawGathering(t)
	var got []string
	var r *run
	rapid.SyncTest(t, func(*rapid.T) {
		r = newRun(&plan{source: g.source})
		defer r.cancel(nil)
		defer func() { r.outcome = recover() }()
		for batch, err := range par.BatchFor[[]int](par.Results(r.items), g.size, g.wait).All(r.ctx) {
			text := fmt.Sprint(slices.Concat(batch...))
			if err != nil {
				text = "failed"
				if errors.Is(err, weir.ErrGoexit) {
					text = err.Error()
				}
			}
			got = append(got, fmt.Sprintf("%v: %s", r.now(), text))
			if len(got) == g.stop {
				break
			}
		}
		r.atRest()
	})
	want := g.want()
	if g.stop > 0 {
		want = want[:min(g.stop, len(want))]
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%+v\ngot  %q\nwant %q", g, got, want)
	}
	if r.wrong != nil {
		t.Fatalf("%+v\n%v", g, r.wrong)
	}
	if err := r.panicked(); err != nil {
		t.Fatalf("%+v\n%v", g, err)
	}
}
