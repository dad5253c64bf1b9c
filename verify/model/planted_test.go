package model_test

import (
	"testing"
	"time"

	"github.com/64ed045f/weir/verify/internal/plant"
)

func TestEveryPlantedBugIsFound(t *testing.T) {
	for name, proof := range map[string]plant.Proof{
		"pools and groups": {
			Bugs:  plant.Faces(),
			Limit: 2 * time.Minute,
			Args:  []string{"-test.run=^Test(Pool|FuncPool|Groups|GroupWithOwnWorkers)Do(es)?What"},
			More:  plant.Rapid("40", "400", "4000", "20000"), // few first: most bugs are for one machine alone
		},
		"lanes": {
			Bugs:  plant.Lanes(),
			Limit: 2 * time.Minute,
			Args:  []string{"-test.run=^Test(Pool|Lanes|Keyed|Once)Do(es)?What"},
			More:  plant.Rapid("100", "400", "4000", "20000"),
		},
		"rates": {
			Bugs:  plant.Rates(),
			Limit: time.Minute,
			Args:  []string{"-test.run=^TestRatesDoWhat", "-test.timeout=8s"},
			More:  plant.Rapid("1000", "8000", "8000", "8000", "8000"), // more programs at once would take longer than a hang
		},
		"later": {
			Bugs:  plant.Later(),
			Limit: time.Minute,
			Args:  []string{"-test.run=^Test(Timers|Retries|Hedge)Do(es)?What"},
			More:  plant.Rapid("100", "1000", "10000"),
		},
	} {
		proof.Folder = "./model"
		t.Run(name, proof.Run)
	}
}
