package peers_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/internal/plant"
	"github.com/64ed045f/weir/verify/peers"
)

// TestNamesAreThePeersOwn compares testdata with the tests of the peers, in the versions that
// the lab requires, if they are on this machine.
func TestNamesAreThePeersOwn(t *testing.T) {
	for _, peer := range page(t) {
		t.Run(peer.Name, func(t *testing.T) {
			version, folder := inLab(t, peer.Module)
			if folder == "" {
				if got, _ := namesOf(t, peer); got != version {
					t.Errorf("the names are those of %s; the lab compares with %s", got, version)
				}
				t.Skipf("%s %s is not in the module cache", peer.Module, version)
			}
			if peer.Name == "errgroup" { // which is a folder of its module
				folder = filepath.Join(folder, peer.Name)
			}
			names, err := peers.Names(folder)
			check.Must(t, err)
			want := peer.Module + " " + version + "\n" + strings.Join(names, "\n") + "\n"
			if *update {
				check.Must(t, os.WriteFile(namesFile(peer), []byte(want), 0o644))
			}
			if got, err := os.ReadFile(namesFile(peer)); err != nil || string(got) != want {
				t.Errorf("%s is stale: run go test ./peers -update (%v)", namesFile(peer), err)
			}
		})
	}
}

// library has the folders of the packages whose tests may show a behaviour.
var library = []string{"", "errgroup", "par", "reuse", "weirhttp"}

// ourTests returns the tests of those packages, as peers.Tests does.
func ourTests(t *testing.T) map[string]string {
	t.Helper()
	tests := map[string]string{}
	for _, folder := range library {
		found, err := peers.Tests(filepath.Join(plant.Root(), folder))
		check.Must(t, err)
		maps.Copy(tests, found)
	}
	return tests
}

// inLab returns the version of a module that the lab compares with, and its folder, or "" if it is not
// on this machine. It downloads nothing.
func inLab(t *testing.T, module string) (version, folder string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	cmd.Dir = filepath.Join("..", "..", "lab")
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOPROXY=off")
	out, err := cmd.Output() // it fails where the module is missing, and says so there
	var found struct{ Version, Dir, Error string }
	if parseErr := json.Unmarshal(out, &found); parseErr != nil || found.Version == "" {
		t.Fatalf("%s: %v, %v, %s", cmd, err, parseErr, found.Error)
	}
	return found.Version, found.Dir
}

// namesFile is the file in which the names of a peer's tests stand, below its version.
func namesFile(peer peers.Section) string { return filepath.Join("testdata", peer.Name+".txt") }

// namesOf returns what stands in it.
func namesOf(t *testing.T, peer peers.Section) (version string, names []string) {
	t.Helper()
	text, err := os.ReadFile(namesFile(peer))
	check.Must(t, err)
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	module, version, _ := strings.Cut(lines[0], " ")
	if module != peer.Module {
		t.Fatalf("%s has the names of %s, not %s", namesFile(peer), module, peer.Module)
	}
	return version, lines[1:]
}
