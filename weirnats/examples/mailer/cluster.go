package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
)

// nodes is how many servers a cluster has. Each of them keeps each mail, and one may be missing.
const nodes = 3

// cluster is a set of servers that keep each message together, each in a process of its own. Only clients on
// this machine that have the token reach them.
type cluster struct {
	m       *mailer
	ports   []int // for clients, then for the other servers
	servers [nodes]*exec.Cmd
}

// newCluster starts all servers.
func newCluster(ctx context.Context, m *mailer) (*cluster, error) {
	ports, err := freePorts(2 * nodes)
	if err != nil {
		return nil, err
	}
	c := &cluster{m: m, ports: ports}
	for i := range nodes {
		if err := c.start(ctx, i); err != nil {
			c.kill()
			return nil, err
		}
	}
	return c, nil
}

// freePorts returns ports that no program of this machine listens on at present.
func freePorts(n int) (ports []int, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }() // when all ports are found, so that no two are the same
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// url returns the URLs of all servers, for clients.
func (c *cluster) url() string {
	var all []string
	for _, port := range c.ports[:nodes] {
		all = append(all, fmt.Sprintf("nats://127.0.0.1:%d", port))
	}
	return strings.Join(all, ",")
}

// start starts one of the servers, with the files that it has kept.
func (c *cluster) start(ctx context.Context, i int) error {
	var ports []string
	for _, port := range c.ports {
		ports = append(ports, strconv.Itoa(port))
	}
	cmd, err := c.m.process(ctx, "-node", strconv.Itoa(i), "-ports", strings.Join(ports, ","))
	if err != nil {
		return err
	}
	if _, err := cmd.StdinPipe(); err != nil { // when this process ends, so does this pipe, and with it the server
		return err
	}
	c.servers[i] = cmd
	return cmd.Start()
}

// crash kills one of the servers, and returns its exit state.
func (c *cluster) crash(i int) *os.ProcessState {
	_ = c.servers[i].Process.Kill() // an error means that the process has ended already;
	_ = c.servers[i].Wait()         // the exit state then says how
	return c.servers[i].ProcessState
}

func (c *cluster) kill() {
	for i, s := range c.servers {
		if s != nil && s.Process != nil {
			c.crash(i)
		}
	}
}

// node runs one of the servers, in this process, until the input ends.
func (m *mailer) node(i int, ports string, input io.Reader) error {
	var all []int
	for text := range strings.SplitSeq(ports, ",") {
		port, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("ports: %w", err)
		}
		all = append(all, port)
	}
	if len(all) != 2*nodes || i < 0 || i >= nodes {
		return fmt.Errorf("node %d needs %d ports, got %d", i, 2*nodes, len(all))
	}
	o := &server.Options{
		ServerName: fmt.Sprint("node-", i), Host: "127.0.0.1", Port: all[i], Authorization: m.token, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: filepath.Join(m.dir, fmt.Sprint("node-", i)),
		Cluster: server.ClusterOpts{Name: "mailer", Host: "127.0.0.1", Port: all[nodes+i], Username: "node", Password: m.token},
	}
	for _, port := range all[nodes:] {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats", User: url.UserPassword("node", m.token), Host: fmt.Sprint("127.0.0.1:", port)})
	}
	s, err := server.NewServer(o)
	if err != nil {
		return err
	}
	s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	if !s.ReadyForConnections(limit) {
		return errors.New("the server does not start")
	}
	_, err = io.Copy(io.Discard, input)
	return err
}

// clustered runs several processes on a cluster. One server after the other is missing for a while.
func (d demo) clustered(ctx context.Context, m *mailer) error {
	c, err := newCluster(ctx, m)
	if err != nil {
		return err
	}
	defer c.kill()
	m.server, m.replicas = c.url(), nodes
	d.say("%d processes on a cluster of %d servers, %d mails, each on %d disks", workers, nodes, m.mails, nodes)
	faults := 0
	return d.runAndKill(ctx, m, func(ctx context.Context) error {
		i, again := faults/2%nodes, faults%2 == 1
		faults++
		if again { // the server catches up before the next one is killed: two of three must be there
			d.say("  server %d: started again", i)
			return c.start(ctx, i)
		}
		d.say("  server %d: %v", i, c.crash(i))
		return nil
	})
}
