// Command mailer sends mails from a queue that outlives the program. To show that, it kills its own
// processes: README.md says what to run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	m := mailer{token: os.Getenv(tokenName)}
	flag.StringVar(&m.dir, "dir", "", "keep the queue, and the files outbox and sent, in this `folder`")
	flag.IntVar(&m.mails, "mails", 1000, "how many mails there are to send")
	flag.IntVar(&m.killAfter, "kill-after", 0, "the program kills itself when it has sent so many `mails`; 0 for never")
	flag.StringVar(&m.server, "server", "", "use the NATS server or cluster at this `URL`, with the token in "+tokenName+", in place of an embedded server")
	flag.IntVar(&m.replicas, "replicas", 1, "how many servers of the cluster keep each mail: 1, 3 or 5")
	worker := flag.Bool("worker", false, "only send, until the standard input ends")
	node := flag.Int("node", -1, "be the server with this `number` of a cluster, from 0, until the standard input ends")
	ports := flag.String("ports", "", "of all servers of the cluster, with commas in between: first those for clients, then those for each other")
	show := flag.Bool("demo", false, "the show, in a folder that is removed: see README.md")
	cluster := flag.Bool("cluster", false, "the show on a cluster of three servers, in the same way")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	var err error
	switch {
	case flag.NArg() > 0:
		err = fmt.Errorf("mailer takes no arguments, got %q", flag.Args())
	case *show || *cluster:
		err = demo{out: os.Stdout, mails: m.mails, kills: 3, cluster: *cluster}.run(ctx)
	case m.dir == "":
		err = errors.New("it must be -demo, -cluster, or -dir with a folder")
	case *node >= 0:
		err = m.node(*node, *ports, os.Stdin)
	case *worker:
		err = m.work(ctx, os.Stdin)
	default:
		err = m.run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mailer:", err)
		os.Exit(1)
	}
}
