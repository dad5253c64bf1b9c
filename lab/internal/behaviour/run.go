package behaviour

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/64ed045f/weir/lab/internal/child"
	"github.com/64ed045f/weir/lab/internal/peer"
)

// A Verdict says how a program ended.
type Verdict string

// The verdicts on a program.
const (
	NotOffered Verdict = "not offered" // the library has no such feature
	Pass       Verdict = "pass"        // the program saw what a user expects
	Fails      Verdict = "fails"       // the program saw something else
	Hangs      Verdict = "hangs"       // the program made no more progress, and Run ended it
	Crashes    Verdict = "crashes"     // the program ended without a verdict, as after a panic
)

// An Outcome is the verdict on one program.
type Outcome struct {
	Verdict Verdict
	Detail  string // what the program saw, in one line; may be empty for a pass
	Elapsed time.Duration
}

// Run runs the library's program for the scenario in a process of its own. It kills the process once the
// program has made no progress for the scenario's limit. The process is this program with flag as its first argument: it must
// call [Child] with the others, and exit with the result of Child. full lets the program take its time; procs is its GOMAXPROCS.
//
// An error means that there is no verdict: ctx ended, or the process could not be started.
func Run(ctx context.Context, flag string, scenario Scenario, library string, full bool, procs int) (Outcome, error) {
	if scenario.Programs[library] == nil {
		return Outcome{Verdict: NotOffered}, nil
	}
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stuck := time.AfterFunc(scenario.Limit, func() { cancel(errStuck) })
	defer stuck.Stop()

	var stderr bytes.Buffer
	cmd := child.Itself(limited, flag, scenario.ID, library)
	cmd.Stderr = &stderr
	child.Prepare(cmd, procs,
		"GOTRACEBACK=single",
		"GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE")) // with the race detector, a program would sleep a second before it ends
	if full {
		cmd.Env = append(cmd.Env, fullEnv+"=1")
	}

	begin := time.Now()
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return Outcome{}, fmt.Errorf("scenario %s, %s: %w", scenario.ID, library, err)
	}
	told := listen(stdout, func() { stuck.Reset(scenario.Limit) })
	_ = cmd.Wait() // judge looks at the state of the process
	if ctx.Err() != nil {
		return Outcome{}, context.Cause(ctx)
	}
	o := judge(told, cmd.ProcessState, stderr.String(), errors.Is(context.Cause(limited), errStuck), scenario.Limit)
	o.Elapsed = time.Since(begin)
	return o, nil
}

var errStuck = errors.New("no progress")

// judge returns the verdict. A program passes only if it says so itself, and if its process then ends as it should.
func judge(told map[string]string, end *os.ProcessState, stderr string, stuck bool, limit time.Duration) Outcome {
	at := ""
	if step := told[tellStep]; step != "" {
		at = " (at: " + step + ")"
	}
	_, passed := told[tellPass]
	failure, failed := told[tellFail]
	cause := oneLine(child.Complaint(stderr))
	switch {
	case passed && end.Success():
		return Outcome{Verdict: Pass, Detail: told[tellNote]}
	case failed && end.ExitCode() == exitFailed:
		return Outcome{Verdict: Fails, Detail: failure}
	case stuck:
		return Outcome{Verdict: Hangs, Detail: fmt.Sprintf("no progress for %v", limit) + at}
	case strings.Contains(cause, "all goroutines are asleep"):
		return Outcome{Verdict: Hangs, Detail: cause + at}
	}
	return Outcome{Verdict: Crashes, Detail: cmp.Or(cause, "ended without a verdict: "+end.String()) + at}
}

func oneLine(text string) string {
	const most = 200
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return text
}

// A child process reports on lines of its standard output. Each has a mark, the kind, a space, and the text.
const (
	mark = "weir-lab:"

	tellStep = "step"
	tellNote = "note"
	tellPass = "pass"
	tellFail = "fail"
)

const (
	fullEnv = "WEIR_LAB_FULL"

	exitFailed  = 1
	exitUnknown = 2
)

// listen reads the output of a child process to its end. It returns the last text of each kind, and calls
// progress for each text.
func listen(stdout io.Reader, progress func()) map[string]string {
	last := map[string]string{}
	for from := bufio.NewReader(stdout); ; {
		line, err := from.ReadString('\n')
		if err != nil {
			return last
		}
		if told, ours := strings.CutPrefix(strings.TrimSuffix(line, "\n"), mark); ours {
			kind, text, _ := strings.Cut(told, " ")
			last[kind] = text
			progress()
		}
	}
}

// Child runs the library's program for the scenario or feature in this process, and reports the outcome on
// the standard output. It returns the exit status of the process, which should end at once.
func Child(scenarioID, library string) int {
	for _, s := range all() {
		if program := s.Programs[library]; s.ID == scenarioID && program != nil {
			peer.Alone(library) // with the timers of ants, the runtime could not detect a deadlock
			return Perform(program)
		}
	}
	fmt.Fprintf(os.Stderr, "no program of %q for %q\n", library, scenarioID)
	return exitUnknown
}

// Perform runs a program, tells how it has ended, and returns the exit code for that.
func Perform(program func(Env) error) int {
	err := program(Env{Full: os.Getenv(fullEnv) != "", tell: tell})
	if err != nil {
		tell(tellFail, err.Error())
		return exitFailed
	}
	tell(tellPass, "")
	return 0
}

// tell writes an empty line first, in case the program has left a line unfinished.
func tell(kind, text string) {
	fmt.Printf("\n%s%s %s\n", mark, kind, oneLine(text))
}
