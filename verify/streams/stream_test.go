package streams_test

import (
	"testing"

	"pgregory.net/rapid"
)

func TestStreamsAreWhatLoopsAre(t *testing.T) { rapid.Check(t, checkStream) }

func FuzzStream(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkStream)) }

func checkStream(t *rapid.T) {
	p := drawPlan(t)
	var r *run
	rapid.SyncTest(t, func(*rapid.T) { r = play(p) })
	if err := r.judge(); err != nil {
		t.Fatalf("%v\n%v", err, r)
	}
}
