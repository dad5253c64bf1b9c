//go:build unix

package main

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// apart puts the process into a group of its own. A Ctrl-C at the terminal then ends only the run, and the
// run ends the process.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// unprivileged is like apart. If this process is root, it also runs the other one as a user without rights,
// as PostgreSQL requires. The folder is then given to that user.
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
