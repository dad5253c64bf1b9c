package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/64ed045f/weir/internal/program"
	"github.com/64ed045f/weir/weirnats"
)

// printable is false if a terminal must not get the text as it is.
func printable(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Errorf("%q has %q", text, r)
		}
	}
}

func TestEachCommandShowsOrChangesAFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fill(t, weirnats.Dir(dir))
	made := metas(t, dir)
	for _, c := range []struct {
		args   string
		out    []string // what is there, in this order
		lacks  string
		errs   string
		status int
	}{
		{args: "list", out: []string{"QUEUE ", "MESSAGES", "AGE\n", "numbers         1         1        0           0        0        1 ", "raw             2         2        0           0        2        0 "}},
		{args: "list --json", out: []string{`"queue":"numbers","messages":1,`, `"queue":"raw","messages":2,"waiting":2,"leased":0,"redelivered":0,"dead":2,"later":0,"accepted":4,"oldest":"20`}},
		{args: "peek numbers", out: []string{"1  json  1 bytes  put 20", "\n    7\n"}, lacks: "more"},
		{args: "peek raw -n 1", out: []string{"3  raw  45 bytes  put 20", `  id good 1 \x1b]0;title\x07\x1b[31mred\u202e\u009b2J\x0d\n\x00e` + "\u0301\u0301" + `\u0301\u0301\xff` + "\n    good 1 \\x1b", "there are more: -n 0 shows all\n"}, lacks: "good 2"},
		{args: "peek raw -n 2", out: []string{"good 1", "4  raw  6 bytes", "good 2"}, lacks: "more"},
		{args: "peek raw --json", out: []string{`{"id":"3","message_id":"good 1 \u001b]0;`, `"data_base64":"Z29vZC`, `{"id":"4","message_id":"good 2","codec":"raw","put":"20`, `"data":"good 2"}` + "\n"}},
		{args: "later numbers", out: []string{"1  json  1 bytes  put 20", "  due 20", "  id eight\n    8\n"}, lacks: "    7\n"},
		{args: "later numbers --json", out: []string{`{"id":"1","message_id":"eight","codec":"json","put":"20`, `"due":"20`, `"data":"8"}`}},
		{args: "later raw"},
		{args: "peek numbers --json", out: []string{`"data":"7"}`}, lacks: "due"},
		{args: "dead raw -n0", out: []string{"1  raw  44 bytes  put 20", "  died 20", " after 1 try  id bad 1", `    try 1, 20`, ": no \ufffd]0;title", "\n2  raw  5 bytes"}},
		{args: "dead raw -n1 --json", out: []string{`"died":"20`, `"tries":1,"errors":[{"try":1,"error":"no`}, lacks: "bad 2"},
		{args: "dead numbers"},
		{args: "watch raw -n 2 --interval 10ms", out: []string{"TIME ", "DONE/S\n", "         2         2        0           0        2        0 ", " -         -\n", "       0.0       0.0\n"}},
		{args: "watch raw -n 1 --json", out: []string{`"accepted":4`}},
		{args: "replay raw 1", status: 2, errs: "weirq: replay asks first, and there is no terminal: use --yes; try 'weirq replay --help'\n"},
		{args: "purge raw", status: 2, errs: "weirq: purge asks first, and there is no terminal: use --yes; try 'weirq purge --help'\n"},
		{args: "purge raw 7 1 8 --yes", out: []string{"purge: 1 dead letter\n"}, status: 1, errs: "weirq: 2 dead letters with these IDs did not exist\n"},
		{args: "replay raw 2 9 --yes", out: []string{"replay: 1 dead letter\n"}, status: 1, errs: "weirq: no dead letter has the ID 9\n"},
		{args: "replay raw --all --yes", out: []string{"queue raw has no dead letters\n"}},
		{args: "purge raw --yes", out: []string{"queue raw has no dead letters\n"}},
		{args: "peek raw -n 0", out: []string{"good 1", "good 2", "bad 2"}},
		{args: "peek none", status: 1, errs: "weirq: no such queue: none\n"},
		{args: "peek A", status: 1, errs: `weirq: name of a queue must be 1 to 64 lower-case letters, digits, - and _, and begin with a letter or digit, got "A"` + "\n"},
	} {
		t.Run(c.args, func(t *testing.T) {
			out, errs, status := weirq(t, append(strings.Fields(c.args), "--dir", dir)...)
			if errs != c.errs || status != c.status {
				t.Errorf("got %q, status %d, want %q, status %d", errs, status, c.errs, c.status)
			}
			printable(t, out)
			rest := out
			for _, want := range c.out {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Errorf("%q is missing in\n%s", want, out)
				}
				rest = after
			}
			if c.out == nil && out != "" || c.lacks != "" && strings.Contains(out, c.lacks) {
				t.Errorf("too much is in\n%s", out)
			}
		})
	}
	is(t, "the settings of the queues", metas(t, dir), made)
}

