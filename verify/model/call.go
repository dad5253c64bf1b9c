package model

// Call is a call that may block: one of Submit, Do, Wait, Close, Shutdown, Go and their like.
type Call struct {
	Done bool
	Err  error
	// Or is what the call may return as well, if weir leaves that open.
	Or error
	// Task is what is submitted, if anything is.
	Task *Task
	// Unrun is what Shutdown hands back.
	Unrun []*Task
	// Running is how many tasks run when it does.
	Running int
	// Panic is what the call panics with, if it does.
	Panic any
	// Exit says that runtime.Goexit ends the goroutine of the call.
	Exit bool

	context *Context
	awaited map[*Task]bool // that Wait waits for
	try     bool           // the call must not wait
}

func (c *Call) end(err error) {
	if !c.Done {
		c.Done, c.Err = true, err
	}
}

// Context is a context as far as the model needs it. nil is one that never ends.
type Context struct {
	Cause error // why it is done; nil if it is not
}

func (c *Context) cause() error {
	if c == nil {
		return nil
	}
	return c.Cause
}
