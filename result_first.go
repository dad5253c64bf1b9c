package weir

// First blocks until a task succeeds, cancels the group, waits for the tasks that
// still run, and returns the value of the first; errors are then of no
// interest. If none succeeds, First returns the zero value and the error that
// [Group.Wait] would. If a task has panicked, it panics as that does.
//
// The group should have [KeepGoing], or the first that fails ends the race, and
// [PanicsAsErrors], if a panic shall not end it either. A race without any
// task has no outcome: First panics, unless the group was cancelled.
func (r *Results[T]) First() (T, error) {
	r.mustBeMade()
	var winner T
	won := false
	err := r.each(func(value T, err error) bool {
		if err == nil {
			winner, won = value, true
		}
		return !won
	}, false)
	if won {
		return winner, nil
	}
	must(err != nil, "First must have a task to wait for", "none")
	return winner, err
}
