package hostile_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir/internal/check"
)

// crowds are requests that come to a site one after the other, each of them given by its key, and what has
// become of each when the last has come.
var crowds = map[string]struct{ keys, want string }{
	"limit":           {"a a a a a a a", "runs runs runs waits waits queue-full queue-full"},
	"keys":            {"a a a a b c d e", "runs runs waits key-full runs waits queue-full queue-full"},
	"newest first":    {"a a a a a a a", "runs runs runs displaced displaced waits waits"},
	"on a pool":       {"a b c d e f g", "runs runs waits waits waits queue-full queue-full"},
	"do":              {"a a a a a a", "runs runs waits waits 503 503"},
	"limit before do": {"a a a a a a a", "runs runs waits waits waits queue-full queue-full"},
}

// gather has the crowd of its setting come to a site in a bubble, and returns what must become of it.
func (s *site) gather() (crowd []*client, want string) {
	s.Helper()
	for key := range strings.FieldsSeq(crowds[s.name].keys) {
		crowd = append(crowd, s.comes(key))
	}
	check.Equal(s, "in the handlers", s.inside.Now.Load(), s.most())
	return crowd, crowds[s.name].want
}

// comes has one more request come.
func (s *site) comes(key string) *client {
	c := s.dial(true)
	c.send(get("/gate", "Key: "+key, "Connection: close"))
	synctest.Wait()
	return c
}

// fate is what has become of a request, as far as the client can see.
func (c *client) fate() string {
	answer := c.heard.String()
	if answer == "" {
		return "is here"
	}
	_, rest, _ := strings.Cut(answer, "Why: ")
	if why, _, found := strings.Cut(rest, "\r\n"); found {
		return strings.ReplaceAll(why, " ", "-")
	}
	return fmt.Sprint(append(statuses(answer), 0)[0])
}

// fates fails the test unless each request of the crowd has met the wanted fate, seen from the outside: a request
// that runs and one that waits are both here.
func fates(t *testing.T, when string, crowd []*client, want string) {
	t.Helper()
	synctest.Wait()
	var got []string
	for _, c := range crowd {
		got = append(got, c.fate())
	}
	want = strings.NewReplacer("runs", "is here", "waits", "is here").Replace(want)
	check.Equal(t, when, strings.Join(got, " "), want)
}

// inEach runs a test for each setting, in a bubble.
func inEach(t *testing.T, test func(t *testing.T, set setting)) {
	for _, set := range settings {
		check.Bubble(t, set.name, func(t *testing.T) { test(t, set) })
	}
}

// atEach is inEach with a site of the setting, which ends when the test returns.
func atEach(t *testing.T, test func(t *testing.T, s *site)) {
	inEach(t, func(t *testing.T, set setting) {
		s := newSite(t, set, newPipes())
		test(t, s)
		s.end()
	})
}

// waiting is how many requests wait at a site.
func (s *site) waiting() int {
	n := 0
	if s.limiter != nil {
		n = s.limiter.Stats().Waiting
	}
	if s.do {
		got := s.pool.Stats()
		n += got.Queued + got.Waiting
	}
	return n
}

func TestNoneRunsOrWaitsBeyondTheBoundsAndAllOthersAreAnsweredAtOnce(t *testing.T) {
	atEach(t, func(t *testing.T, s *site) {
		crowd, want := s.gather()
		fates(t, "when all have come", crowd, want)
		check.Equal(t, "waiting", s.waiting(), strings.Count(want, "waits"))
		if !s.do {
			status, took := s.visitor().visit("http://x/health", "visitor")
			check.Equal(t, "exempt: status", status, 200)
			check.Equal(t, "exempt: took", took, 0)
		}
		s.open()
		fates(t, "when the handlers have returned", crowd,
			strings.NewReplacer("runs", "200", "waits", "200").Replace(want))
	})
}

func TestAClientThatHangsUpWhileItWaitsLeavesItsRoom(t *testing.T) {
	atEach(t, func(t *testing.T, s *site) {
		crowd, fates := s.gather()
		keys, want, waiting := strings.Fields(crowds[s.name].keys), strings.Fields(fates), s.waiting()
		for round := range 3 {
			for i, c := range crowd {
				if want[i] == "waits" {
					c.hangUp()
					synctest.Wait()
					check.Equal(t, "waiting when one has hung up", s.waiting(), waiting-1)
					crowd[i] = s.comes(keys[i])
					check.Equal(t, "waiting when another has come", s.waiting(), waiting)
					check.Equal(t, "and what it meets", crowd[i].fate(), "is here")
				}
			}
			check.Equal(t, fmt.Sprintf("in the handlers in round %d", round), s.inside.Now.Load(), s.most())
		}
		for i, c := range crowd {
			if want[i] == "runs" {
				c.hangUp() // its handler does not return
			}
		}
		s.open()
		synctest.Wait()
		for i, c := range crowd {
			if want[i] == "waits" {
				check.Equal(t, "the request that has waited", c.fate(), "200")
			}
		}
	})
}

// A slot becomes free for a request at the moment at which its client hangs up.
func TestASlotIsNotLostOnAClientThatHangsUpAsItsTurnComes(t *testing.T) {
	inEach(t, func(t *testing.T, set setting) {
		for range 40 {
			s := newSite(t, set, newPipes())
			crowd, _ := s.gather()
			for _, c := range crowd {
				go c.hangUp()
			}
			s.open()
			synctest.Wait()
			s.probe(s.visitor(), "http://x")
			s.end()
			if t.Failed() {
				return
			}
		}
	})
}

func TestDrainRefusesAllThatWaitAndAllThatCome(t *testing.T) {
	atEach(t, func(t *testing.T, s *site) {
		crowd, want := s.gather()
		if s.limiter == nil { // Do drains with its pool
			go s.pool.Close()
		} else {
			s.limiter.Drain()
		}
		if s.do { // what the Limiter has let in, or a pool has accepted, is served
			want = strings.Replace(want, "waits", "stays", 1)
		}
		if s.bare {
			want = strings.Replace(want, "waits", "503", 1)
		}
		want = strings.NewReplacer("waits", "closed", "stays", "is here").Replace(want)
		fates(t, "after Drain", crowd, want)
		late := s.dial(true)
		late.send(get("/"))
		synctest.Wait()
		if fate := late.fate(); fate != "closed" && fate != "503" {
			t.Errorf("a request after Drain: %s, want a refusal", fate)
		}
		if !strings.Contains(late.hear(), "Connection: close") {
			t.Error("a refusal after Drain keeps its connection")
		}
		s.open()
		fates(t, "at the end", crowd, strings.NewReplacer("runs", "200", "is here", "200").Replace(want))
	})
}
