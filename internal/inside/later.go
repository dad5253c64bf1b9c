package inside

import "context"

// What package par needs of the rates and retries of package weir, which sets these. Each is called with a *weir.Retrier or a *weir.RateLimit, also nil.
var (
	// Retry calls call as Do of the Retrier does, without a place between two tries. Each try but the first takes a turn of rate, if that is not nil. With all the error has those
	// of all tries.
	Retry func(ctx context.Context, retrier any, call func(ctx context.Context) error, all bool, rate any) error

	// TakeTurn waits as Wait of the RateLimit does, without a place.
	TakeTurn func(ctx context.Context, rate any) error

	MustBeRetrier func(retrier any)
	MustBeRate    func(rate any)
)
