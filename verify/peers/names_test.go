package peers_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/64ed045f/weir/verify/internal/plant"
	"github.com/64ed045f/weir/verify/peers"
)

// TestNamesAreThePeersOwn compares testdata with the tests of the peers, in the versions that
// the lab requires, if they are on this machine.
func TestNamesAreThePeersOwn(t *testing.T) {
	for _, peer := range all {
		t.Run(peer.Name, func(t *testing.T) {
			version, folder := inLab(t, peer.Module)
			if folder == "" {
				if got, _ := namesOf(t, peer); got != version {
					t.Errorf("the names are those of %s; the lab compares with %s", got, version)
				}
				t.Skipf("%s %s is not in the module cache", peer.Module, version)
			}
			names, err := peers.Names(filepath.Join(folder, filepath.FromSlash(peer.Folder)))
			if err != nil {
				t.Fatal(err)
			}
			want := peer.Module + " " + version + "\n" + strings.Join(names, "\n") + "\n"
			compare(t, namesFile(peer), want)
		})
	}
}

func TestEveryTestOfAPeerHasACaseOrAReason(t *testing.T) {
	for _, peer := range all {
		t.Run(peer.Name, func(t *testing.T) {
			answered := map[string]bool{}
			for _, c := range peer.Cases {
				for _, name := range c.Theirs {
					answered[name] = true
				}
			}
			for _, apart := range peer.Apart {
				for _, name := range apart.Theirs {
					if answered[name] {
						t.Errorf("%s has a case, and a reason to have none", name)
					}
					answered[name] = true
				}
			}
			_, names := namesOf(t, peer)
			for _, name := range names {
				if !answered[name] {
					t.Errorf("%s has no case", name)
				}
				delete(answered, name)
			}
			for name := range answered {
				t.Errorf("%s has no test %q", peer.Name, name)
			}
		})
	}
}

// library has the folders of the packages whose tests may show a behaviour.
var library = []string{"", "errgroup", "par", "reuse", "weirhttp"}

// TestOurTestsExist accepts the beginning of a subtest's name, up to a slash: the rest is often not a literal.
func TestOurTestsExist(t *testing.T) {
	tests := map[string][]string{}
	for _, folder := range library {
		found, err := peers.Tests(filepath.Join(plant.Root(), folder))
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(tests, found)
	}
	for _, peer := range all {
		for _, c := range peer.Cases {
			for _, name := range c.Ours {
				test, subtest, isSubtest := strings.Cut(name, "/")
				literals, exists := tests[test]
				if !exists {
					t.Errorf("%s: there is no test %s", peer.Name, test)
				} else if isSubtest && !slices.ContainsFunc(literals, func(text string) bool { return text == subtest || strings.HasPrefix(text, subtest+"/") }) {
					t.Errorf("%s: the file of %s does not have the name of the subtest %q", peer.Name, test, subtest)
				}
			}
		}
	}
}

func TestNamesAreThoseOfTheLeaves(t *testing.T) {
	folder := t.TempDir()
	source := `package thing_test
func TestMain(m *testing.M) {}
func TestOne(t *testing.T) {}
func BenchmarkOne(b *testing.B) { b.Run("none", func(b *testing.B) {}) }
func ExampleThing() {}
func helper() {}
func TestTree(t *testing.T) {
	t.Run("a b", func(t *testing.T) {
		t.Run("c", func(t *testing.T) {})
		t.Run("d", check)
	})
	for _, name := range names {
		t.Run(name, func(t *testing.T) { t.Run("e", check) })
	}
}
func TestTable(t *testing.T) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) {})
	}
}
`
	if err := os.WriteFile(filepath.Join(folder, "thing_test.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	names, err := peers.Names(folder)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"thing.ExampleThing", "thing.TestOne", "thing.TestTable",
		"thing.TestTree/a b/c", "thing.TestTree/a b/d", "thing.TestTree/e"}
	if !slices.Equal(names, want) {
		t.Errorf("names:\n%q, want\n%q", names, want)
	}
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
func namesFile(peer peers.Peer) string { return filepath.Join("testdata", peer.Name+".txt") }

// namesOf returns what stands in it.
func namesOf(t *testing.T, peer peers.Peer) (version string, names []string) {
	t.Helper()
	text, err := os.ReadFile(namesFile(peer))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	module, version, _ := strings.Cut(lines[0], " ")
	if module != peer.Module {
		t.Fatalf("%s has the names of %s, not %s", namesFile(peer), module, peer.Module)
	}
	return version, lines[1:]
}

// compare fails the test unless the file has the text want, or writes that with -update.
func compare(t *testing.T, file, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s is stale: run go test ./peers -update\n%v\n%s", file, err, firstDifference(string(got), want))
	}
}

// firstDifference shows the first line in which two texts differ.
func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d: got  %s\nwant %s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("got %d lines, want %d", len(a), len(b))
}
