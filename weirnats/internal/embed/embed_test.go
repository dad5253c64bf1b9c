package embed_test

import (
	"log/slog"
	"testing"

	"github.com/64ed045f/weir/weirnats/internal/embed"
)

// A program that starts while its disk is nearly full uses the room that comes later.
func TestTheServerHasNoBoundButTheDisk(t *testing.T) {
	s, err := embed.Acquire(t.TempDir(), embed.Settings{}, slog.New(slog.DiscardHandler))
	check(t, err)
	if most := s.MostStored(); most < 1<<50 {
		t.Errorf("the server takes %d bytes at most", most)
	}
	check(t, s.Release())
}
