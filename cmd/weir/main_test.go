package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/64ed045f/weir/internal/check"
)

// runVariable makes the test binary be the tool itself, so that tests can run it as a process without building it.
const runVariable = "WEIR_TEST_RUN"

func TestMain(m *testing.M) {
	if os.Getenv(runVariable) != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

// tool returns the tool as a command that has not been started.
func tool(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	check.Must(t, err)
	cmd := exec.CommandContext(t.Context(), self, args...)
	// Under the race detector a process would wait for a second before it ends.
	cmd.Env = append(os.Environ(), runVariable+"=1", "GORACE=atexit_sleep_ms=0")
	return cmd
}

// run runs the tool to its end.
func run(t *testing.T, stdin string, args ...string) (out, errs string, status int) {
	t.Helper()
	cmd := tool(t, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

func TestEachCommandLinePrintsAndExitsAsItShould(t *testing.T) {
	t.Chdir(t.TempDir())
	const (
		md5x  = "9dd4e461268c8034f5c8564e155c67a6"
		sha1x = "11f6ad8ec52a2984abaafd7c3b516503785c2072"
		try   = "\nTry 'weir sum --help' for more information.\n"
	)
	for name, content := range map[string]string{"-a": "x", "list": md5x + "  ./-a\n", "wrong": sha1x + "  ./-a\n"} {
		check.Must(t, os.WriteFile(name, []byte(content), 0o666))
	}
	for _, c := range []struct {
		args   []string
		stdin  string
		out    string
		errs   string
		status int
	}{
		{args: []string{"sum", "./-a"}, out: md5x + "  ./-a\n"},
		{args: []string{"sum", "--", "-a"}, out: md5x + "  -a\n"},
		{args: []string{"sum", "-a", "sha1", "-j1", "./-a", "-"}, stdin: "x", out: sha1x + "  -\n" + sha1x + "  ./-a\n"},
		{args: []string{"sum", "--json", "-"}, stdin: "x", out: `{"path":"-","algorithm":"md5","digest":"` + md5x + `","size":1}` + "\n"},
		{args: []string{"sum", "none", "./-a"}, out: md5x + "  ./-a\n", errs: "weir: none: No such file or directory\n", status: 1},
		{args: []string{"sum", "--fail-fast", "none"}, errs: "weir: none: No such file or directory\n", status: 1},
		{args: []string{"sum", "--fail-fast", "./-a", "none", "zero"}, out: md5x + "  ./-a\n", errs: "weir: none: No such file or directory\n", status: 1},
		{args: []string{"sum", "--fail-fast", "--json", "-c", "-"}, stdin: sha1x[:32] + "  ./-a\n" + md5x + "  ./-a\n",
			out:  `{"path":"./-a","algorithm":"md5","digest":"` + md5x + `","size":1,"result":"FAILED"}` + "\n",
			errs: "weir: WARNING: 1 computed checksum did NOT match\n", status: 1},
		{args: []string{"sum", "--check", "list"}, out: "./-a: OK\n"},
		{args: []string{"sum", "-c", "-", "--quiet"}, stdin: md5x + "  ./-a\n"},
		{args: []string{"sum", "-c", "-", "--quiet", "--status", "--warn"}, stdin: md5x + "  ./-a\nbad\n", out: "./-a: OK\n",
			errs: "weir: 'standard input': 2: improperly formatted MD5 checksum line\nweir: WARNING: 1 line is improperly formatted\n"},
		{args: []string{"sum", "-c", "-", "--warn", "--status", "--quiet"}, stdin: md5x + "  ./-a\nbad\n",
			errs: "weir: WARNING: 1 line is improperly formatted\n"},
		{args: []string{"sum", "-c", "-", "--warn", "--quiet", "--status"}, stdin: md5x + "  ./-a\nbad\n"},
		{args: []string{"sum", "-c", "-", "--status", "--status=false"}, stdin: md5x + "  ./-a\n", out: "./-a: OK\n"},
		{args: []string{"sum", "-c", "-", "--quiet=perhaps"}, status: 2,
			errs: `weir: invalid argument "perhaps" for "--quiet" flag: must be true or false` + try},
		{args: []string{"sum", "-a", "sha1", "-c", "list", "--warn"}, status: 1,
			errs: "weir: list: 1: improperly formatted SHA1 checksum line\nweir: list: no properly formatted checksum lines found\n"},
		{args: []string{"sum", "-c", "wrong", "-a", "sha1"}, out: "./-a: OK\n"},
		{args: []string{"sum", "-a", "crc"}, status: 2, errs: `weir: invalid argument "crc" for "-a, --algorithm" flag: must be one of md5, sha1, sha256, sha512` + try},
		{args: []string{"sum", "-j", "0"}, status: 2, errs: `weir: invalid argument "0" for "-j, --jobs" flag: must be a whole number, at least 1` + try},
		{args: []string{"sum", "-j", "x"}, status: 2, errs: `weir: invalid argument "x" for "-j, --jobs" flag: must be a whole number, at least 1` + try},
		{args: []string{"sum", "-j", "99999999999999999999", "./-a"}, out: md5x + "  ./-a\n"},
		{args: []string{"sum", "--quiet"}, status: 2, errs: "weir: --quiet is meaningful only with --check" + try},
		{args: []string{"sum", "--check", "list", "x"}, status: 2, errs: `weir: --check takes its files from the list, got "x"` + try},
		{args: []string{"sum", "-c", "--quiet", "list"}, status: 2, errs: `weir: --check needs the name of a list right after it, got "--quiet"` + try},
		{args: []string{"sum", "--check", ""}, status: 2, errs: "weir: --check needs the name of a list" + try},
		{args: []string{"sum", "-c", "list", "--check", "wrong"}, status: 2, errs: "weir: --check may be given once" + try},
		{args: []string{"sum", "--none"}, status: 2, errs: "weir: unknown flag: --none" + try},
		{args: []string{"summ"}, status: 2, errs: "weir: there is no command \"summ\"; did you mean \"sum\"?\nTry 'weir --help' for more information.\n"},
		{args: []string{"sop"}, status: 2, errs: "weir: there is no command \"sop\"; did you mean \"top\"?\nTry 'weir --help' for more information.\n"},
		{args: []string{"help", "summ"}, status: 2, errs: "weir: there is no command \"summ\"; did you mean \"sum\"?\nTry 'weir --help' for more information.\n"},
		{args: []string{"help", "sum", "x"}, status: 2, errs: "weir: there is no command \"x\"\nTry 'weir sum --help' for more information.\n"},
		{args: []string{"completion", "bsh"}, status: 2, errs: "weir: there is no command \"bsh\"; did you mean \"bash\"?\nTry 'weir completion --help' for more information.\n"},
		{args: []string{"digest"}, status: 2, errs: "weir: there is no command \"digest\"\nTry 'weir --help' for more information.\n"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			out, errs, status := run(t, c.stdin, c.args...)
			if out != c.out || errs != c.errs || status != c.status {
				t.Errorf("got %q, %q, status %d\nwant %q, %q, status %d", out, errs, status, c.out, c.errs, c.status)
			}
		})
	}
}

// The shell's >&- is no such case: it is a file that can be written, /dev/null, which Go's runtime opens in place of a closed
// standard stream before anything of ours runs (runtime.checkfds).
func TestAWriteErrorIsAFailureWithAMessage(t *testing.T) {
	t.Chdir(t.TempDir())
	const line = "9dd4e461268c8034f5c8564e155c67a6  f\n"
	for name, content := range map[string]string{"f": "x", "list": line} {
		check.Must(t, os.WriteFile(name, []byte(content), 0o666))
	}
	readOnly, err := os.Open("f")
	check.Must(t, err)
	defer readOnly.Close()
	for _, args := range [][]string{
		{"sum", "f"},
		{"sum", "--json", "--fail-fast", "f", "none"},
		{"sum", "--check", "list"},
	} {
		cmd := tool(t, args...)
		var errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = readOnly, &errs
		if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(err)
		}
		if got, want := errs.String(), "weir: write error: Bad file descriptor\n"; got != want || cmd.ProcessState.ExitCode() != statusFailed {
			t.Errorf("weir %q: %q on standard error, status %d, want %q, status %d", args, got, cmd.ProcessState.ExitCode(), want, statusFailed)
		}
	}
}

func TestHelpAndVersionArePrinted(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"Usage:", "Examples:", "sum ", "top "}},
		{[]string{"--help"}, []string{"Usage:", "Examples:", "sum "}},
		{[]string{"sum", "--help"}, []string{"[PATH...]", "Examples:", "--fail-fast", "--check FILE", "Exit status:", "path_base64", "print nothing on stdout, the exit status tells"}},
		{[]string{"--version"}, []string{"weir ", "go1."}},
	} {
		out, errs, status := run(t, "", c.args...)
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("weir %q: %q is missing in\n%s", c.args, want, out)
			}
		}
		if errs != "" || status != 0 {
			t.Errorf("weir %q: %q on standard error, status %d", c.args, errs, status)
		}
	}
}
