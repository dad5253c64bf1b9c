package plant

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
)

// Library is the import path of the library's root.
const Library = "github.com/64ed045f/weir"

// Program is one that was built with mistakes in it, each of them switched off.
type Program struct{ path, dir string }

// Test builds the test binary of the package in a folder of this module, such as ./model, or of a package
// of the library by its import path, with all mistakes planted.
func Test(tb testing.TB, folder string) *Program {
	tb.Helper()
	sources, err := Sources(All())
	check.Must(tb, err)
	// Vet would enter the folder of the switch, which is in no tree.
	return Build(tb, folder, sources, "test", "-c", "-vet=off")
}

// Build runs the go command on a folder of this module, or on a package of the library by its import
// path, with files of the repository replaced, or added: sources has their text by their
// name from the root.
func Build(tb testing.TB, folder string, sources map[string]string, command ...string) *Program {
	tb.Helper()
	overlay := Overlay(tb, sources)
	dir := filepath.Dir(overlay)
	module := filepath.Join(Root(), "verify")
	home := filepath.Join(module, filepath.FromSlash(folder))
	if inside, ok := strings.CutPrefix(folder, Library); ok {
		home = filepath.Join(Root(), filepath.FromSlash(inside))
	}
	program := &Program{filepath.Join(dir, "program"), home}
	cmd := exec.Command("go", append(command, "-overlay", overlay, "-o", program.path, folder)...)
	cmd.Dir = module
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return program
}

// Overlay writes a file for the flag -overlay of the go command, which has it read sources in place of the tree's, in a
// folder of its own.
func Overlay(tb testing.TB, sources map[string]string) (file string) {
	tb.Helper()
	dir := tb.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for name, source := range sources {
		file := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		check.Must(tb, os.WriteFile(file, []byte(source), 0o600))
		overlay.Replace[filepath.Join(Root(), filepath.FromSlash(name))] = file
	}
	text, err := json.Marshal(overlay)
	check.Must(tb, err)
	file = filepath.Join(dir, "overlay.json")
	check.Must(tb, os.WriteFile(file, text, 0o600))
	return file
}

// Outcome is how a run of a program ended.
type Outcome struct {
	Failed bool // it ended with a status other than 0
	Hung   bool // it had to be killed
	Took   time.Duration
	CPU    time.Duration // of all processors
	Output string
}

// Run runs the program in its folder, with a bug in force, or none if that is "". It is killed
// after limit.
func (p *Program) Run(bug string, limit time.Duration, args ...string) (Outcome, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.path, args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), Env+"="+bug, "TMPDIR="+filepath.Dir(p.path)) // what it leaves is removed with it
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	begin := time.Now()
	err := cmd.Run()
	outcome := Outcome{Took: time.Since(begin), Output: out.String()}
	if state := cmd.ProcessState; state != nil {
		outcome.CPU = state.UserTime() + state.SystemTime()
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		outcome.Hung = true
	case cmd.ProcessState != nil:
		outcome.Failed = true
	default:
		return outcome, fmt.Errorf("%s does not run: %w", cmd, err)
	}
	return outcome, nil
}
