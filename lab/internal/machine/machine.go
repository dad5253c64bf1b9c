// Package machine describes the machine and the software of a run: the settings in each file of results.
package machine

import (
	"cmp"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/64ed045f/weir/lab/internal/memory"
	"github.com/64ed045f/weir/lab/internal/record"
)

// VersionKey begins the name of the setting with a library's module and version.
const VersionKey = "version-"

// A Module says where a library comes from.
type Module struct{ Library, Path string }

// Settings describes this machine and this program. command is the command line, and libraries are the
// measured libraries.
func Settings(command string, libraries []Module) []record.Setting {
	list := []record.Setting{
		{Key: "command", Value: command},
		{Key: "date", Value: time.Now().UTC().Format(time.DateOnly)},
		{Key: "goos", Value: runtime.GOOS},
		{Key: "goarch", Value: runtime.GOARCH},
		{Key: "cpu", Value: cmp.Or(memory.Field("/proc/cpuinfo", "model name"), "unknown")},
		{Key: "cores", Value: strconv.Itoa(runtime.NumCPU())},
		{Key: "memory", Value: ram()},
		{Key: "kernel", Value: read("/proc/sys/kernel/osrelease")},
		{Key: "go-version", Value: runtime.Version()},
	}
	list = append(list, versions(libraries)...)
	root, err := Root()
	if err != nil {
		return list
	}
	if hash, err := HotPath(root); err == nil {
		list = append(list, record.Setting{Key: HotPathKey, Value: hash})
	}
	if commit := git(root, "rev-parse", "--short=12", "HEAD"); commit != "" {
		if git(root, "status", "--porcelain", "--untracked-files=no") != "" {
			commit += " with changes"
		}
		list = append(list, record.Setting{Key: "weir-commit", Value: commit})
	}
	return list
}

// versions returns the versions of the modules linked into this program.
func versions(libraries []Module) []record.Setting {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	version := map[string]string{}
	for _, module := range build.Deps {
		version[module.Path] = module.Version
	}
	var list []record.Setting
	for _, m := range libraries {
		list = append(list, record.Setting{Key: VersionKey + m.Library, Value: m.Path + " " + version[m.Path]})
	}
	return list
}

func ram() string {
	kib, err := strconv.ParseFloat(strings.TrimSuffix(memory.Field("/proc/meminfo", "MemTotal"), " kB"), 64)
	if err != nil {
		return "unknown"
	}
	return strconv.FormatFloat(kib/(1<<20), 'f', 1, 64) + " GiB"
}

func read(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

func git(dir string, args ...string) string {
	command := exec.Command("git", args...)
	command.Dir = dir
	text, err := command.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
