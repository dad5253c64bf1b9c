package mem_test

import (
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir/weirnats/internal/backend"
	"github.com/64ed045f/weir/weirnats/internal/conform"
	"github.com/64ed045f/weir/weirnats/internal/mem"
)

func TestMemoryConforms(t *testing.T) {
	conform.Run(t, synctest.Test, func(_ *testing.T, s backend.Settings) backend.Queue { return mem.New(s) })
}
