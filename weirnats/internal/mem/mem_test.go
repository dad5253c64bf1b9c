package mem_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir/weirnats/internal/backend"
	"github.com/64ed045f/weir/weirnats/internal/conform"
	"github.com/64ed045f/weir/weirnats/internal/mem"
)

func open(_ *testing.T, s backend.Settings) backend.Queue { return mem.New(s) }

func TestMemoryConforms(t *testing.T) { conform.Run(t, synctest.Test, open) }

func TestLaterInMemoryConforms(t *testing.T) {
	conform.Later(t, synctest.Test, open, func(t *testing.T, q backend.Queue) {
		ends := errors.New("ends on purpose")
		q.(*mem.Queue).Fault(func(call string) error {
			if call == "moved" {
				return ends
			}
			return nil
		})
		if err := q.Move(t.Context(), func(context.Context, *backend.Message) (bool, error) { return false, nil }); !errors.Is(err, ends) {
			t.Errorf("error is %v", err)
		}
		q.(*mem.Queue).Fault(nil)
	})
}
