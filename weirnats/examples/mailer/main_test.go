package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// childName is the variable that makes the test binary be the program, in the processes that the show starts.
const childName = "MAILER_TEST_RUN"

func TestMain(m *testing.M) {
	if os.Getenv(childName) != "" {
		main()
		return
	}
	if err := os.Setenv(childName, "1"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func TestTheShowLosesNothing(t *testing.T) {
	var out strings.Builder
	begin := time.Now()
	if err := (demo{out: &out, mails: 200, kills: 2}).run(t.Context()); err != nil {
		t.Fatalf("%v, after\n%s", err, &out)
	}
	t.Logf("%v\n%s", time.Since(begin), &out)
	want := regexp.MustCompile(`^one process with an embedded server, 200 mails
  the first run: .* after 100 mails, of \d+ that it has put
  the second run: all is sent
  200 mails accepted, 200 sent, 0 lost, \d+ sent a second time
3 processes on one server, 1600 mails
  process \d+: .*, after \d+ mails of all
  process \d+: .*, after \d+ mails of all
  1600 mails accepted, 1600 sent, 0 lost, \d+ sent a second time
$`)
	if !want.MatchString(out.String()) {
		t.Errorf("the show is\n%s", &out)
	}
}

func TestTheShowOnAClusterLosesNothing(t *testing.T) {
	if os.Getenv("WEIR_PROOFS") == "" {
		t.Skip("its servers elect leaders for a quarter of a minute: it runs with WEIR_PROOFS=1, as in .ci/run proofs")
	}
	var out strings.Builder
	begin := time.Now()
	if err := (demo{out: &out, mails: 100, kills: 2, cluster: true}).run(t.Context()); err != nil {
		t.Fatalf("%v, after\n%s", err, &out)
	}
	t.Logf("%v\n%s", time.Since(begin), &out)
	want := regexp.MustCompile(`^3 processes on a cluster of 3 servers, 800 mails, each on 3 disks
  process \d+: .*, after \d+ mails of all
  server 0: .*
  process \d+: .*, after \d+ mails of all
  server 0: started again
  800 mails accepted, 800 sent, 0 lost, \d+ sent a second time
$`)
	if !want.MatchString(out.String()) {
		t.Errorf("the show is\n%s", &out)
	}
}

func TestALostMailIsNoticed(t *testing.T) {
	m := &mailer{dir: t.TempDir(), mails: 2}
	for name, text := range map[string]string{m.outbox(): "a\nb\n", m.out(): "a x\na x\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := m.count()
	if want := "2 mails accepted, 1 sent, 1 lost, 1 sent a second time"; text != want || err == nil {
		t.Errorf("%q, %v, want %q and an error", text, err, want)
	}
}
