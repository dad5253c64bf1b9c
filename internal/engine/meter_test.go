package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/engine"
)

// Where many tasks sleep the share of the workers' time is small that measuring takes, and that of the processors' is not.
func TestMeasuringTakesNoMoreThanItsShareOfTheProcessors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := engine.NewMeter()
		block := 1
		pass := func(n int, pause time.Duration) {
			for range n {
				time.Sleep(time.Duration(block) * pause)
				block = m.Ends(time.Second)
			}
		}
		for range 3 {
			if pass(100, time.Second); block != 1 {
				t.Errorf("of tasks that come once a second one of %d is measured, want all", block)
			}
			// Ten million a second, of which all would take a second; a hundredth of two processors is enough for one of 50.
			if pass(100, 100*time.Nanosecond); block != 64 {
				t.Errorf("of those that come in 100 ns one of %d is measured, want one of 64", block)
			}
			if pass(2, time.Second); block != 1 {
				t.Errorf("of two that come once a second one of %d is measured, want all", block)
			}
		}
	})
}
