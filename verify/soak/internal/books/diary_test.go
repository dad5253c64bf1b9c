package books_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

func TestADiaryReportsEveryFalseAnswer(t *testing.T) {
	const ms = time.Millisecond
	anyKind := func(int) bool { return true }
	for name, c := range map[string]struct {
		exact  bool
		lists  []int         // the tasks in the answer: 0 is given after 30 ms, begins after 40, and ends after 200
		since  time.Duration // when they have begun, according to it
		looks  time.Duration // when the looker asks for the first time
		asks   time.Duration // and for the second
		longer time.Duration
		want   string
	}{
		"right": {true, []int{0}, 40 * ms, 60 * ms, 90 * ms, 50 * ms, ""},
		"a task that runs for less need not be there": {true, nil, 0, 60 * ms, 90 * ms, 51 * ms, ""},
		"a task is missing":                           {true, nil, 0, 60 * ms, 90 * ms, 50 * ms, "Running(50ms) does not list task 0, which had run for 50ms"},
		"a task is missing that looks tell":           {false, nil, 0, 60 * ms, 120 * ms, 40 * ms, "does not list task 0, which had run for 80ms"},
		"no look was long enough ago":                 {false, nil, 0, 81 * ms, 120 * ms, 40 * ms, ""},
		"no look was behind the start":                {false, nil, 0, 49 * ms, 120 * ms, 40 * ms, ""},
		"a look may be forgotten":                     {false, nil, 0, 60 * ms, 119 * ms, 40 * ms, ""},
		"a task that has not begun is not missing":    {true, nil, 0, 20 * ms, 39 * ms, 0, ""},
		"too early":                  {true, []int{0}, 41 * ms, 60 * ms, 90 * ms, 50 * ms, "lists task 0, which has run for 49ms"},
		"since before it was given":  {true, []int{0}, 29 * ms, 60 * ms, 90 * ms, 50 * ms, "has run since 1ms before it was given"},
		"twice":                      {true, []int{0, 0}, 40 * ms, 60 * ms, 90 * ms, 50 * ms, "lists task 0 twice"},
		"another kind":               {true, []int{0, 1}, 40 * ms, 60 * ms, 90 * ms, 50 * ms, "lists task 1, which is of another kind"},
		"ended, but may not be over": {true, []int{0}, 40 * ms, 60 * ms, 205 * ms, 50 * ms, ""},
		"over":                       {true, []int{0}, 40 * ms, 60 * ms, 211 * ms, 50 * ms, "lists task 0, which was over 1ms before the call"},
	} {
		check.Bubble(t, name, func(t *testing.T) {
			j := books.NewJournal()
			d, begin := books.NewDiary(books.New("load", j), 2), time.Now()
			go func() {
				time.Sleep(30 * ms)
				d.Given(0)
				time.Sleep(10 * ms)
				d.Run(0, func() { time.Sleep(160 * ms) })
				time.Sleep(10 * ms)
				d.Over(0)
			}()
			l := d.Looker(c.exact)
			look := func(at, longer time.Duration, expected func(int) bool, lists ...int) {
				time.Sleep(time.Until(begin.Add(at)))
				synctest.Wait()
				l.Look("Running", longer, expected, func(found func(int, time.Time)) {
					for _, id := range lists {
						found(id, begin.Add(c.since))
					}
				})
			}
			look(c.looks, time.Hour, anyKind)
			look(c.asks, c.longer, func(id int) bool { return id == 0 }, c.lists...)
			wantBreach(t, j, c.want)
			time.Sleep(time.Second)
			if !d.Ended(0) {
				t.Error("the task has not ended")
			}
		})
	}
}
