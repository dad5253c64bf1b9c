// Package embed runs NATS servers inside the process: one for each folder, shared by all queues that the
// process has there. A server that cannot write any more ends, and starts again when it can: see revive.go.
package embed

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/64ed045f/weir/weirnats/internal/check"
	"github.com/64ed045f/weir/weirnats/internal/folder"
	"github.com/64ed045f/weir/weirnats/internal/journal"
)

// MaxPayload is the largest message of an embedded server, with its headers.
const MaxPayload = 8 << 20

// maxPending is how many bytes may be on their way to one connection of this process. Beyond that the server
// cuts the connection.
const maxPending = 1 << 30

// Store is the name of the folder, in the folder of the queues, in which the server has its files.
const Store = "store"

// startTime is how long a server may take to start before that is an error. Most of the time goes into
// reading the index of its files.
const startTime = 2 * time.Minute

// Settings are the settings of a server. All uses of a server must have the same.
type Settings struct {
	// Sync makes the server sync each message to the disk before it accepts it.
	Sync bool
	// Listen says where the server listens; nil for nowhere.
	Listen *Listen
}

// Server is a server in this process.
type Server struct {
	path     string
	store    string
	settings Settings
	folder   *folder.Folder
	options  *server.Options
	own      []nats.Option // the options with which this process logs in
	setting  *setting      // what setBack has begun; nil if it has ended
	to       *slog.Logger

	mu       sync.Mutex // not held during calls of the server
	nats     *server.Server
	log      *logger // of nats
	broken   error
	started  time.Time
	pause    time.Duration // before the next start
	back     time.Duration // by how much the clock was set back since the last start
	over     chan struct{} // closed when Release ends the server
	reviving sync.WaitGroup
	ids      map[string]*journal.IDs // changes hold servers.Mutex as well

	// Guarded by servers.Mutex.
	uses     int
	journals map[string]*journal.Journal
}

// servers are the servers of this process, by path. The mutex is held while a server starts or ends, so that
// no second one starts on the same folder meanwhile.
var servers struct {
	sync.Mutex
	at map[string]*Server
}

// Acquire returns the server of the folder, and starts it if this is the first use. The error is a
// [*folder.InUseError] if another process has a server there, and a [*check.DamagedError] if a file is
// damaged.
func Acquire(dir string, settings Settings, log *slog.Logger) (*Server, error) {
	path, err := folder.Resolve(dir)
	if err != nil {
		return nil, fmt.Errorf("weirnats: folder of the embedded server: %w", err)
	}
	servers.Lock()
	defer servers.Unlock()
	if s := servers.at[path]; s != nil {
		if s.settings.Sync != settings.Sync {
			return nil, fmt.Errorf("weirnats: folder %s is open in this process with another Durability", path)
		}
		if !s.settings.Listen.equal(settings.Listen) {
			return nil, fmt.Errorf("weirnats: folder %s is open in this process with another Listen", path)
		}
		s.uses++
		return s, nil
	}
	f, err := folder.Lock(path)
	if err != nil {
		return nil, err
	}
	s := &Server{path: path, settings: settings, folder: f, to: log, over: make(chan struct{}), uses: 1}
	if err := s.start(); err != nil {
		_ = f.Unlock() // the error that matters is the other one
		return nil, err
	}
	if servers.at == nil {
		servers.at = make(map[string]*Server)
	}
	servers.at[path] = s
	return s, nil
}

// noBound leaves the disk as the only bound. By default the server takes three quarters of what is free when it
// starts for its bound, and refuses messages beyond that however much room there is later.
const noBound = 1 << 60

// start is the first start.
func (s *Server) start() (err error) {
	if s.store, err = s.folder.Sub(Store); err != nil {
		return fmt.Errorf("weirnats: folder of the embedded server: %w", err)
	}
	s.options = &server.Options{
		ServerName:             "weir",
		DontListen:             true,
		NoSigs:                 true,
		JetStream:              true,
		DisableJetStreamBanner: true,
		StoreDir:               s.store,
		JetStreamMaxStore:      noBound,
		SyncAlways:             s.settings.Sync,
		MaxPayload:             MaxPayload,
		MaxPending:             maxPending,
	}
	if l := s.settings.Listen; l != nil {
		if s.own, err = l.apply(s.options); err != nil {
			return fmt.Errorf("weirnats: embedded server on %s: %w", s.path, err)
		}
	}
	if err := s.launch(); err != nil {
		return err
	}
	s.reviving.Go(s.watch)
	if s.settings.Listen != nil {
		s.options.Port = s.nats.Addr().(*net.TCPAddr).Port // later starts must listen there too
	}
	return nil
}

