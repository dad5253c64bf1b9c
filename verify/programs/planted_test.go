package programs_test

import (
	"testing"
	"time"

	"github.com/64ed045f/weir/verify/internal/plant"
)

func TestEveryPlantedBugIsFound(t *testing.T) {
	plant.Proof{
		Folder: "./programs",
		Bugs:   plant.Places(),
		Limit:  2 * time.Minute,
		Args:   []string{"-test.run=^Test(Known)?ProgramsEndAsOnPlainGoroutines$", "-programs.smaller=0s", "-programs.patience=3s"},
		Also:   []plant.Place{{Folder: plant.Library, Args: []string{"-test.run=^Test(Promise0[89]|AnOfferThat|ATaskBlocksAgain|ATaskIsInBlocking|ATaskThat(IsBack|GoesOn|SeesTheEnd)|SubtasksDoNot|OrderedYields|FirstTakes)"}}}, // where a program is rarely drawn, or may do either
		More:   [][]string{{"-programs.for=2s"}, {"-programs.for=20s"}},
	}.Run(t)
}
