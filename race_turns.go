//go:build race

package weir

import (
	"github.com/64ed045f/weir/internal/inside"
	"github.com/64ed045f/weir/internal/race"
)

// Turns is for package par, whose calls on a pool take turns as tasks of the pool do.
func (p *Pool) Turns(inside.Mark) *race.Turns { return &p.core.turns }
