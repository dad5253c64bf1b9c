//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// checkOwner refuses a folder of another user. The server writes its files again, and the programs of that
// user could not read files of root.
func checkOwner(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return nil //nolint:nilerr // the library says it better
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if ok && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("folder %s belongs to user %d, whose programs could not read what weirq writes there: run it as that user", dir, stat.Uid)
	}
	return nil
}
