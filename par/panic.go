package par

import (
	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/inside"
)

// caught makes a Panic of what recover returned, as a group does for its tasks. It must be
// called by a deferred function.
func caught(value any) *weir.Panic {
	return &weir.Panic{Value: value, Stack: inside.PanicStack()}
}
