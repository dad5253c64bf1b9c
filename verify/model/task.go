package model

// State is how far a task is.
type State int

// The states of a task.
const (
	New       State = iota // its submitter waits for room, or for the limit of its group
	Queued                 // accepted
	Running                // started
	Away                   // started, and has given its place up
	Returning              // as Away, and wants to go on
	Finished
	HandedBack // accepted, and never started
	Rejected   // not accepted, and never started
)

var stateNames = [...]string{"new", "queued", "running", "away", "returning", "finished", "handed back", "rejected"}

func (s State) String() string { return stateNames[s] }

// Task is one task of a pool.
type Task struct {
	ID    int
	State State
	// Visit is the call of Do whose task this is; nil for others.
	Visit *Call
	// Batch is that of the task's group; nil for others.
	Batch *Batch
	// Pool is what has accepted the task.
	Pool *Pool
	// Context is what the context is made from that the task gets, if it is one of Go or Once; Cause is why that is done, and Dropped why the
	// task never started.
	Context        *Context
	Cause, Dropped error
	// Index is the task's number in its batch.
	Index int

	number int // among those that the pool has accepted, from 1
}

// Started reports whether a worker has taken the task.
func (t *Task) Started() bool {
	switch t.State {
	case Running, Away, Returning, Finished:
		return true
	default:
		return false
	}
}

// Live reports whether the task has started, and has not finished.
func (t *Task) Live() bool { return t.Started() && t.State != Finished }

// void reports whether a worker that takes the task has to pass it over.
func (t *Task) void() bool { return t.Batch != nil && t.Batch.Cancelled || t.Context.cause() != nil }

// endContext ends the context of t.
func (t *Task) endContext(cause error) {
	if t.Cause == nil {
		t.Cause = cause
	}
}
