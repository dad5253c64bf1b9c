package main

import (
	"context"
	"os"
	"os/exec"
)

// itself starts this very program anew. When ctx is done it is killed. No other signal that is
// meant for this process ends it: see apart.
func itself(ctx context.Context, args ...string) *exec.Cmd {
	path, err := os.Executable()
	if err != nil {
		path = os.Args[0]
	}
	command := exec.CommandContext(ctx, path, args...)
	apart(command)
	return command
}
