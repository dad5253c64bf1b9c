package machine_test

import (
	"testing"

	"github.com/64ed045f/weir/lab/internal/noleak"
)

func TestMain(m *testing.M) { noleak.Main(m) }
