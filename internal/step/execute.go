package step

// execute runs the scene once, with a chooser in control.
func (s *Scene) execute(c chooser, longest int, t *trace) *execution {
	e := &execution{
		chooser: c,
		clock:   s.Clock,
		longest: longest,
		trace:   t,
		over:    make(chan struct{}, 1),
		all:     make([]*goroutine, 0, 16),
		options: make([]*goroutine, 0, 16),
	}
	e.run = &Run{x: e, fail: func(message string) { e.failf("%s", message) }}
	current = e
	defer func() { current = nil }()
	c.begin(e)
	e.start(e.spawn("scene", func() { s.Body(e.run) }))
	<-e.over
	for _, g := range e.all {
		if e.ending && g.state != ended && g.state != fresh && g.state != due {
			e.running = g
			g.wake <- struct{}{}
			<-e.over
		}
	}
	idle = append(idle, e.all...)
	if e.failure == nil && !e.given {
		e.audit()
	}
	return e
}

// audit makes the checks at the end of the execution.
func (e *execution) audit() {
	e.silent = true
	defer func() {
		if panicked := recover(); panicked != nil {
			if _, ok := panicked.(brokenOff); !ok {
				panic(panicked)
			}
		}
	}()
	for _, check := range e.run.atEnd {
		check()
	}
}

// idle holds the goroutines of executions that are over. Reusing them is quicker than making new ones, whose
// stacks have yet to grow.
var idle []*goroutine

func recycled() *goroutine {
	last := len(idle) - 1
	if last < 0 {
		return &goroutine{wake: make(chan struct{}, 1)}
	}
	g := idle[last]
	idle = idle[:last]
	*g = goroutine{alive: g.alive, wake: g.wake}
	return g
}
