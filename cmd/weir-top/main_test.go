package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirdebug"
)

// runVariable makes the test binary be the tool itself, so that tests can run it as a process without building it.
const runVariable = "WEIR_TOP_TEST_RUN"

func TestMain(m *testing.M) {
	if os.Getenv(runVariable) != "" {
		main()
	}
	os.Exit(m.Run())
}

// run runs the tool to its end.
func run(t *testing.T, args ...string) (out, errs string, status int) {
	t.Helper()
	self, err := os.Executable()
	check.Must(t, err)
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), runVariable+"=1", "GORACE=atexit_sleep_ms=0", "NO_PROXY=*")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// serve serves the real page of a program with a pool that is busy, behind a password.
func serve(t *testing.T) (host string) {
	t.Helper()
	pool := weir.New(2, weir.Name("mail\x1b[2J"))
	release := make(chan struct{})
	for range 5 {
		check.Must(t, pool.Submit(func() { <-release }))
	}
	t.Cleanup(func() {
		close(release)
		pool.Close()
	})
	page := weirdebug.Handler()
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/weir/", func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != "geheim" && r.Header.Get("X-Key") != "geheim" {
			http.Error(w, "who are you?\x1b[2J", http.StatusUnauthorized)
			return
		}
		page.ServeHTTP(w, r)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	for deadline := time.Now().Add(10 * time.Second); pool.Stats().Running < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the pool does not begin")
		}
	}
	return strings.TrimPrefix(server.URL, "http://")
}

func TestOncePrintsThePoolsOfARealProgram(t *testing.T) {
	host := serve(t)
	for _, args := range [][]string{
		{"--once", "http://me:geheim@" + host + "/debug/weir/"},
		{"--once", "--header", "X-Key: geheim", host + "/debug/weir"}, // the server adds the slash
		{"--once", "--find", "MAIL", "--header=X-Other: 1", "--header=x-key:geheim", host + "/debug/weir/"},
	} {
		out, errs, status := run(t, args...)
		if !strings.Contains(out, `  mail\x1b[2J `) || strings.Contains(out, "geheim") || errs != "" || status != statusOK {
			t.Errorf("%q: %q, %q, status %d", args, out, errs, status)
		}
	}
	if out, _, status := run(t, "--once", "--find", "none", "http://me:geheim@"+host+"/debug/weir/"); !strings.Contains(out, `0 pools with "none"`) || status != statusOK {
		t.Errorf("%q, status %d", out, status)
	}
}

func TestOnceWithJSONPrintsTheSnapshotOnOneLine(t *testing.T) {
	out, errs, status := run(t, "--once", "--json", "--find", "mail", "http://me:geheim@"+serve(t)+"/debug/weir/")
	if errs != "" || status != statusOK || strings.Count(out, "\n") != 1 {
		t.Errorf("%q, %q, status %d", out, errs, status)
	}
	var snapshot weirdebug.Snapshot
	if err := json.Unmarshal([]byte(out), &snapshot); err != nil || len(snapshot.Pools) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	if p := snapshot.Pools[0]; p.Name != "mail\x1b[2J" || p.Stats.Limit != 2 || p.Stats.Running != 2 || p.Stats.Queued != 3 {
		t.Errorf("the pool is %+v", p)
	}
}

func TestWhatIsWrongAtTheStartIsSaidAndEndsIt(t *testing.T) {
	host := serve(t)
	const try = "\nTry 'weir-top --help' for more information.\n"
	for _, c := range []struct {
		args   []string
		errs   string
		status int
	}{
		{[]string{"--once", "http://me:wrong@" + host + "/debug/weir/?geheim"}, "weir-top: http://" + host +
			"/debug/weir/: the server answers 401 Unauthorized: who are you?\\x1b[2J\n", statusFailed},
		{[]string{"--once", "http://me:geheim@" + host + "/"}, "weir-top: http://" + host + "/: the server answers 404 Not Found: 404 page not found\n", statusFailed},
		{[]string{"http://" + host}, "weir-top: the output is no terminal: use --once" + try, statusUsage},
		{nil, "weir-top: there must be one URL, got 0" + try, statusUsage},
		{[]string{"a", "b"}, "weir-top: there must be one URL, got 2" + try, statusUsage},
		{[]string{"--once", "ftp://me:geheim@host/"}, "weir-top: the URL must be like http://host/debug/weir/" + try, statusUsage},
		{[]string{"--json", host}, "weir-top: --json is meaningful only with --once" + try, statusUsage},
		{[]string{"--once", "--interval=1ms", host}, "weir-top: --interval must be at least 50ms, got 1ms" + try, statusUsage},
		{[]string{"--once", "--timeout=0", host}, "weir-top: --timeout must be more than 0, got 0s" + try, statusUsage},
		{[]string{"--once", "--header=geheim", host}, "weir-top: --header must be like 'Name: value'" + try, statusUsage},
		{[]string{"--once", "--header=a: ge\nheim", host}, "weir-top: --header must be like 'Name: value'" + try, statusUsage},
		{[]string{"--none"}, "weir-top: unknown flag: --none" + try, statusUsage},
	} {
		if out, errs, status := run(t, c.args...); out != "" || errs != c.errs || status != c.status {
			t.Errorf("%q: got %q, %q, status %d\nwant %q, status %d", c.args, out, errs, status, c.errs, c.status)
		}
	}
	down := httptest.NewServer(nil)
	down.Close()
	if out, errs, status := run(t, "--once", down.URL); out != "" || !strings.HasPrefix(errs, "weir-top: "+down.URL+": dial tcp") || status != statusFailed {
		t.Errorf("without a server: %q, %q, status %d", out, errs, status)
	}
}

func TestHelpAndVersionArePrinted(t *testing.T) {
	for arg, wants := range map[string][]string{
		"--help":    {"Usage:", "Examples:", "--once", "--header 'NAME: VALUE'", "Exit status:"},
		"--version": {"weir-top ", "go1."},
	} {
		out, errs, status := run(t, arg)
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("%s: %q is missing in\n%s", arg, want, out)
			}
		}
		if errs != "" || status != statusOK {
			t.Errorf("%s: %q on standard error, status %d", arg, errs, status)
		}
	}
}
