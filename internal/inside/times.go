package inside

import (
	"time"

	"github.com/64ed045f/weir/internal/histogram"
)

// NewTimes returns a weir.Times of what was counted. Package weir sets it, as no other package can make one.
var NewTimes func(wait, run *histogram.Counter, oldest time.Duration) any