// launch starts the server on its files.
func (s *Server) launch() error {
	if err := s.probe(); err != nil {
		return err
	}
	if err := mend(s.store, s.to); err != nil {
		return err
	}
	if err := s.setBack(); err != nil {
		return fmt.Errorf("weirnats: embedded server: %w", err)
	}
	n, err := server.NewServer(s.options.Clone())
	if err != nil {
		return fmt.Errorf("weirnats: embedded server on %s: %w", s.path, err)
	}
	log := &logger{to: s.to}
	log.broke = func(err error) { s.breaks(log, err) }
	n.SetLoggerV2(log, false, false, false)
	n.Start()
	if log.ended() || !n.ReadyForConnections(startTime) || !n.JetStreamEnabled() || !s.runs(n, log) {
		end(n)
		return fmt.Errorf("weirnats: embedded server on %s did not start: %s", s.path, log.lastError())
	}
	return nil
}

// mend checks the files that the server is about to read, and mends those that were incomplete when a server
// was killed. The error is a [*check.DamagedError] if a file is damaged.
func mend(store string, log *slog.Logger) error {
	mends, err := check.Store(store)
	if err != nil {
		return fmt.Errorf("weirnats: embedded server: %w", err)
	}
	for _, m := range mends {
		log.Warn("weirnats: embedded server: file " + m.File + ": " + m.What)
		if err := m.Do(); err != nil {
			return fmt.Errorf("weirnats: embedded server: %w", err)
		}
	}
	if err := check.DropTimes(store); err != nil {
		return fmt.Errorf("weirnats: embedded server: %w", err)
	}
	return nil
}

func end(n *server.Server) {
	n.Shutdown()
	n.WaitForShutdown()
}

// reconnectTime is how long a connection waits before it tries again to reach the server.
const reconnectTime = 20 * time.Millisecond

// Connect returns a connection to the server. The connection outlives the server: when another server has
// started, the connection goes there.
func (s *Server) Connect(opts ...nats.Option) (*nats.Conn, error) {
	opts = append(opts, nats.ReconnectWait(reconnectTime), nats.ReconnectJitter(reconnectTime, reconnectTime), nats.InProcessServer(s))
	return nats.Connect("", append(opts, s.own...)...)
}

// InProcessConn implements [nats.InProcessConnProvider].
func (s *Server) InProcessConn() (net.Conn, error) {
	s.mu.Lock()
	n, err := s.nats, s.broken
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return n.InProcessConn()
}

// Addr returns the address at which the server listens; nil if it does not listen.
func (s *Server) Addr() net.Addr {
	if s.settings.Listen == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nats.Addr()
}

// Journal returns the journal of a queue. Release closes it with the server.
func (s *Server) Journal(queue string) (*journal.Journal, error) {
	servers.Lock()
	defer servers.Unlock()
	if j := s.journals[queue]; j != nil {
		return j, nil
	}
	j, err := opened(s, "running", queue, journal.Open)
	if err != nil {
		return nil, err
	}
	if s.journals == nil {
		s.journals = make(map[string]*journal.Journal)
	}
	s.journals[queue] = j
	return j, nil
}

// IDs returns the IDs of a queue. Release closes them with the server.
func (s *Server) IDs(queue string, window time.Duration) (*journal.IDs, error) {
	servers.Lock()
	defer servers.Unlock()
	if i := s.ids[queue]; i != nil {
		return i, nil
	}
	i, err := opened(s, "ids", queue, func(name string) (*journal.IDs, error) { return journal.OpenIDs(name, window) })
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids == nil {
		s.ids = make(map[string]*journal.IDs)
	}
	s.ids[queue] = i
	return i, nil
}

// reload makes the IDs of done messages known that the last server knew, and the next one does not.
func (s *Server) reload() (err error) {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.ids))
	s.mu.Unlock()
	for _, i := range all {
		err = errors.Join(err, i.Reload())
	}
	return err
}

// opened opens a file of a queue, in the folder with that name.
func opened[F any](s *Server, folder, queue string, open func(name string) (F, error)) (f F, err error) {
	dir, err := s.folder.Sub(folder)
	if err != nil {
		return f, fmt.Errorf("weirnats: folder of the embedded server: %w", err)
	}
	if f, err = open(filepath.Join(dir, queue)); err != nil {
		return f, fmt.Errorf("weirnats: queue %s: %w", queue, err)
	}
	return f, nil
}

// Release ends one use of the server, which Acquire has begun. With the last use the server ends, and the
// folder is free for the next process.
func (s *Server) Release() error {
	servers.Lock()
	defer servers.Unlock()
	if s.uses--; s.uses > 0 {
		return nil
	}
	s.finish()
	delete(servers.at, s.path)
	var err error
	for _, j := range s.journals {
		err = errors.Join(err, j.Close())
	}
	for _, i := range s.ids {
		err = errors.Join(err, i.Close())
	}
	return errors.Join(err, s.folder.Unlock())
}
