// Package noleak is what TestMain of each package of the lab calls.
package noleak

import (
	"testing"

	"go.uber.org/goleak"
)

// Main runs the tests, which fail if they leave a goroutine behind. Those of ants do not count: two begin
// when it is imported, and two more of each pool outlive its release.
func Main(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("github.com/panjf2000/ants/v2.(*poolCommon).purgeStaleWorkers"),
		goleak.IgnoreTopFunction("github.com/panjf2000/ants/v2.(*poolCommon).ticktock"),
	)
}
