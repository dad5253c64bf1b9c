package histogram_test

import (
	"testing"

	"github.com/64ed045f/weir/internal/check"
)

func TestMain(m *testing.M) {
	check.Main(m, nil, func() int {
		return check.Goroutines("github.com/64ed045f/weir/internal/step") // which the explorer uses again and again
	})
}
