package inside

import "context"

// Package weir sets these variables for package par, which uses them for rates, retries and panics. Their
// arguments are a *weir.Retrier and a *weir.RateLimit, which may be nil, a *weir.Pool and a *weir.Panic.
var (
	// Retry calls call as Retrier.Do does, without holding a place between two tries. Each try but the first
	// takes a turn of the rates own and pools, unless they are nil. If all is set, the error joins the errors of all tries.
	Retry func(ctx context.Context, retrier any, call func(ctx context.Context) error, all bool, own, pools any) error

	// TakeTurn waits as RateLimit.Wait does, without holding a place.
	TakeTurn func(ctx context.Context, rate any) error

	// RateOf returns the rate of a pool, or nil.
	RateOf func(pool any) any

	// IsSubtask reports whether tasks that are handed to the pool with ctx are subtasks, which need no turn.
	IsSubtask func(ctx context.Context, pool any) bool

	// Caught returns the *weir.Panic for a value that a deferred function has recovered. That function must call it.
	Caught func(value any) any

	// Report deals with a panic of a task of the pool that no goroutine waits for.
	Report func(pool, panicked any)

	MustBeRetrier func(retrier any)
	MustBeRate    func(rate any)
)
