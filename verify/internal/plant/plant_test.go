package plant_test

import (
	"testing"

	"github.com/64ed045f/weir/verify/internal/plant"
)

func TestEveryBugFitsTheText(t *testing.T) {
	sources, err := plant.Sources(plant.Bugs())
	if err != nil {
		t.Fatal(err)
	}
	if len(sources) < 2 {
		t.Error("no file is changed")
	}
}
