package model_test

import (
	"testing"
	"time"

	"github.com/64ed045f/weir/verify/internal/plant"
)

func TestEveryPlantedBugIsFound(t *testing.T) {
	plant.Proof{
		Folder: "./model",
		Bugs:   plant.Faces(),
		Limit:  2 * time.Minute,
		Args:   []string{"-test.run=^Test(Pool|FuncPool|Groups|NestedGroups|GroupWithOwnWorkers|Results)Do(es)?What"},
		More:   plant.Rapid("40", "400", "4000", "20000"), // few first: most bugs are for one machine alone
	}.Run(t)
}

func TestEveryPlantedBugOfLanesIsFound(t *testing.T) {
	plant.Proof{
		Folder: "./model",
		Bugs:   plant.Lanes(),
		Limit:  2 * time.Minute,
		Args:   []string{"-test.run=^Test(Pool|Lanes|Keyed|Once)Do(es)?What"},
		More:   plant.Rapid("100", "400", "4000", "20000"),
	}.Run(t)
}

func TestEveryPlantedBugOfRatesIsFound(t *testing.T) {
	plant.Proof{
		Folder: "./model",
		Bugs:   plant.Rates(),
		Limit:  time.Minute,
		Args:   []string{"-test.run=^TestRatesDoWhat", "-test.timeout=8s"},
		More:   plant.Rapid("1000", "8000"),
	}.Run(t)
}

func TestEveryPlantedBugOfWhatHappensLaterIsFound(t *testing.T) {
	plant.Proof{
		Folder: "./model",
		Bugs:   plant.Later(),
		Limit:  time.Minute,
		Args:   []string{"-test.run=^Test(Timers|Retries|Hedge)Do(es)?What"},
		More:   plant.Rapid("100", "1000", "10000"),
	}.Run(t)
}
