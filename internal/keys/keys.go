// Package keys has a map for keys that come and go.
package keys

import (
	"iter"
	"maps"
)

// Map is a map that gives memory back when most of its keys are gone. A Go map, in contrast, keeps the room
// for the largest number of entries that it ever had. The zero Map is empty. A Map must not be used by
// several goroutines at once.
type Map[K comparable, V any] struct {
	entries map[K]V
	most    int // the most entries at once since entries was made
}

// spare is how many entries a Map always keeps room for.
const spare = 64

// shrinks is the factor by which the number of entries must have fallen before Delete moves the rest to a
// smaller map. It is large so that the copy takes little time.
const shrinks = 16

// Get returns the value of a key, or the zero value if the key is not there.
func (m *Map[K, V]) Get(key K) V { return m.entries[key] }

// Set sets the value of a key.
func (m *Map[K, V]) Set(key K, value V) {
	if m.entries == nil {
		m.entries = make(map[K]V)
	}
	m.entries[key] = value
	m.most = max(m.most, len(m.entries))
}

// Delete removes a key, if it is there.
func (m *Map[K, V]) Delete(key K) {
	delete(m.entries, key)
	left := len(m.entries)
	if m.most <= spare || left > m.most/shrinks {
		return
	}
	entries := make(map[K]V, left)
	maps.Copy(entries, m.entries)
	m.entries, m.most = entries, left
}

// Len returns the number of entries.
func (m *Map[K, V]) Len() int { return len(m.entries) }

// All yields all entries. The loop may remove any of them.
func (m *Map[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for key, value := range m.entries { // of the map as it is now; Delete may make a smaller one
			if _, has := m.entries[key]; has && !yield(key, value) {
				return
			}
		}
	}
}
