package weirhttp_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

func TestNewestFirstServesTheNewestAndDisplacesTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1, weirhttp.Queue(3), weirhttp.NewestFirst())
		all := s.send("a", "b", "c", "d", "e")
		s.refused(all[1], 0)
		s.end(all[0])
		s.order("a", "e")
		all = append(all, s.send("f")...)
		s.end(all[4])
		s.order("f")
		s.end(all[5])
		s.order("d")
		s.endAll([]*visit{all[2], all[3]})
		s.order("c")
		check.Equal(t, "stats", s.Stats(), weirhttp.Stats{Limit: 1, Served: 5, Displaced: 1})
	})
}

func TestTheHighestPriorityRunsNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1, weirhttp.Queue(10), weirhttp.Priority(priorityHeader))
		all := s.send("a", "b", "c:5", "d:-1", "e:5", "f", "g:9")
		s.endAll(all)
		s.order("a", "g:9", "c:5", "e:5", "b", "f", "d:-1")
	})
}

func TestWhenFullAHigherPriorityDisplacesTheLowest(t *testing.T) {
	check.Bubble(t, "oldest first", func(t *testing.T) {
		s := newSite(t, 1, weirhttp.Queue(3), weirhttp.Priority(priorityHeader))
		all := s.send("a", "b", "c", "d:2", "e:2", "f:-1", "g", "h:1", "i:2")
		for _, i := range []int{2, 5, 6, 1, 7} {
			s.refused(all[i], 0)
		}
		// e came in for c, the newer of the two lowest; f and g were too low; then h came in
		// for b, and i for h.
		s.endAll([]*visit{all[0], all[3], all[4], all[8]})
		s.order("a", "d:2", "e:2", "i:2")
		check.Equal(t, "stats", s.Stats(), weirhttp.Stats{Limit: 1, Served: 4, QueueFull: 2, Displaced: 3})
	})
	check.Bubble(t, "newest first", func(t *testing.T) {
		s := newSite(t, 1, weirhttp.Queue(3), weirhttp.Priority(priorityHeader), weirhttp.NewestFirst())
		all := s.send("a", "b", "c", "d:2", "e:1", "f:-1", "g", "h:1")
		for _, i := range []int{1, 5, 2, 6} {
			s.refused(all[i], 0)
		}
		s.endAll([]*visit{all[0], all[3], all[4], all[7]})
		s.order("a", "d:2", "h:1", "e:1")
		check.Equal(t, "stats", s.Stats(), weirhttp.Stats{Limit: 1, Served: 4, QueueFull: 1, Displaced: 3})
	})
}

func TestOneKeyCannotTakeAllSlotsNorAllOfTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 3, weirhttp.Queue(4), weirhttp.PerKey(2, keyHeader))
		noisy := s.send("1/a", "1/b", "1/c", "1/d", "1/e")
		s.order("1/a", "1/b")
		s.refused(noisy[4], 0) // half of the queue
		check.Equal(t, "stats", s.Stats(), weirhttp.Stats{Limit: 3, Running: 2, Waiting: 2, Keys: 1, KeyFull: 1})
		others := s.send("2/f", "3/g", "4/h")
		s.order("2/f")
		check.Equal(t, "stats", s.Stats(), weirhttp.Stats{Limit: 3, Running: 3, Waiting: 4, Keys: 4, KeyFull: 1})
		s.end(others[0]) // f's slot is for none of key 1
		s.order("3/g")
		s.end(noisy[0])
		s.order("1/c")
		s.end(others[1])
		s.order("4/h")
		s.end(others[2])
		s.order()
		check.Equal(t, "keys", s.Stats().Keys, 1)
		s.endAll(noisy[1:4])
	})
}

func TestWithinAKeyTheHigherPriorityDisplacesTheLower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 2, weirhttp.Queue(4), weirhttp.PerKey(1, keyHeader), weirhttp.PerKeyQueue(1), weirhttp.Priority(priorityHeader))
		all := s.send("1/a", "1/b", "1/c:1", "2/d", "2/e", "1/f:1")
		s.refused(all[1], 0)
		s.refused(all[5], 0)
		s.order("1/a", "2/d")
		check.Equal(t, "stats", s.Stats(), weirhttp.Stats{Limit: 2, Running: 2, Waiting: 2, Keys: 2, Displaced: 1, KeyFull: 1})
		s.endAll([]*visit{all[0], all[2], all[3], all[4]})
	})
}

// The last waiting request of a key that has none running may be displaced by one of the same
// key.
func TestAKeyIsNotForgottenWhileItsRequestsDisplaceEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1, weirhttp.Queue(1), weirhttp.PerKey(1, keyHeader), weirhttp.NewestFirst())
		all := s.send("1/a", "2/b", "2/c")
		s.refused(all[1], 0)
		check.Equal(t, "keys", s.Stats().Keys, 2)
		s.end(all[0])
		s.order("1/a", "2/c")
		check.Equal(t, "keys", s.Stats().Keys, 1)
		late := s.send("2/d")
		s.order()
		s.endAll([]*visit{all[2], late[0]})
		s.order("2/d")
	})
}

func TestAKeyIsForgottenWithItsLastRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1, weirhttp.Queue(2), weirhttp.PerKey(1, keyHeader))
		all := s.send("1/a", "2/b", "3/c", "4/d")
		s.refused(all[3], 0)
		check.Equal(t, "keys", s.Stats().Keys, 3)
		all[1].cancel()
		synctest.Wait()
		check.Equal(t, "keys", s.Stats().Keys, 2)
		s.endAll([]*visit{all[0], all[2]})
	})
}

func TestWithoutAQueueItIsNotTheKeyThatIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1, weirhttp.Queue(0), weirhttp.PerKey(1, keyHeader))
		all := s.send("1/a", "2/b")
		s.refused(all[1], 0)
		check.Equal(t, "stats", s.Stats(), weirhttp.Stats{Limit: 1, Running: 1, Keys: 1, QueueFull: 1})
		s.endAll(all[:1])
	})
}

func TestARequestThatIsGoneAsItComesDisplacesNone(t *testing.T) {
	check.Bubble(t, "newest first", func(t *testing.T) {
		s := newSite(t, 1, weirhttp.Queue(1), weirhttp.NewestFirst())
		all := s.send("runs", "waits")
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // as by RST_STREAM while a handler outside worked
		s.Limiter.ServeHTTP(newSink(), request(t, &untouched{t}, 1).WithContext(ctx))
		synctest.Wait()
		check.Equal(t, "stats", s.Stats(), weirhttp.Stats{Limit: 1, Running: 1, Waiting: 1, Gone: 1})
		s.endAll(all)
	})
}
