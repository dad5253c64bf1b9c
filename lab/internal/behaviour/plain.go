package behaviour

import (
	"errors"
	"sync"
	"time"
)

// plainPrograms need no library: a goroutine for each task, and a WaitGroup. They have no limit, no errors
// and no contexts of their own.
func plainPrograms() programs {
	var open opener = func(int) pool {
		var tasks sync.WaitGroup
		return pool{submit: always(tasks.Go), wait: silent(tasks.Wait)}
	}
	return open.programs("04", "09", "23", "reuse", "wait").and(programs{
		"03": open.with(0, nilTask(func(pool) error {
			var tasks sync.WaitGroup
			tasks.Go(nil)
			tasks.Wait()
			return nil
		})),
		"06": open.with(0, exits(false, "Wait")),
		"19": bubbles(func(_ Env, _ func(string)) error {
			var tasks sync.WaitGroup
			begin := time.Now()
			for range 10 {
				tasks.Go(func() { time.Sleep(time.Second) })
			}
			tasks.Wait()
			if time.Since(begin) != time.Second {
				return errors.New("not all at once")
			}
			return nil
		}),
	})
}
