package weirnats_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/64ed045f/weir/weirnats"
)

// leaderTime is how often the server that leads the stream is killed.
const leaderTime = 10 * time.Second

// childNode is a server of a cluster: that of the folder in childDir, whose name is among those of childURL, next to its ports.
func childNode() error {
	dir := os.Getenv(childDir)
	o := &server.Options{
		ServerName: filepath.Base(dir), Host: "127.0.0.1", JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true,
		Cluster: server.ClusterOpts{Name: "test", Host: "127.0.0.1"},
	}
	for node := range strings.FieldsSeq(os.Getenv(childURL)) {
		var name string
		var clients, peers int
		if _, err := fmt.Sscanf(strings.ReplaceAll(node, ",", " "), "%s %d %d", &name, &clients, &peers); err != nil {
			return err
		}
		if name == o.ServerName {
			o.Port, o.Cluster.Port = clients, peers
		}
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: fmt.Sprint("127.0.0.1:", peers)})
	}
	s, err := server.NewServer(o)
	if err != nil {
		return err
	}
	s.Start()
	if !s.ReadyForConnections(limit) {
		return errors.New("the server does not start")
	}
	fmt.Println("ready")
	s.WaitForShutdown()
	return nil
}

// cluster are three servers in processes of their own.
type cluster struct {
	dir     string
	about   string // of all, for childNode
	url     string // of all, for clients
	servers map[string]*child
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{dir: t.TempDir(), servers: make(map[string]*child)}
	t.Cleanup(func() {
		for _, s := range c.servers {
			s.kill()
		}
	})
	var taken []net.Listener
	port := func() int { // that no program listens on at the moment
		l, err := net.Listen("tcp", "127.0.0.1:0")
		noError(t, err)
		taken = append(taken, l)
		return l.Addr().(*net.TCPAddr).Port
	}
	var urls []string
	for i := range 3 {
		clients := port()
		c.about += fmt.Sprintf("node%d,%d,%d ", i, clients, port())
		urls = append(urls, fmt.Sprint("nats://127.0.0.1:", clients))
	}
	c.url = strings.Join(urls, ",")
	for _, l := range taken {
		noError(t, l.Close())
	}
	for i := range 3 {
		c.start(t, fmt.Sprint("node", i))
	}
	return c
}

func (c *cluster) start(t *testing.T, name string) {
	t.Helper()
	c.servers[name] = start(t, "node", filepath.Join(c.dir, name), c.about)
}

// leader is the server that leads a stream.
func leader(t *testing.T, js jetstream.JetStream, stream string) (name string) {
	t.Helper()
	within(t, "a server leads the stream", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s, err := js.Stream(ctx, stream)
		if err == nil && s.CachedInfo().Cluster != nil {
			name = s.CachedInfo().Cluster.Leader
		}
		return name != ""
	})
	return name
}

// Of three servers the one that leads is killed, and starts again at once, while messages are put and served. The order of each key holds.
func TestAClusterThatLosesItsLeaderLosesNothing(t *testing.T) {
	needsTime(t)
	c, dir := startCluster(t), t.TempDir()
	t.Parallel() // the servers find each other meanwhile, which takes them two seconds
	opts := append(slices.Clip(childOptions), weirnats.Partitions(2), weirnats.Replicas(3), weirnats.Server(c.url, nats.ReconnectWait(50*time.Millisecond)))
	var q *weirnats.Queue[string]
	within(t, "the servers have found each other", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		var err error
		q, err = weirnats.Open[string](ctx, "work", opts...)
		return err == nil
	})
	defer q.Close()
	conn, err := nats.Connect(c.url, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	noError(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	noError(t, err)
	p := newPool(t, childPlaces)
	keys := 0
	if *faultTime > leaderTime { // with keys it takes much longer: each partition has a leader too
		keys = 10
	}
	stop := serve(t, q, p, noting(t, dir))
	stopPutting := putting(t, dir, insisting(q, keys))
	within(t, "messages are put", func() bool {
		return len(lines(t, dir, "put")) >= 100 && (keys == 0 || eachKey(t, dir))
	})
	kills, next := 0, time.NewTicker(leaderTime)
	defer next.Stop()
	for begin := time.Now(); kills == 0 || time.Since(begin) < *faultTime-leaderTime; kills++ {
		if kills > 0 {
			<-next.C
		}
		name := leader(t, js, "weir_q_work")
		c.servers[name].kill()
		c.start(t, name)
	}
	leader(t, js, "weir_q_work")
	stopPutting()
	drained(t, q)
	stop()
	accountFor(t, dir, kills)
	inOrder(t, dir, keys)
}