// metas are the settings of all that the server of a folder keeps.
func metas(t *testing.T, dir string) (all string) {
	noError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "meta.inf" {
			return err
		}
		text, err := os.ReadFile(path)
		all += fmt.Sprintf("%s: %s\n", path, text)
		return err
	}))
	return all
}

func TestWhatHasNoFolderIsNotMade(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{"list"}, {"peek", "a"}, {"list", "--dir", "weir-queues"}, {"purge", "a", "--yes"}} {
		out, errs, status := weirq(t, args...)
		if out != "" || errs != "weirq: no such queue: folder weir-queues has none\n" || status != 1 {
			t.Errorf("weirq %q: %q, %q, status %d", args, out, errs, status)
		}
	}
	left, err := os.ReadDir(".")
	noError(t, err)
	is(t, "files that were made", len(left), 0)
	fill(t)
	out, errs, status := weirq(t, "peek", "numbers")
	if !strings.Contains(out, "    7\n") || errs != "" || status != 0 {
		t.Errorf("%q, %q, status %d", out, errs, status)
	}
}

func TestAMistakeInTheCommandLineIsNamedInOneLine(t *testing.T) {
	for _, c := range []struct{ args, errs string }{
		{"lsit", `there is no command "lsit"; did you mean "list"?; try 'weirq --help'`},
		{"peak a", `there is no command "peak"; did you mean "peek"?; try 'weirq --help'`},
		{"\x1b[2J", `there is no command "\x1b[2J"; try 'weirq --help'`},
		{"help lsit", `there is no command "lsit"; did you mean "list"?; try 'weirq --help'`},
		{"help dead mail", `there is no command "mail"; try 'weirq dead --help'`},
		{"completion bsh", `there is no command "bsh"; did you mean "bash"?; try 'weirq completion --help'`},
		{"list a", `list takes no arguments; try 'weirq list --help'`},
		{"peek", `there must be one QUEUE, got 0; try 'weirq peek --help'`},
		{"peek a b", `there must be one QUEUE, got 2; try 'weirq peek --help'`},
		{"peek a -n -1", `--number must be at least 0, got -1; try 'weirq peek --help'`},
		{"peek a -n x", `invalid argument "x" for "-n, --number" flag: strconv.ParseInt: parsing "x": invalid syntax; try 'weirq peek --help'`},
		{"dead a --yes", `unknown flag: --yes; try 'weirq dead --help'`},
		{"watch a --interval 1ms", `--interval must be at least 10ms, got 1ms; try 'weirq watch --help'`},
		{"watch a -n -1", `--number must be at least 0, got -1; try 'weirq watch --help'`},
		{"replay", `there must be a QUEUE; try 'weirq replay --help'`},
		{"replay a", `there must be an ID of a dead letter, or --all; try 'weirq replay --help'`},
		{"replay a 1 --all", `--all and an ID exclude each other; try 'weirq replay --help'`},
		{"purge --yes", `there must be a QUEUE; try 'weirq purge --help'`},
		{"list --dir=", `--dir must not be empty; try 'weirq list --help'`},
		{"list --dir x --server nats://x", `--dir and --server exclude each other; try 'weirq list --help'`},
		{"list --creds x", `--creds is meaningful only with --server; try 'weirq list --help'`},
	} {
		out, errs, status := weirq(t, strings.Split(c.args, " ")...)
		if out != "" || errs != "weirq: "+c.errs+"\n" || status != statusUsage {
			t.Errorf("weirq %q: %q, %q, status %d\nwant %q, status 2", c.args, out, errs, status, c.errs)
		}
	}
}

func TestHelpAndVersionArePrinted(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{}, []string{"Usage:", "Examples:", "purge ", "--creds FILE"}},
		{[]string{"replay", "--help"}, []string{"weirq replay QUEUE {ID... | --all}", "--yes", "--server URL"}},
		{[]string{"--version"}, []string{"weirq ", "go1."}},
	} {
		out, errs, status := weirq(t, c.args...)
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("weirq %q: %q is missing in\n%s", c.args, want, out)
			}
		}
		if errs != "" || status != 0 {
			t.Errorf("weirq %q: %q, status %d", c.args, errs, status)
		}
	}
}

type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

