package weirhttp

// Rated is for how many hosts the transport remembers turns.
func (t *Transport) Rated() int {
	t.rates.mu.Lock()
	defer t.rates.mu.Unlock()
	return len(t.rates.hosts)
}

// Hosts is how many hosts the transport remembers.
func (t *Transport) Hosts() int {
	t.slots.mu.Lock()
	defer t.slots.mu.Unlock()
	return len(t.slots.hosts)
}
