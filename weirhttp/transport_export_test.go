package weirhttp

// Hosts is how many hosts the transport remembers.
func (t *Transport) Hosts() int {
	t.slots.mu.Lock()
	defer t.slots.mu.Unlock()
	return len(t.slots.hosts)
}
