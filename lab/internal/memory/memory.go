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
func Now() uint64 { return kernels("VmRSS") }

// Peak returns the most memory that was resident at once, in bytes. It uses the kernel's figure for this
// program, which is better than that of getrusage: getrusage also counts the parent's memory at the fork. On
// systems without that figure, Peak returns what Go has obtained from the system.
func Peak() uint64 { return kernels("VmHWM") }

// Tree returns the resident memory of another process and its children, in bytes. Shared memory counts once.
// Tree returns 0 if the kernel does not say.
func Tree(pid int) uint64 {
	process := "/proc/" + strconv.Itoa(pid)
	all, _ := bytesOf(process+"/smaps_rollup", "Pss")
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

// Field returns the first value with that key in a file of lines "key: value", as the kernel has them; "" if there
// is none.
func Field(path, key string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if k, value, _ := strings.Cut(line, ":"); strings.TrimSpace(k) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// bytesOf returns the value in bytes of a field in kB.
func bytesOf(path, key string) (uint64, error) {
	kib, err := strconv.ParseUint(strings.TrimSuffix(Field(path, key), " kB"), 10, 64)
	return kib << 10, err
}

func kernels(name string) uint64 {
	if bytes, err := bytesOf("/proc/self/status", name); err == nil {
		return bytes
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.Sys - stats.HeapReleased
}
