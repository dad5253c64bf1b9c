//go:build unix

package main

import (
	"os"
	"testing"
)

func TestAFolderOfAnotherUserIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("it takes root to give a folder away")
	}
	dir := t.TempDir()
	noError(t, os.Chown(dir, 4711, -1))
	out, errs, status := weirq(t, "list", "--dir", dir)
	if want := "weirq: folder " + dir + " belongs to user 4711, whose programs could not read what weirq writes there: run it as that user\n"; out != "" || errs != want || status != 1 {
		t.Errorf("%q, %q, status %d", out, errs, status)
	}
}
