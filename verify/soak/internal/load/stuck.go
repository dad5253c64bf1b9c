package load

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/race"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// stuck gives a pool tasks that run for long, among short ones, and looks for those all the time. Each of them has a label of its own, so that
// an answer can be compared with what the task itself knows.
func stuck(r *Round) {
	const givers = 6
	each := 1 + r.Rand.IntN(4)
	longest := 30 * time.Millisecond
	if one(r.Rand, 10) {
		longest, each = 300*time.Millisecond, 1
	}
	share := pick(r.Rand, 0, 0.01, 1)
	n := givers * each * deepest
	s := &swamp{
		Round:   r,
		pool:    weir.New(r.limit(), r.options(weir.Measure(share))...),
		exact:   share == 1,
		longest: longest,
		ledger:  books.NewLedger(r.Book, n),
		diary:   books.NewDiary(r.Book, n),
	}
	weir.Watch()
	var all, short team
	stop := short.again(r, s.flood)
	for range 1 + r.Rand.IntN(2) {
		looker := s.diary.Looker(s.exact)
		defer new(team).again(r, func(rnd *rand.Rand) { s.look(rnd, looker) })()
	}
	all.each(r, givers, func(rnd *rand.Rand) {
		for range each {
			s.give(context.Background(), rnd, deepest)
		}
	})
	all.Wait()
	stop()
	s.pool.Close()
	r.settled(s.pool, s.ledger, false)
}

type swamp struct {
	*Round
	pool    *weir.Pool
	exact   bool
	longest time.Duration // for which one looks; tasks take up to twice as long
	ledger  *books.Ledger
	diary   *books.Diary
}

// flood gives the pool short tasks.
func (s *swamp) flood(rnd *rand.Rand) {
	for range rnd.IntN(100) {
		_ = s.pool.TrySubmit(anyToil(rnd).do) // also if the pool is full
	}
	time.Sleep(micros(rnd, 2000))
}

const deepest = 3 // of tasks that give tasks

// The kinds of tasks, by their number.
const (
	inGroup = iota
	asFuture
	byDo
	kinds
)

// stuckLabel stands before the number in a label.
const stuckLabel = "stuck "

// give hands a task over, and waits for its end.
func (s *swamp) give(ctx context.Context, rnd *rand.Rand, depth int) {
	id := s.ledger.New()
	ctx = weir.Label(ctx, stuckLabel+strconv.Itoa(id))
	task := func(ctx context.Context) error {
		s.ledger.Run(id, nil, func() { s.diary.Run(id, func() { s.dwell(ctx, rnd, depth) }) })
		return nil
	}
	s.diary.Given(id)
	var err error
	switch kind := id % kinds; {
	case kind == inGroup:
		g := s.pool.Group(ctx)
		g.Go(task)
		err = g.Wait()
	case kind == asFuture || depth < deepest: // a task that calls Do runs on by that, and is no other task
		_, err = weir.Async(ctx, s.pool, func(ctx context.Context) (int, error) { return id, task(ctx) }).Get(ctx)
	default:
		err = s.pool.Do(ctx, task)
	}
	s.diary.Over(id)
	s.ledger.Settle(id, err)
}

// dwell is what a task does. It runs, waits for another, or gives its place up.
func (s *swamp) dwell(ctx context.Context, rnd *rand.Rand, depth int) {
	rest := time.Duration(rnd.Int64N(int64(2 * s.longest)))
	switch rnd.IntN(3) {
	case 0:
		time.Sleep(rest)
	case 1:
		weir.Blocking(ctx, func() { time.Sleep(rest) })
	case 2:
		time.Sleep(rest / 2)
		if depth > 1 {
			s.give(ctx, rnd, depth-1)
		}
	}
}

// look looks for tasks, or for groups.
func (s *swamp) look(rnd *rand.Rand, looker *books.Looker) {
	longer := time.Duration(rnd.Int64N(int64(s.longest)))
	if one(rnd, 4) {
		groups := func(id int) bool { return id%kinds == inGroup }
		looker.Look("Groups", longer, groups, func(found func(id int, since time.Time)) {
			for _, g := range weir.Groups(longer) {
				if id, ok := stuckID(g.Label); ok {
					found(id, g.Since)
				}
			}
		})
	} else {
		var list []weir.Running
		looker.Look("Running", longer, func(int) bool { return true }, func(found func(id int, since time.Time)) {
			list = s.pool.Running(longer)
			for _, r := range list {
				if id, ok := stuckID(r.Label); ok {
					found(id, r.Since)
				}
			}
		})
		if len(list) > 0 && one(rnd, 50) {
			s.stack(pick(rnd, list...))
		}
	}
	time.Sleep(micros(rnd, 300))
}

func stuckID(label string) (id int, ok bool) {
	number, ok := strings.CutPrefix(label, stuckLabel)
	if ok {
		id, _ = strconv.Atoi(number)
	}
	return id, ok
}

// stack checks that a task shows its own stack. That of a call of Do is on another goroutine, as is each under the race detector.
func (s *swamp) stack(r weir.Running) {
	id, ok := stuckID(r.Label)
	if !ok || id%kinds == byDo {
		return
	}
	begun := s.diary.Began(id) // else its worker may still prepare for it
	text := r.Stack()
	shown := text != "" && (race.Enabled || strings.Contains(text, "(*swamp)."))
	s.Check(shown || !begun || s.diary.Ended(id), "task %d, which runs, shows the stack %q", id, text)
}
