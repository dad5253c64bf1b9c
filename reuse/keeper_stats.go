package reuse

import "time"

// KeeperStats has counts of what a [Keeper] is doing, and has done since it was made. Opened - Closed -
// Detached is Checking + Idle + Leased + Closing.
type KeeperStats struct {
	Capacity int // the most objects at once
	Opening  int // objects being opened
	Checking int // objects being checked, or whose heartbeat runs
	Idle     int
	Leased   int
	Closing  int // objects being closed
	Waiting  int // users in Get

	Gets      int64         // leases given
	Waits     int64         // calls of Get that found no object ready
	WaitTime  time.Duration // total time that these calls have waited
	Cancelled int64         // calls of Get whose context was done first

	Opened    int64
	Failed    int64 // calls of Open that returned no object
	Closed    int64 // objects whose Close has returned, panicked or called runtime.Goexit
	Expired   int64 // objects that were closed because their IdleTimeout or Lifetime was over
	Unhealthy int64 // objects that were closed because Check or Heartbeat failed
	Discarded int64 // objects that were discarded by their users
	Detached  int64 // objects that were taken out by their users
}

// totals holds the counts that the lock guards.
type totals struct {
	gets, waits, cancelled                                          int64
	opened, failed, closed, expired, unhealthy, discarded, detached int64
}

// Stats returns the counts of one moment; only WaitTime may lag behind the others. It holds the lock that Get
// and Put take, for a short time.
func (k *Keeper[T]) Stats() KeeperStats {
	k.mustBeMade()
	k.mu.Lock()
	defer k.mu.Unlock()
	t := &k.totals
	return KeeperStats{
		Capacity:  k.config.Capacity,
		Opening:   k.count[opening],
		Checking:  k.count[checking] + k.count[beating],
		Idle:      k.count[idle],
		Leased:    k.count[leased],
		Closing:   k.count[closing],
		Waiting:   k.queue.length,
		Gets:      t.gets,
		Waits:     t.waits,
		WaitTime:  time.Duration(k.waited.Load()),
		Cancelled: t.cancelled,
		Opened:    t.opened,
		Failed:    t.failed,
		Closed:    t.closed,
		Expired:   t.expired,
		Unhealthy: t.unhealthy,
		Discarded: t.discarded,
		Detached:  t.detached,
	}
}
