package weir

// Stats are the counts of a pool. When nothing is under way they are exact, and
// Accepted = Finished + Queued + HandedBack. While tasks are submitted and
// run they may be off by those under way. After Wait of a cancelled group, those of its tasks
// that workers are about to discard count as Running for a moment.
type Stats struct {
	Limit     int // the most tasks that run at once, see Extra
	Workers   int // goroutines the pool has now
	Running   int // tasks that have started and not finished, and are not suspended
	Suspended int // tasks that have started, and wait for other work, or in or after [Blocking]
	Returning int // those of them that wait to go on after Blocking
	Extra     int // places beyond the limit: of tasks that went on while their place was in use, or since the limit was lowered
	Idle      int // workers that are parked
	InLanes   int // workers that work for lanes, which count them as well
	Queued    int // accepted tasks that no worker has started
	Waiting   int // submitters that wait for room
	Timers    int // tasks of [Pool.After], At and Every that are not due, or wait behind the first of them that waits for room

	Throttled bool // the next task waits for its turn: see [Rate]
	Paused    bool // workers take no tasks: see [Pool.Pause]
	Closed    bool // no task is accepted any more

	Accepted uint64 // tasks accepted since the pool was made
	Finished uint64 // tasks that returned, panicked or called runtime.Goexit
	// HandedBack counts accepted tasks that never start: Shutdown removed them, their group was cancelled, their
	// context ended, they expired, their Timer was stopped or reset, or a Stateful could not open a value for them.
	HandedBack uint64
	Rejected   uint64 // tasks that were refused
	// Panicked counts tasks that panicked, except calls of Do and Hedge, whose panics come out of those.
	Panicked uint64
}
