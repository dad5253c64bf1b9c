package par

import (
	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/inside"
	"github.com/64ed045f/weir/internal/race"
)

// caught returns the Panic for a recovered value, as a group does for its tasks. Only a deferred function may
// call it.
func caught(value any) *weir.Panic {
	if passed, ok := value.(*race.Panic); ok {
		return &weir.Panic{Value: passed.Value, Stack: inside.PanicPart(passed.Stack)}
	}
	return &weir.Panic{Value: value, Stack: inside.PanicStack()}
}
