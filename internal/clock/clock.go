// Package clock knows what it takes to read the clock.
package clock

import (
	"sync"
	"time"
)

// Cost returns how long it takes to read the clock.
var Cost = sync.OnceValue(func() time.Duration {
	const tries = 16
	least := time.Hour
	for range tries {
		least = min(least, time.Since(time.Now()))
	}
	return least
})
