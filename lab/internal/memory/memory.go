// Package memory says how much of it this process holds.
package memory

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// Now is the memory that is resident, in bytes.
func Now() uint64 { return kernels("VmRSS:") }

// Peak is the most memory that was resident at once, in bytes. The kernel's figure
// for this program alone is better than that of getrusage, which counts the parent's
// memory at the fork too; elsewhere, what Go has had from the system must do.
func Peak() uint64 { return kernels("VmHWM:") }

// Tree is the memory that is resident of another process and its children, in bytes; what they share counts once. It is 0 if the
// kernel does not say.
func Tree(pid int) uint64 {
	process := "/proc/" + strconv.Itoa(pid)
	all, _ := field(process+"/smaps_rollup", "Pss:")
	lists, _ := filepath.Glob(process + "/task/*/children") // the pattern is fine
	for _, list := range lists {
		children, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for child := range strings.FieldsSeq(string(children)) {
			if pid, err := strconv.Atoi(child); err == nil {
				all += Tree(pid)
			}
		}
	}
	return all
}

// field is the number of bytes in the line of the file that begins with the name.
func field(path, name string) (bytes uint64, ok bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			kib, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kib << 10, err == nil
		}
	}
	return 0, false
}

func kernels(name string) uint64 {
	if bytes, ok := field("/proc/self/status", name); ok {
		return bytes
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.Sys - stats.HeapReleased
}
