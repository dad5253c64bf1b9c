package check

import "context"

// BrokenContext is a context of the program's own, of which one call of Done or Err panics or exits. Its calls
// must not run at the same time.
type BrokenContext struct {
	context.Context
	Left int // calls until then
	Ends func()
}

// Done returns the channel of the context inside.
func (c *BrokenContext) Done() <-chan struct{} {
	c.called()
	return c.Context.Done()
}

// Err returns the error of the context inside.
func (c *BrokenContext) Err() error {
	c.called()
	return c.Context.Err()
}

func (c *BrokenContext) called() {
	if c.Left--; c.Left == 0 {
		c.Ends()
	}
}
