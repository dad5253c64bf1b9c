//go:build unix

package main

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"

	"github.com/64ed045f/weir/lab/internal/child"
)

// unprivileged is like [child.Apart]. If this process is root, it also runs the other one as a user without rights,
// as PostgreSQL requires. The folder is then given to that user.
func unprivileged(cmd *exec.Cmd, folder string) error {
	child.Apart(cmd)
	if os.Geteuid() != 0 {
		return nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return err
	}
	uid, err := strconv.ParseUint(nobody.Uid, 10, 32)
	if err != nil {
		return err
	}
	gid, err := strconv.ParseUint(nobody.Gid, 10, 32)
	if err != nil {
		return err
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	cmd.Dir = folder
	return os.Chown(folder, int(uid), int(gid))
}
