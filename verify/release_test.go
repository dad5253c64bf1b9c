package verify_test

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/internal/plant"
)

const library = "github.com/64ed045f/weir"

// A user outside the tree requires the library, and installs the command, from a proxy that is made of the tree.
func TestTheModulesCanBeRequiredFromOutside(t *testing.T) {
	check.NeedsProofs(t, "builds the library and the command anew")
	const version = "v0.1.0"
	proxy, home, bin := t.TempDir(), t.TempDir(), t.TempDir()
	publish(t, proxy, library, ".", version)
	publish(t, proxy, library+"/cmd/weir", "cmd/weir", version)
	publish(t, proxy, library+"/weirnats", "weirnats", version)
	known := strings.TrimSpace(command(t, home, nil, "go", "env", "GOMODCACHE"))
	others := strings.TrimSpace(command(t, home, nil, "go", "env", "GOPROXY"))
	env := []string{
		"GOWORK=off", "GOSUMDB=off", "GOFLAGS=" + os.Getenv("GOFLAGS") + " -mod=mod -modcacherw", "GOBIN=" + bin, "GOMODCACHE=" + t.TempDir(),
		"GOPROXY=file://" + filepath.ToSlash(proxy) + ",file://" + filepath.ToSlash(known) + "/cache/download," + others,
	}
	write(t, home, "go.mod", "module example.com/user\n\ngo 1.26.0\n\nrequire "+library+" "+version+"\n")
	write(t, home, "main.go", plant.Text(t, "verify/testdata/user/main.go"))
	if out := command(t, home, env, "go", "run", "."); !strings.HasSuffix(out, "<nil> <nil> [1 4] <nil>\n") {
		t.Errorf("the user's program prints %q", out)
	}
	command(t, home, env, "go", "install", library+"/cmd/weir@"+version)
	if out := command(t, home, env, filepath.Join(bin, "weir"), "--version"); !strings.Contains(out, version) {
		t.Errorf("the command's version is %q", out)
	}
	command(t, home, env, "go", "install", "-n", library+"/weirnats/cmd/weirq@"+version) // without building a server
}

// publish puts a module of the tree into a proxy: a folder laid out as the go command asks for it.
func publish(t *testing.T, proxy, name, folder, version string) {
	t.Helper()
	dir := filepath.Join(plant.Root(), filepath.FromSlash(folder))
	escaped, err := module.EscapePath(name)
	check.Must(t, err)
	to := filepath.Join(proxy, filepath.FromSlash(escaped), "@v")
	check.Must(t, os.MkdirAll(to, 0o755))
	write(t, to, "list", version+"\n")
	write(t, to, version+".info", fmt.Sprintf(`{"Version":%q,"Time":"2026-01-01T00:00:00Z"}`, version))
	write(t, to, version+".mod", plant.Text(t, path.Join(folder, "go.mod")))
	out, err := os.Create(filepath.Join(to, version+".zip"))
	check.Must(t, err)
	check.Must(t, zip.CreateFromDir(out, module.Version{Path: name, Version: version}, dir))
	check.Must(t, out.Close())
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	check.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

// command runs one in a folder, and returns what it prints.
func command(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

func TestACommandsModuleWithoutTheWorkspaceIsItsModuleWithAReplaceLine(t *testing.T) {
	for _, command := range []string{"cmd/weir", "cmd/weir-top", "weirnats"} {
		read := func(name string) string { return plant.Text(t, path.Join(command, name)) }
		local := regexp.MustCompile(`(?m)^(//.*|replace `+library+` => \.\.(/\.\.)?)\n`).ReplaceAllString(read("local.mod"), "")
		if strings.ReplaceAll(local, "\n\n\n", "\n\n") != read("go.mod") {
			t.Errorf("%s: local.mod is not go.mod with a replace line", command)
		}
		if read("local.sum") != read("go.sum") {
			t.Errorf("%s: local.sum is not go.sum", command)
		}
	}
}

func TestOneScriptTagsAllModules(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	dir := t.TempDir()
	for _, name := range []string{
		"CHANGELOG.md", "go.mod", "go.work", "tools/release.sh", "cmd/weir/go.mod", "cmd/weir/local.mod", "verify/go.mod", "weirnats/go.mod", "weirnats/go.work", "weirnats/examples/mailer/go.mod",
	} {
		check.Must(t, os.MkdirAll(filepath.Join(dir, path.Dir(name)), 0o755))
		write(t, dir, name, plant.Text(t, name))
	}
	env := []string{"GOWORK=", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
	commit := func() {
		command(t, dir, env, "git", "add", "-A")
		command(t, dir, env, "git", "commit", "-q", "-m", "a release")
	}
	command(t, dir, env, "git", "init", "-q")
	commit()
	refuses := func(why string, args ...string) {
		script := exec.Command("bash", append([]string{"tools/release.sh"}, args...)...)
		script.Dir, script.Env = dir, append(os.Environ(), env...)
		if out, err := script.CombinedOutput(); err == nil || !strings.Contains(string(out), why) {
			t.Errorf("%q is not refused as %q: %v, %s", args, why, err, out)
		}
	}
	refuses("prepare comes first", "tag", "v0.9.0")
	refuses("below v2", "prepare", "v2.0.0")
	command(t, dir, env, "git", "branch", "old.bak")
	command(t, dir, env, "bash", "tools/release.sh", "prepare", "v0.9.0")
	commit()
	refuses("a section 0.9.0 already", "prepare", "v0.9.0")
	command(t, dir, env, "git", "tag", "verify/v0.9.0")
	refuses("a tag verify/v0.9.0 already", "tag", "v0.9.0")
	command(t, dir, env, "git", "tag", "-d", "verify/v0.9.0")
	if out := command(t, dir, env, "bash", "tools/release.sh", "tag", "v0.9.0"); out != "cmd/weir/v0.9.0\nv0.9.0\nverify/v0.9.0\nweirnats/examples/mailer/v0.9.0\nweirnats/v0.9.0\n" {
		t.Errorf("the tags are %q", out)
	}
	command(t, dir, env, "git", "rev-parse", "old.bak") // it is not among the copies that sed has made
	if out := command(t, dir, env, "git", "grep", "-l", library+` v0\.9\.0$`, "*.mod"); out != "cmd/weir/go.mod\ncmd/weir/local.mod\nverify/go.mod\nweirnats/examples/mailer/go.mod\nweirnats/go.mod\n" {
		t.Errorf("the release is required in %q", out)
	}
}
