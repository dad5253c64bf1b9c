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

func TestADeliveryThatMeetsNoProcessDoesNotCount(t *testing.T) {
	conform.Missed(t, synctest.Test, open, func(t *testing.T, q backend.Queue, keyed bool, put func()) {
		put()
		var err error
		if keyed {
			var p backend.Partition
			if p, err = q.Partition(0); err == nil {
				err = errors.Join(p.Release(t.Context()), p.Pull(t.Context(), 1, 0, func(backend.Delivery, backend.Turn) bool { return false }), p.Close(t.Context()))
			}
		} else {
			var r backend.Receiver
			if r, err = q.Receive(); err == nil {
				err = errors.Join(r.Pull(t.Context(), 1, 0, func(backend.Delivery) bool { return false }), r.Close(t.Context()))
			}
		}
		if err != nil {
			t.Error(err)
		}
	})
}

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
