package step

import "fmt"

// depthFirst visits every execution with at most bound preemptions.
type depthFirst struct {
	bound   int // the most preemptions
	free    int // the most other turns; 0 for no bound
	reduces bool
	path    []fork
	depth   int // how far the present execution has come on the path
	used    int // preemptions so far
	turns   int // other turns so far
}

// fork is a moment at which there was a choice.
type fork struct {
	moment int
	n, at  int
	plain  bool // a step, where the default is to go on
}

func (s *depthFirst) begin(e *execution) {
	s.depth, s.used, s.turns = 0, 0, 0
	e.reduces = s.reduces
	s.resume(e)
}

// resume sets when a step is a fork again. It is none where the path goes straight on, nor while no
// preemption is left. The path ends with a fork at which it does not go straight on.
func (s *depthFirst) resume(e *execution) {
	for s.depth < len(s.path) && s.path[s.depth].plain && s.path[s.depth].at == 0 {
		s.depth++
	}
	switch {
	case s.depth < len(s.path):
		e.ask = s.path[s.depth].moment
	case s.used < s.bound:
		e.ask = 0
	default:
		e.ask = e.longest
	}
}

func (s *depthFirst) pick(e *execution, k kind, options []*goroutine) int {
	if k == preempt && s.used == s.bound || k != preempt && s.free > 0 && s.turns == s.free {
		return 0
	}
	at := s.fork(e, len(options), k == preempt)
	switch {
	case at == 0:
	case k == preempt:
		s.used++
		s.resume(e)
	default:
		s.turns++
	}
	return at
}

func (s *depthFirst) choose(e *execution, n int) int { return s.fork(e, n, false) }

func (s *depthFirst) fork(e *execution, n int, plain bool) int {
	if n == 1 {
		return 0
	}
	if s.depth == len(s.path) {
		s.path = append(s.path, fork{e.moment, n, 0, plain})
	}
	f := s.path[s.depth]
	if f.moment != e.moment || f.n != n {
		panic(fmt.Sprintf("step: an execution differs from the last one that began in the same way: %d choices at moment %d, then %d at moment %d",
			f.n, f.moment, n, e.moment))
	}
	s.depth++
	s.resume(e)
	return f.at
}

// advance moves to the next execution, and reports whether there is one.
func (s *depthFirst) advance() bool {
	for len(s.path) > 0 {
		f := &s.path[len(s.path)-1]
		if f.at++; f.at < f.n {
			return true
		}
		s.path = s.path[:len(s.path)-1]
	}
	return false
}
