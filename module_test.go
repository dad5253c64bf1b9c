package weir_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/64ed045f/weir/internal/check"
)

const module = "github.com/64ed045f/weir"

// goTool runs the go command in dir, on the module's own go.mod.
func goTool(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		stderr := ""
		if exit, isExit := err.(*exec.ExitError); isExit { //nolint:errorlint // Output returns it bare
			stderr = string(exit.Stderr)
		}
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr)
	}
	return string(out)
}

type goMod struct {
	Module  struct{ Path string }
	Go      string
	Require []struct{ Path string }
	Replace []struct{ Old, New struct{ Path string } }
}

func readGoMod(t *testing.T, dir string) goMod {
	t.Helper()
	var m goMod
	if err := json.Unmarshal([]byte(goTool(t, dir, "mod", "edit", "-json")), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTheModuleRequiresNothing(t *testing.T) {
	m := readGoMod(t, ".")
	check.Equal(t, "module", m.Module.Path, module)
	check.Equal(t, "go", m.Go, "1.26.0")
	check.Equal(t, "required modules", len(m.Require), 0)
	if _, err := os.Stat("go.sum"); err == nil {
		t.Error("there is a go.sum: something is required")
	}
}

func TestThePackagesStandOnTheStandardLibraryAlone(t *testing.T) {
	// These are for tests. What the explorer puts in the place of the engine's operations costs the product nothing.
	helpers := []string{module + "/internal/check", module + "/internal/step"}
	product := slices.DeleteFunc(strings.Fields(goTool(t, ".", "list", "./...")), func(path string) bool { return slices.Contains(helpers, path) })
	list := []string{"list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{else if eq .ImportPath \"testing\"}}testing{{end}}"}
	deps := goTool(t, ".", append(list, product...)...)
	for path := range strings.FieldsSeq(deps) {
		if path != module && !strings.HasPrefix(path, module+"/") || slices.Contains(helpers, path) {
			t.Errorf("the product contains %s", path)
		}
	}
	// Tests of the public packages, too, need nothing else.
	deps = goTool(t, ".", "list", "-deps", "-test", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./...")
	for path := range strings.Lines(deps) {
		path, _, _ = strings.Cut(strings.TrimSpace(path), " ") // "weir_test [weir.test]" is a test variant
		if path != "" && path != module && !strings.HasPrefix(path, module+"/") && !strings.HasPrefix(path, module+".test") && !strings.HasPrefix(path, module+"_test") {
			t.Errorf("the tests contain %s", path)
		}
	}
}

func TestDependenciesPointOneWay(t *testing.T) {
	// Public packages use internal ones, never the other way round.
	for line := range strings.Lines(goTool(t, ".", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...")) {
		fields := strings.Fields(line)
		if !strings.HasPrefix(fields[0], module+"/internal/") {
			continue
		}
		for _, path := range fields[1:] {
			if (path == module || strings.HasPrefix(path, module+"/")) && !strings.HasPrefix(path, module+"/internal/") {
				t.Errorf("%s imports %s", fields[0], path)
			}
		}
	}
	// Modules within the tree use the public packages only, from this tree.
	err := filepath.WalkDir(".", func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && path != "." && (name == "testdata" || name == "tools" || strings.HasPrefix(name, ".")) {
			return filepath.SkipDir
		}
		if entry.Name() != "go.mod" || path == "go.mod" {
			return nil
		}
		dir := filepath.Dir(path)
		m := readGoMod(t, dir)
		check.Equal(t, dir+": go", m.Go, "1.26.0")
		requires, replaces := false, false
		for _, r := range m.Require {
			requires = requires || r.Path == module
		}
		if _, err := os.Stat(filepath.Join(dir, "local.mod")); err == nil {
			check.Equal(t, dir+": replace lines, which go install refuses", len(m.Replace), 0)
			return nil
		}
		for _, r := range m.Replace {
			if r.Old.Path == module {
				replaces = filepath.Join(dir, r.New.Path) == "."
			}
		}
		if requires != replaces {
			t.Errorf("%s: requires %s: %t, replaced by this tree: %t", dir, module, requires, replaces)
		}
		return nil
	})
	check.OK(t, err)
}
