package reuse_test

import (
	"os/exec"
	"strings"
	"testing"
)

func TestThePackageNeedsLittleThatWeirDoesNot(t *testing.T) {
	weir := map[string]bool{}
	for _, path := range dependencies(t, "github.com/64ed045f/weir") {
		weir[path] = true
	}
	light := map[string]bool{"github.com/64ed045f/weir/reuse": true, "github.com/64ed045f/weir/internal/keys": true, "github.com/64ed045f/weir/internal/tree": true, "maps": true, "math/rand/v2": true}
	for _, path := range dependencies(t, ".") {
		if !weir[path] && !light[path] {
			t.Errorf("the package needs %s", path)
		}
	}
}

func dependencies(t *testing.T, of string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", of).Output()
	if err != nil {
		t.Fatal(err)
	}
	list := strings.Fields(string(out))
	if len(list) < 20 {
		t.Fatalf("only %d dependencies of %s are listed", len(list), of)
	}
	return list
}
