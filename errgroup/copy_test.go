package errgroup_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestVetSeesThatAGroupIsCopied(t *testing.T) {
	cmd := exec.Command("go", "vet", "./testdata/copied")
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "return copies lock value") {
		t.Errorf("go vet ended with %v and said:\n%s", err, out)
	}
}
