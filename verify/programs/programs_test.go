package programs_test

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/internal/plant"
	"github.com/64ed045f/weir/verify/internal/rounds"
	"github.com/64ed045f/weir/verify/programs"
)

var (
	drawn      = rounds.Flags("programs", 5*time.Second)
	given      = flag.String("programs.json", "", "run this program")
	knownTimes = flag.Int("programs.known", 200, "how often each of the known programs runs")
	smaller    = flag.Duration("programs.smaller", 10*time.Second, "how long to look for a smaller program that fails")
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil))) // second panics are logged
	goleak.VerifyTestMain(m)
}

//go:embed testdata/known.json
var knownPrograms []byte

// TestKnownProgramsEndAsOnPlainGoroutines runs the programs of testdata/known.json, which were drawn once and have found what
// few of the drawn ones find: each has lost a task, with a mistake in it that was planted, or was not.
func TestKnownProgramsEndAsOnPlainGoroutines(t *testing.T) {
	var known []*programs.Program
	check.Must(t, json.Unmarshal(knownPrograms, &known))
	for i, p := range known {
		t.Run(fmt.Sprint(i), func(t *testing.T) { test(t, p, *knownTimes) })
	}
}

func test(t *testing.T, p *programs.Program, times int) {
	if v := judge().Times(p, times); v.Wrong != nil {
		t.Error(judge().Tell(p, v, *smaller))
	}
}

func judge() programs.Judge { return programs.Judge{Patience: *drawn.Patience} }

func TestProgramsEndAsOnPlainGoroutines(t *testing.T) {
	if *given != "" {
		var p programs.Program
		check.Must(t, json.Unmarshal([]byte(*given), &p))
		test(t, &p, *drawn.Times)
		return
	}
	most := programs.Excess{}
	drawn.Each(t, check.Size(time.Second/2, time.Second, 2*time.Second), func(seed uint64) {
		p := programs.Draw(seed)
		v := judge().Times(p, 1)
		if v.Wrong != nil {
			t.Errorf("try -programs.seed %d -programs.n 1 -programs.times 500\n%s", seed, judge().Tell(p, v, *smaller))
		}
		for i := range most {
			most[i] = max(most[i], v.Over[i])
		}
	})
	t.Logf("at most %v beyond the limits", most)
}

func TestEveryPlantedBugIsFound(t *testing.T) {
	elsewhere := slices.Concat(plant.LockFree(), plant.Read("soak", "peers"))
	t.Run("programs", plant.Proof{
		Folder: "./programs",
		Bugs: slices.Concat(plant.Read("places", "programs"), plant.Only(elsewhere,
			"lends-to-the-queue", "lent-twice", "all-wait-unseen", "spent-for-good", "subtask-comes-not-back", "return-unseen", "future-comes-not-back",
			"future-return-unseen", "return-behind-stranger", "parked-as-busy", "probe-asks-no-worker", "woken-as-busy", "lane-takes-full-pool",
			"extra-uncounted", "permit-beyond-allowed", "repeats-never", "value-closed-late")),
		Limit: 45 * time.Second,
		Args:  []string{"-test.run=^Test(Known)?ProgramsEndAsOnPlainGoroutines$", "-programs.smaller=0s", "-programs.patience=3s"},
		More:  [][]string{{"-programs.for=2s"}, {"-programs.for=20s"}, {"-programs.for=40s"}},
	}.Run)
	t.Run("tests", plant.Proof{
		Folder: plant.Library,
		Bugs:   append(plant.Read("tests"), plant.Only(elsewhere, "expires-early", "keys-overtake", "value-with-an-error-is-lost")...),
		Limit:  45 * time.Second,
		Args:   []string{"-test.short", "-test.timeout=20s", "-test.run=^Test(Promise0[89]|ALockHeldOverAny|ALowerLimitOf|AnOfferThat|ABidTakes|CancelEndsTheWait|AWorkerDoesNotRunAnExpired|ATaskBlocksAgain|ATaskThat(IsBack|GoesOn|SeesTheEnd|WaitsForAPlace|FillsALane)|GroupsNestedOver|GoroutinesOfATaskThatFill|SubtasksDoNot|TasksThatAreBack|TasksOfAKeyRunInOrder|ATaskOfALaneThatIsBack|OrderedYields|PoolsShowATaskOfAKey|FirstTakes|ShutdownWhoseContext)"},
	}.Run)
}
