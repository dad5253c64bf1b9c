package step

// chooser says which goroutine goes on, or which case of a select goes through.
type chooser interface {
	begin(e *execution)
	// resume is called when the execution is to ask at steps again.
	resume(e *execution)
	// pick returns which of the options goes on; the first one is the default.
	pick(e *execution, k kind, options []*goroutine) int
	choose(e *execution, n int) int
}

// kind is why a goroutine is picked.
type kind uint8

const (
	preempt kind = iota // the first option could go on: to let another one is a preemption
	yield               // the last option called Gosched
	free                // the goroutine that ran cannot go on
)
