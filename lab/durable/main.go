// Command durable measures four kinds of queues in one run: package weirnats, River on PostgreSQL, asynq on
// Redis, and nats.go without a library on top of it:
//
//	go run -C lab/durable . >queues.txt
//	go run ./lab -from queues.txt    shows the results as tables
//
// Each measurement runs in a process of its own, on an empty folder or database. In each round all contenders
// take a turn in each experiment, in random order. PostgreSQL and Redis are started for each turn in a
// temporary folder, and listen only on sockets there. TMPDIR must be on a disk, because a sync costs nothing
// elsewhere. A contender without its server is left out. A message has 128 bytes. A figure counts only if
// each message was put, and run, exactly once.
//
// The module is a workspace of its own, so that its dependencies concern no other module.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/64ed045f/weir/lab/internal/machine"
	"github.com/64ed045f/weir/lab/internal/record"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := durable(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "durable:", err)
		os.Exit(1)
	}
}

// childWord is the first argument of a measuring process.
const childWord = "child"

// durable is the whole command.
func durable(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 2 && args[0] == childWord {
		var w work
		if err := json.Unmarshal([]byte(args[1]), &w); err != nil {
			return err
		}
		return w.do(ctx, stdout)
	}
	flags := flag.NewFlagSet("durable", flag.ContinueOnError)
	flags.SetOutput(stderr)
	say := log.New(stderr, "", 0).Printf
	r := runner{say: say, time: 500 * time.Millisecond, samples: 300}
	flags.IntVar(&r.rounds, "rounds", 4, "how often each contender has its turn in each experiment")
	flags.IntVar(&r.tasks, "tasks", 10_000, "how many messages wait when serving begins; ten times as many where memory is measured")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || r.rounds < 1 || r.tasks < 1 {
		return fmt.Errorf("rounds and tasks must be at least 1, and all arguments flags; got %q", args)
	}
	libraries := []machine.Module{{Library: "nats-server", Path: "github.com/nats-io/nats-server/v2"}}
	contenders, servers := available(say)
	for _, c := range contenders {
		if c.module != "" {
			libraries = append(libraries, machine.Module{Library: strings.ToLower(c.name), Path: c.module})
		}
	}
	r.contenders = contenders
	command := fmt.Sprintf("go run -C lab/durable . -rounds %d -tasks %d", r.rounds, r.tasks)
	r.keep = record.NewWriter(stdout, append(machine.Settings(command, libraries), servers...)).Write
	begin := time.Now()
	if err := r.run(ctx); err != nil {
		return err
	}
	say("all measured in %v", time.Since(begin).Round(time.Second))
	return nil
}