// A pipe whose reader has ended, such as head, is no failure; a disk that is full is one.
func TestHelpThatCannotBeWrittenIsAFailure(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		errs   string
	}{
		{syscall.ENOSPC, statusFailed, "weirq: no space left on device\n"},
		{syscall.EPIPE, statusOK, ""},
	} {
		for _, arg := range []string{"--help", "--version"} {
			var errs bytes.Buffer
			status := run(t.Context(), []string{arg}, streams{strings.NewReader(""), broken{c.err}, &errs, false})
			is(t, "status", status, c.status)
			is(t, "errors", errs.String(), c.errs)
		}
	}
}

func TestOnATerminalItAsks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fill(t, weirnats.Dir(dir))
	for _, c := range []struct {
		args, answer string
		out, errs    string
		status       int
	}{
		{args: "purge raw", answer: "n\n", errs: "Purge all 2 dead letters of queue raw? [y/N] weirq: the answer was no: nothing is changed\n", status: 1},
		{args: "purge raw 1 2", answer: "", errs: "Purge 2 dead letters of queue raw? [y/N] weirq: the answer was no: nothing is changed\n", status: 1},
		{args: "replay raw --all", answer: "yes", errs: "Replay all 2 dead letters of queue raw? [y/N] weirq: the answer was no: nothing is changed\n", status: 1},
		{args: "replay raw 1", answer: " Y \n", errs: "Replay 1 dead letter of queue raw? [y/N] ", out: "replay: 1 dead letter\n"},
		{args: "replay raw --all", answer: "yes\n", errs: "Replay all 1 dead letter of queue raw? [y/N] ", out: "replay: 1 dead letter\n"},
		{args: "purge raw", answer: "y\n", out: "queue raw has no dead letters\n"},
	} {
		out, errs, status := at(t.Context(), strings.NewReader(c.answer), true, append(strings.Fields(c.args), "--dir", dir)...)
		if out != c.out || errs != c.errs || status != c.status {
			t.Errorf("weirq %s, answer %q: %q, %q, status %d\nwant %q, %q, status %d", c.args, c.answer, out, errs, status, c.out, c.errs, c.status)
		}
	}
}

func TestASignalEndsItAndFreesTheFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fill(t, weirnats.Dir(dir))
	in, typing := io.Pipe()
	defer typing.Close()
	for _, args := range [][]string{{"watch", "raw"}, {"purge", "raw"}} {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(300*time.Millisecond, func() { cancel(&program.Interruption{Signal: syscall.SIGINT}) })
		_, _, status := at(ctx, in, true, append(args, "--dir", dir)...)
		is(t, "status", status, 130)
		cancel(nil)
	}
	out, errs, status := weirq(t, "list", "--dir", dir)
	if !strings.Contains(out, "raw ") || status != 0 {
		t.Errorf("%q, %q, status %d", out, errs, status)
	}
}

func TestTheBuiltProgramAndAFolderThatIsInUse(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it is built for that")
	}
	dir := t.TempDir()
	fill(t, weirnats.Dir(dir))
	path := filepath.Join(t.TempDir(), "weirq")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	text, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", path, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	watch := exec.CommandContext(t.Context(), path, "watch", "raw", "--dir", dir, "--json")
	lines, err := watch.StdoutPipe()
	noError(t, err)
	noError(t, watch.Start())
	_, err = lines.Read(make([]byte, 1))
	noError(t, err)
	out, errs, status := weirq(t, "list", "--dir", dir)
	if want := "is in use by process " + strconv.Itoa(watch.Process.Pid) + "\n"; out != "" || !strings.HasSuffix(errs, want) || status != 1 {
		t.Errorf("%q, %q, status %d, want %q", out, errs, status, want)
	}
	noError(t, watch.Process.Kill())
	_ = watch.Wait() // it was killed

	var stderr bytes.Buffer
	purge := exec.CommandContext(t.Context(), path, "purge", "raw", "--dir", dir)
	purge.Stderr = &stderr
	if err := purge.Run(); !errors.As(err, new(*exec.ExitError)) {
		t.Errorf("error is %v", err)
	}
	if purge.ProcessState.ExitCode() != statusUsage || !strings.Contains(stderr.String(), "use --yes") {
		t.Errorf("%q, status %d", stderr.String(), purge.ProcessState.ExitCode())
	}
	r, w, err := os.Pipe()
	noError(t, err)
	noError(t, r.Close())
	head := exec.CommandContext(t.Context(), path, "watch", "raw", "--dir", dir) // no process reads it
	stderr.Reset()
	head.Stdout, head.Stderr = w, &stderr
	noError(t, head.Run())
	noError(t, w.Close())
	is(t, "what it says when no process reads", stderr.String(), "")

	text, err = exec.CommandContext(t.Context(), path, "dead", "raw", "--dir", dir, "--json").Output()
	noError(t, err)
	is(t, "dead letters", bytes.Count(text, []byte("\n")), 2)
	for line := range bytes.Lines(text) {
		var m shown
		noError(t, json.Unmarshal(line, &m))
	}
}

