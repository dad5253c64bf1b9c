package behaviour_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/lab/internal/behaviour"
	"github.com/64ed045f/weir/lab/internal/noleak"
	"github.com/64ed045f/weir/lab/internal/peer"
)

// childArgument comes first in the arguments when the test binary is to be a
// child.
const childArgument = "be-a-child-of-the-lab"

func TestMain(m *testing.M) {
	if args := os.Args; len(args) == 4 && args[1] == childArgument {
		if program := planted[args[2]].program; program != nil {
			os.Exit(behaviour.Perform(program))
		}
		os.Exit(behaviour.Child(args[2], args[3]))
	}
	check.Overlap()
	noleak.Main(m)
}

// planted are programs whose verdicts are known.
var planted = map[string]struct {
	verdict behaviour.Verdict
	detail  string
	program func(env behaviour.Env) error
}{
	"pass":  {behaviour.Pass, "", func(behaviour.Env) error { return nil }},
	"noted": {behaviour.Pass, "4 of 4", func(env behaviour.Env) error { env.Note("4 of %d", 4); return nil }},
	"full": {behaviour.Fails, "not full", func(env behaviour.Env) error {
		if !env.Full {
			return errors.New("not full")
		}
		return nil
	}},
	"fail":       {behaviour.Fails, "4 tasks at once, limit 1", func(behaviour.Env) error { return errors.New("4 tasks at once,\n limit 1") }},
	"long":       {behaviour.Fails, strings.Repeat("long ", 40) + "…", func(behaviour.Env) error { return errors.New(strings.Repeat("long ", 1000)) }},
	"unfinished": {behaviour.Pass, "", func(behaviour.Env) error { _, err := os.Stdout.WriteString("a line without an end"); return err }},
	"hang": {behaviour.Hangs, "no progress for 2s (at: the wait)", func(env behaviour.Env) error {
		env.Step("the wait")
		time.Sleep(time.Hour)
		return nil
	}},
	"deadlock": {behaviour.Hangs, "fatal error: all goroutines are asleep - deadlock! (at: the wait)", func(env behaviour.Env) error {
		// As the runtime does, when it sees it: with the race detector it does not.
		env.Step("the wait")
		_, err := os.Stderr.WriteString("fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [select (no cases)]:\n")
		if err == nil {
			os.Exit(2)
		}
		return err
	}},
	"slow but alive": {behaviour.Pass, "", func(env behaviour.Env) error {
		for i := range 6 {
			env.Step("%d", i)
			time.Sleep(limit / 4)
		}
		return nil
	}},
	"panic": {behaviour.Crashes, "panic: boom", func(behaviour.Env) error { panic("boom") }},
	"panic elsewhere": {behaviour.Crashes, "panic: boom", func(behaviour.Env) error {
		_, err := os.Stderr.WriteString("a line of a log\n")
		go panic("boom")
		time.Sleep(time.Hour)
		return err
	}},
	"settings": {behaviour.Pass, "", func(behaviour.Env) error {
		if n := runtime.GOMAXPROCS(0); n != procs {
			return fmt.Errorf("GOMAXPROCS is %d", n)
		}
		for _, name := range []string{"GOGC", "GOMEMLIMIT", "GODEBUG"} {
			if value, set := os.LookupEnv(name); set {
				return fmt.Errorf("%s=%s", name, value)
			}
		}
		return nil
	}},
	"silent": {behaviour.Crashes, "ended without a verdict: exit status 0", func(behaviour.Env) error { os.Exit(0); return nil }},
	"late crash": {behaviour.Crashes, "panic: late", func(behaviour.Env) error {
		// The child prints the verdict, and then the process ends badly.
		behaviour.Perform(func(behaviour.Env) error { return nil })
		panic("late")
	}},
}

// procs is the GOMAXPROCS of all programs. No machine would have that value by
// itself.
const procs = 3

// limit is how long the planted programs may go without progress.
const limit = 2 * time.Second // a busy machine may not let them make progress for a while

func TestEachEndOfAProgramGetsItsVerdict(t *testing.T) {
	for name, p := range planted {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, err := behaviour.Run(t.Context(), childArgument, plant(name), "library", false, procs)
			check.OK(t, err)
			if o.Verdict != p.verdict || o.Detail != p.detail {
				t.Errorf("%v, %q; want %v, %q", o.Verdict, o.Detail, p.verdict, p.detail)
			}
			if o.Elapsed <= 0 {
				t.Errorf("elapsed: %v", o.Elapsed)
			}
		})
	}
}

