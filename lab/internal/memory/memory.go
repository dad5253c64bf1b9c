// Package memory measures the memory that this process holds.
package memory

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Now returns the resident memory, in bytes.
func Now() uint64 { return kernels("VmRSS:") }

// Peak returns the most memory that was resident at once, in bytes. It uses the kernel's figure for this
// program, which is better than that of getrusage: getrusage also counts the parent's memory at the fork. On
// systems without that figure, Peak returns what Go has obtained from the system.
func Peak() uint64 { return kernels("VmHWM:") }

// Tree returns the resident memory of another process and its children, in bytes. Shared memory counts once.
// Tree returns 0 if the kernel does not say.
func Tree(pid int) uint64 {
	process := "/proc/" + strconv.Itoa(pid)
	all, _ := field(process+"/smaps_rollup", "Pss:")
	lists, _ := filepath.Glob(process + "/task/*/children") // the pattern is valid
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

// Watch reads a figure again and again, until most is called. most returns the highest value read.
func Watch[N int | uint64](every time.Duration, read func() N) (most func() N) {
	stop, highest := make(chan struct{}), make(chan N)
	go func() {
		var seen N
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			seen = max(seen, read())
			select {
			case <-tick.C:
			case <-stop:
				highest <- seen
				return
			}
		}
	}()
	return func() N { close(stop); return <-highest }
}

// field returns the number of bytes in the line of the file that begins with name.
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