func TestAServerWithAPasswordThatIsNeverPrinted(t *testing.T) {
	t.Parallel()
	const password = "s3cr3t-word"
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: -1, NoSigs: true, NoLog: true, JetStream: true, StoreDir: t.TempDir(), Username: "me", Password: password,
	})
	noError(t, err)
	s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	host := s.Addr().String()
	fill(t, weirnats.Server("nats://"+host, nats.UserInfo("me", password)))
	creds := filepath.Join(t.TempDir(), "creds")
	noError(t, os.WriteFile(creds, []byte("no credentials, but "+password), 0o600))
	for _, c := range []struct {
		args   []string
		out    string
		errs   string
		status int
	}{
		{[]string{"list", "--server", "nats://me:" + password + "@" + host}, "raw  ", "", 0},
		{[]string{"list", "--server", "me:" + password + "@" + host}, "numbers  ", "", 0},
		{[]string{"replay", "raw", "--all", "--yes", "--server", "nats://me:" + password + "@" + host}, "replay: 2 dead letters\n", "", 0},
		{[]string{"list", "--server", "nats://" + host}, "", "weirq: connect: nats: Authorization Violation\n", 1},
		{[]string{"list", "--server", "nats://you:" + password + "@" + host}, "", "weirq: connect: nats: Authorization Violation\n", 1},
		{[]string{"list", "--server", "nats://" + host, "--creds", creds + ".none"}, "", "weirq: --creds: ", 1},
		{[]string{"list", "--server", "nats://" + host, "--creds", creds}, "", "weirq: connect: ", 1},
		{[]string{"list", "--server", "nats://me:" + password + "@127.0.0.1:1"}, "", "weirq: connect: ", 1},
		{[]string{"list", "--server", "nats://me:" + password + "@" + host + ",nats://me:" + password + "%zz@host"}, "", "weirq: --server must be like", 2},
		{[]string{"list", "--server", "nats://me:" + password + "@host:port"}, "", "weirq: --server must be like", 2},
		{[]string{"list", "--server", "http://me:" + password + "@host"}, "", "weirq: --server must be like", 2},
		{[]string{"list", "--server", ""}, "", "weirq: --server must be like", 2},
		{[]string{"list", password, "--server", "nats://me:" + password + "@host"}, "", "weirq: list takes no arguments", 2},
	} {
		out, errs, status := weirq(t, c.args...)
		if !strings.Contains(out, c.out) || !strings.HasPrefix(errs, c.errs) || status != c.status || strings.Count(errs, "\n") > 1 {
			t.Errorf("weirq %q: %q, %q, status %d", c.args, out, errs, status)
		}
		if strings.Contains(out+errs, password) {
			t.Errorf("weirq %q prints the password: %q, %q", c.args, out, errs)
		}
	}
	conn, err := nats.Connect(host, nats.UserInfo("me", password))
	noError(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	noError(t, err)
	_, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "weir_q_foreign", Subjects: []string{"weir.q.foreign.x"}})
	noError(t, err)
	out, errs, status := weirq(t, "list", "--server", "me:"+password+"@"+host)
	if !strings.Contains(out, "numbers ") || !strings.Contains(out, "raw ") || errs != "weirq: queue foreign: stream weir_q_foreign has format \"\", not \"1\"\n" || status != 1 {
		t.Errorf("with a stream of another program: %q, %q, status %d", out, errs, status)
	}
}

// shut is a file that cannot be written.
type shut struct{}

func (shut) Write([]byte) (int, error) { return 0, errors.New("write error") }

func TestAWriteErrorIsAFailure(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fill(t, weirnats.Dir(dir))
	for _, args := range []string{"list", "list --json", "peek raw", "dead raw --json", "watch raw", "purge raw --yes"} {
		var errs bytes.Buffer
		status := run(t.Context(), append(strings.Fields(args), "--dir", dir), streams{strings.NewReader(""), shut{}, &errs, false})
		if errs.String() != "weirq: write error\n" || status != 1 {
			t.Errorf("weirq %s: %q, status %d", args, errs.String(), status)
		}
	}
}
