package weirprom

// Grow is how each count of a name grows.
func Grow(total, last *uint64, now uint64) { grow(total, last, now) }
