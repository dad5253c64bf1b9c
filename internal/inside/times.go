package inside

import (
	"time"

	"github.com/64ed045f/weir/internal/histogram"
)

// NewTimes returns a weir.Times of the given counters. Package weir sets it, since no other package can make
// a Times.
var NewTimes func(wait, run *histogram.Counter, oldest time.Duration) any
