//go:build unix

package main

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// apart gives the process a group of its own, so that a Ctrl-C at the terminal ends the run alone, which then ends the process.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// unprivileged is apart, and has the process run by a user without rights if this one is root, as PostgreSQL wants it. The folder becomes that user's.
func unprivileged(cmd *exec.Cmd, folder string) error {
	apart(cmd)
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
