package engine_test

import (
	"slices"
	"testing"

	"github.com/64ed045f/weir/internal/step"
)

// Each scene is a program whose interleavings the explorer goes through. Here they run with the
// real scheduler, a few times each.
func TestInterleavings(t *testing.T) {
	plain := slices.Concat(submitScenes, workerScenes, waitScenes, controlScenes)
	step.Test(t, slices.Concat(plain, handedOver(plain...), rated(plain), bucketScenes, nestedScenes, returnScenes, ringScenes, tallyScenes, directScenes, wakeupScenes, probeScenes, expiryScenes, mixedScenes(), meterScenes(), spreadScenes(), laneScenes, rated(lanesWithRates()), tokenScenes)...)
}
