package weirhttp

// Rated is for how many hosts the transport remembers turns.
func (t *Transport) Rated() int {
	t.rates.mu.Lock()
	defer t.rates.mu.Unlock()
	return t.rates.hosts.Len()
}

// Hosts is how many hosts the transport remembers.
func (t *Transport) Hosts() int {
	t.slots.mu.Lock()
	defer t.slots.mu.Unlock()
	return t.slots.hosts.Len()
}
