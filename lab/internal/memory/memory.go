// Package memory says how much of it this process holds.
package memory

import (
	"os"
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

func kernels(name string) uint64 {
	if text, err := os.ReadFile("/proc/self/status"); err == nil {
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, name); ok {
				kib, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
				if err == nil {
					return kib << 10
				}
			}
		}
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.Sys - stats.HeapReleased
}
