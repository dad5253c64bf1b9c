package inside

import "context"

// Package weir sets these variables for package par, which uses them for rates and retries. Each function
// takes a *weir.Retrier or a *weir.RateLimit, which may be nil.
var (
	// Retry calls call as Retrier.Do does, without holding a place between two tries. Each try but the first
	// takes a turn of rate, if rate is not nil. If all is set, the error joins the errors of all tries.
	Retry func(ctx context.Context, retrier any, call func(ctx context.Context) error, all bool, rate any) error

	// TakeTurn waits as RateLimit.Wait does, without holding a place.
	TakeTurn func(ctx context.Context, rate any) error

	MustBeRetrier func(retrier any)
	MustBeRate    func(rate any)
)