// plant makes a scenario of a planted program.
func plant(name string) behaviour.Scenario {
	return behaviour.Scenario{
		ID: name, Limit: limit,
		Programs: map[string]func(behaviour.Env) error{"library": planted[name].program},
	}
}

func TestAFullRunTellsTheProgramSoAndNoProgramMeansNotOffered(t *testing.T) {
	for library, want := range map[string]behaviour.Verdict{"library": behaviour.Pass, "another": behaviour.NotOffered} {
		o, err := behaviour.Run(t.Context(), childArgument, plant("full"), library, true, procs)
		if err != nil || o.Verdict != want {
			t.Errorf("%s: %v, %q, %v", library, o.Verdict, o.Detail, err)
		}
	}
}

func TestARunThatIsCancelledHasNoVerdict(t *testing.T) {
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(limit/5, func() { cancel(stop) })
	begin := time.Now()
	_, err := behaviour.Run(ctx, childArgument, plant("hang"), "library", false, procs)
	check.Error(t, err, stop)
	if took := time.Since(begin); took > 10*limit {
		t.Errorf("it took %v to end", took)
	}
}

func TestSettingsFromOutsideDoNotReachAProgram(t *testing.T) {
	t.Setenv("GOMAXPROCS", "1")
	t.Setenv("GOGC", "50")
	t.Setenv("GOMEMLIMIT", "1GiB")
	t.Setenv("GODEBUG", "gctrace=0")
	o, err := behaviour.Run(t.Context(), childArgument, plant("settings"), "library", false, procs)
	if err != nil || o.Verdict != behaviour.Pass {
		t.Errorf("%v, %q, %v", o.Verdict, o.Detail, err)
	}
}

func TestAChildThatIsAskedForWhatIsNotThereSaysSo(t *testing.T) {
	for _, args := range [][2]string{{"01", "nobody"}, {"99", peer.Weir}, {"22", peer.Weir}} {
		check.Equal(t, fmt.Sprint("status of ", args), behaviour.Child(args[0], args[1]), 2)
	}
}

func TestTablesAreComplete(t *testing.T) {
	check.Equal(t, "scenarios", len(behaviour.Scenarios()), 24)
	check.Equal(t, "features", len(behaviour.Features()), 5)
	known := make(map[string]bool)
	for _, s := range everything() {
		if known[s.ID] {
			t.Errorf("%s is there twice", s.ID)
		}
		known[s.ID] = true
		if s.Title == "" || s.Want == "" || s.Limit <= 0 || len(s.Programs) == 0 {
			t.Errorf("%s is not complete", s.ID)
		}
	}
}

func everything() []behaviour.Scenario { return append(behaviour.Scenarios(), behaviour.Features()...) }

func TestEveryProgramGetsAVerdictAndWeirPasses(t *testing.T) {
	for _, s := range everything() {
		for library := range s.Programs {
			s, weir := s, library == peer.Weir
			switch {
			case s.ID == "01" && !weir:
				continue // other libraries take long for it, and a run that is not full shows little
			case s.ID == "24" && os.Getenv(check.ProofsEnv) == "":
				continue // it keeps all processors busy for more than a second
			case !weir:
				s.Limit = min(s.Limit, 2*time.Second) // whether it is slow or hangs is not what is tested here
			}
			t.Run(s.ID+"/"+library, func(t *testing.T) {
				t.Parallel()
				o, err := behaviour.Run(t.Context(), childArgument, s, library, false, procs)
				check.OK(t, err)
				t.Logf("%v after %v: %s", o.Verdict, o.Elapsed, o.Detail)
				switch {
				case o.Verdict == behaviour.NotOffered:
					t.Error("it is not offered, though there is a program")
				case o.Verdict != behaviour.Pass && o.Detail == "" || strings.HasPrefix(o.Detail, "ended without a verdict"):
					t.Errorf("%v without a reason: %s", o.Verdict, o.Detail)
				case s.ID == "reuse" && check.Race: // a task has a goroutine of its own then
				case weir && o.Verdict != behaviour.Pass:
					t.Errorf("%v: %s", o.Verdict, o.Detail)
				}
			})
		}
	}
}
