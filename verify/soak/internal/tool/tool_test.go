package tool_test

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/64ed045f/weir/verify/soak/internal/tool"
)

// fateEnv makes a child, which is this test binary again, end in a bad way.
const fateEnv = "SOAK_TEST_FATE"

func TestMain(m *testing.M) {
	if !slices.Contains(os.Args, "-child") {
		goleak.VerifyTestMain(m) // does not return
	}
	switch os.Getenv(fateEnv) {
	case "dies":
		println("a last word") // on stderr
		os.Exit(3)
	case "goes on":
		time.Sleep(time.Hour)
	}
	os.Exit(tool.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// soak runs the command.
func soak(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = tool.Main(t.Context(), args, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

func TestASoakPrintsATableOfLoadsForEachSetting(t *testing.T) {
	code, out, err := soak(t, "-for", "200ms", "-settings", "plain,procs1,gogc1", "-loads", "fault,order", "-seed", "7")
	if code != 0 {
		t.Fatalf("exit status %d\n%s%s", code, out, err)
	}
	for _, want := range []string{`plain`, `procs1`, `gogc1`} {
		if !regexp.MustCompile(`(?m)^setting ` + want + `\n +load +rounds.*\n +fault +\d.*\n +order +\d.*\n +all loads +\d.*\n.* KiB of heap`).MatchString(out) {
			t.Errorf("there is no table for the setting %s:\n%s", want, out)
		}
	}
	if !strings.Contains(err, "seed 7") {
		t.Errorf("the seed is not told:\n%s", err)
	}
}

func TestAProcessThatEndsBadlyIsABreach(t *testing.T) {
	for fate, c := range map[string]struct {
		args []string
		want string
	}{
		"dies":    {nil, "BROKEN under plain: exit status 3"},
		"goes on": {[]string{"-overrun", "200ms"}, "a round goes on, though the time was over for 200ms"},
	} {
		t.Run(fate, func(t *testing.T) {
			t.Setenv(fateEnv, fate)
			code, out, err := soak(t, append(c.args, "-for", "100ms", "-settings", "plain")...)
			if code != 1 || !strings.Contains(err, c.want) || !strings.Contains(err, "BROKEN under plain") {
				t.Errorf("exit status %d, want 1 and %q\n%s%s", code, c.want, out, err)
			}
			if fate == "dies" && !strings.Contains(err, "a last word") {
				t.Errorf("what the process wrote is not told:\n%s", err)
			}
		})
	}
}

func TestASoakCanBeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, err bytes.Buffer
	if code := tool.Main(ctx, []string{"-for", "1h", "-settings", "plain"}, strings.NewReader(""), &out, &err); code != 130 {
		t.Errorf("exit status %d, want 130\n%s%s", code, out.String(), err.String())
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-list"}, 0, "programs"},
		{[]string{"--list"}, 0, "procs64"},
		{[]string{"-help"}, 0, ""},
		{[]string{"-for", "0s"}, 2, ""},
		{[]string{"-loads", "nonsense"}, 2, ""},
		{[]string{"-settings", "nonsense"}, 2, ""},
		{[]string{"nonsense"}, 2, ""},
	} {
		code, out, err := soak(t, c.args...)
		if code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("%v: exit status %d, want %d and %q\n%s%s", c.args, code, c.code, c.want, out, err)
		}
	}
}
