package suite

// What the tests look at inside.

// Latency is the measurement of single requests.
func (m *Meter) Latency(goroutines int, serve func()) { m.latency(goroutines, serve) }

// Sizes are those of a load.
func Sizes(name string) []int {
	for _, l := range loads {
		if l.name == name {
			return l.sizes()
		}
	}
	return nil
}
