// Package noleak checks tests for goroutines that they leave behind. Each TestMain of the lab calls [Main].
package noleak

import (
	"testing"

	"github.com/64ed045f/weir/internal/check"
)

// Main runs the tests, and fails if they leave a goroutine behind. It ignores goroutines of ants that are no workers: ants starts
// two when it is imported, and two more of each pool outlive its release.
func Main(m *testing.M) {
	check.Main(m, nil, func() int { return check.Goroutines("github.com/panjf2000/ants/v2.(*poolCommon)") })
}
