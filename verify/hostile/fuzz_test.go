package hostile_test

import (
	"slices"
	"testing"
)

// FuzzRawRequests attacks a site with any bytes, sent in any way; attacker.step says how it reads those of
// flow.
func FuzzRawRequests(f *testing.F) {
	for i, w := range slices.Concat(wellFormed, malformed) {
		f.Add(byte(i), []byte{}, []byte(w.text)) // besides those of testdata, whose flows are not as simple
	}
	f.Fuzz(func(t *testing.T, set byte, flow, wire []byte) {
		// More would only be slower.
		flow, wire = flow[:min(len(flow), 40)], wire[:min(len(wire), 32<<10)]
		attack(t, settings[int(set)%len(settings)], flow, wire)
	})
}
