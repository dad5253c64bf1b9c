package main_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	durable "github.com/64ed045f/weir/lab/durable"
	"github.com/64ed045f/weir/lab/internal/record"
)

// A measuring process is this program with the arguments of the command.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "child" {
		if err := durable.Durable(context.Background(), os.Args[1:], os.Stdout, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestEachContenderHasAFigureInEachExperimentAndLeavesNothing(t *testing.T) {
	temporary, err := os.MkdirTemp("", "d") // with a short name, as that of a socket has an end
	check.Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(temporary) }) // it is empty
	check.Must(t, os.Chmod(temporary, 0o711))         // a server of another user is below it
	t.Setenv("TMPDIR", temporary)
	results, names, err := durable.Small(t.Context(), t.Logf)
	check.Must(t, err)
	if len(names) < 2 {
		t.Fatalf("contenders %q, want at least those without a server in a process of its own", names)
	}
	for _, table := range record.Tables(results) {
		figures := map[string]bool{}
		for _, row := range table.Rows {
			for unit, cell := range row.Cells {
				figures[row.Peer] = true
				if cell.Center <= 0 {
					t.Errorf("%s %v: %s is %v %s", table.Experiment, table.Params, row.Peer, cell.Center, unit)
				}
			}
		}
		for _, name := range names {
			found := table.Experiment == "batch" && name == "asynq" // which has no such call
			for peer := range figures {
				found = found || strings.HasPrefix(peer, name)
			}
			if !found {
				t.Errorf("%s %v: no figure of %s", table.Experiment, table.Params, name)
			}
		}
	}
	if left, _ := filepath.Glob(filepath.Join(temporary, "durable-*")); len(left) > 0 {
		t.Errorf("left in the folder for temporary files: %q", left)
	}
}

func TestWrongArgumentsAreRefused(t *testing.T) {
	for _, args := range [][]string{{"-contender", "River"}, {"-rounds", "0"}, {"more"}} {
		if err := durable.Durable(t.Context(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("no error of %q", args)
		}
	}
}
