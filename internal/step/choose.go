package step

// chooser says which goroutine goes on, or which case of a select goes through.
type chooser interface {
	begin(e *execution)
	// resume is called when the execution must ask at steps again.
	resume(e *execution)
	// pick returns which of the options goes on; the first one is the default.
	pick(e *execution, k kind, options []*goroutine) int
	choose(e *execution, n int) int
}

// kind is why a goroutine is picked.
type kind uint8

const (
	preempt kind = iota // the first option could go on: letting another one go on is a preemption
	yield               // the goroutine that ran called Gosched; if it is an option, it is the last one
	free                // the goroutine that ran cannot go on
)
