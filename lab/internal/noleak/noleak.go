// Package noleak checks tests for goroutines that they leave behind. Each TestMain of the lab calls [Main].
package noleak

import (
	"testing"

	"go.uber.org/goleak"
)

// Main runs the tests, and fails if they leave a goroutine behind. It ignores goroutines of ants: ants starts
// two when it is imported, and two more of each pool outlive its release.
func Main(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("github.com/panjf2000/ants/v2.(*poolCommon).purgeStaleWorkers"),
		goleak.IgnoreTopFunction("github.com/panjf2000/ants/v2.(*poolCommon).ticktock"),
	)
}
