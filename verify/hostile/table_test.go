package hostile_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir/internal/check"
)

func TestEachRequestIsAnsweredAsItShouldAndCostsNoSlot(t *testing.T) {
	for _, w := range slices.Concat(wellFormed, malformed) {
		t.Run(w.name, func(t *testing.T) {
			inEach(t, func(t *testing.T, set setting) {
				s := newSite(t, set, newPipes())
				s.open()
				c := s.dial(true)
				go c.send(w.text) // which may end in the middle
				synctest.Wait()
				c.finish()
				answer := c.hear()
				c.hangUp()
				s.end()
				if got := statuses(answer); !slices.Equal(got, w.want) {
					t.Errorf("it was answered with %v, want %v: %.500q", got, w.want, answer)
				}
				check.Equal(t, "requests that reached the handler", s.running.Entered.Load(), int64(w.runs))
			})
		})
	}
}

// Over sockets, half-closed or reset, cut off at any byte, many at once: the server learns of the end in any state. Afterwards
// the memory that they have taken is free again.
func TestManyRequestsThatAreCutOffAtOnceCostNoSlotAndNoMemory(t *testing.T) {
	for _, set := range settings {
		t.Run(set.name, func(t *testing.T) {
			s := newSite(t, set, loopback(t))
			s.open()
			var used [2]int64
			for round := range used {
				s.cutOff(round)
				s.rest()
				used[round] = check.Heap().Bytes
			}
			atMost(t, "bytes that a round has left", used[1]-used[0], 1<<20)
			s.probe(s.visitor(), "http://"+s.listener.Addr().String())
			s.end()
		})
	}
}

// cutOff sends all kinds of requests, cut off at every byte, in another way in each round.
func (s *site) cutOff(round int) {
	var clients sync.WaitGroup
	for _, w := range wellFormed {
		clients.Go(func() {
			for cut := range len(w.text) + 1 {
				if testing.Short() && cut%5 != 0 {
					continue
				}
				c := s.dial((cut+round)%2 == 0)
				c.send(w.text[:cut])
				if (cut+round)%4 == 0 {
					c.finish()
					c.hear()
				}
				c.reset()
			}
		})
	}
	within(clients.Wait) // all connections end
}
