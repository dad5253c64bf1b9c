package race

import "fmt"

// Panic is a panic that happened on another goroutine.
type Panic struct {
	Value any
	Stack []byte // of that goroutine
}

// Error returns the value and the stack.
func (p *Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }
