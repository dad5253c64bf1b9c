package exporter

// Grow is how each count of a name grows.
func Grow(total, highest *uint64, now uint64) { grow(total, highest, now) }
