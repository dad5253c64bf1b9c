package model_test

import (
	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/cause"
)

// alike reports whether got says what want does: it is the same error, or one that a group makes
// around errors that are alike.
func alike(got, want error) bool {
	if outer, ok := got.(*cause.Outer); ok { //nolint:errorlint // to find another error inside is what this is about
		got = outer.Unwrap() // the error of another group's task, which the model does not mark
	}
	if got == want { //nolint:errorlint // as above
		return true
	}
	switch want := any(want).(type) {
	case *weir.TaskError:
		got, ok := any(got).(*weir.TaskError)
		return ok && got.Index == want.Index && alike(got.Err, want.Err)
	case *weir.Panic:
		got, ok := any(got).(*weir.Panic)
		return ok && got.Value == want.Value && len(got.Stack) > 0
	case interface{ Unwrap() []error }:
		got, ok := any(got).(interface{ Unwrap() []error })
		return ok && alikeEach(got.Unwrap(), want.Unwrap())
	default:
		return false
	}
}

func alikeEach(got, want []error) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		if !alike(got[i], want[i]) {
			return false
		}
	}
	return true
}
